// tests/programs/memory/reach_library.cpp — a variable and a thread-local of a library; reach_cases
// opens two of it, and closes one.
extern "C" {
char* of_a_library;
thread_local char* local_of_a_library;
}
