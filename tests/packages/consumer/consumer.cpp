// tests/packages/consumer/consumer.cpp — includes the installed header; it allocates nothing.
#include <vramscope.h>

int main()
{
    return 0;
}
