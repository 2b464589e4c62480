// tests/bench/recorder/throw_plugin.cpp — throws through a number of frames and catches.
namespace {

[[gnu::noinline]] int throw_below(int depth)
{
    volatile int local = depth;
    if (depth == 0)
        throw 1;
    return throw_below(depth - 1) + local;
}

} // namespace

extern "C" int catch_one(int depth)
{
    try {
        return throw_below(depth);
    } catch (int) {
        return 0;
    }
}
