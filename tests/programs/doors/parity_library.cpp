// tests/programs/doors/parity_library.cpp — looks symbols up from within a library.
#include "tests/programs/doors/parity.hpp"

extern "C" void look_up_from_library(const char* name, void* driver, void* foreign)
{
    look_up_all(name, driver, foreign);
}
