// tests/oracle/twin/twin_other.cpp — leaks of another file of the program.
#include "tests/oracle/twin/memory.hpp"

TWIN_FRAME void leaks_of_another_file()
{
    lose(1020);
    TWIN_END;
}
