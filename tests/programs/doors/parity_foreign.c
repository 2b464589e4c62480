/* tests/programs/doors/parity_foreign.c — a library with names that look like CUDA's. */
int cuForeign(void)
{
    return 1;
}
int cuMemHostAlloc(void)
{
    return 2;
}
int cuArrayDestroy(void)
{
    return 3;
}
int plain_foreign(void)
{
    return 4;
}
