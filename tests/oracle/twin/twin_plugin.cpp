// tests/oracle/twin/twin_plugin.cpp — a leak in a library.
#include "tests/oracle/twin/memory.hpp"

TWIN_FRAME void plugin_leak()
{
    lose(1030);
    TWIN_END;
}
