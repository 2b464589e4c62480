// tests/programs/memory/reach_library.cpp — a variable of a library; reach_cases opens two of it, and
// closes one.
extern "C" char* of_a_library;
char* of_a_library;
