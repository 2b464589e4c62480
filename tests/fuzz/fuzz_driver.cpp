// tests/fuzz/fuzz_driver.cpp — runs a fuzz target on mutations of its corpus.
//
// It needs no libFuzzer, and reads VRAMSCOPE_FUZZ_SECONDS (5, and 10 in scripts/test --all) and
// VRAMSCOPE_FUZZ_SEED. With a file as
// argument it runs that input once. A crash leaves the input that caused it in the file whose name
// is printed at the start.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <unistd.h>

#include "tests/fuzz/fuzz_target.hpp"

namespace {

using Bytes = std::vector<std::uint8_t>;
using Random = std::mt19937_64;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise)
{
    const char* const text = std::getenv(name);
    return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// The current input as a file: it is there whatever the target does.
class LastInput {
public:
    explicit LastInput(std::string path)
        : path_(std::move(path)), fd_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600))
    {
    }

    void keep(const Bytes& input) const
    {
        const auto size = static_cast<ssize_t>(input.size());
        if (::pwrite(fd_, input.data(), input.size(), 0) != size || ::ftruncate(fd_, size) != 0) {
            std::perror(path_.c_str());
            std::exit(2);
        }
    }

    void discard() const { ::unlink(path_.c_str()); }

private:
    std::string path_;
    int fd_;
};

void overwrite_some(Bytes& input, Random& random)
{
    constexpr std::uint8_t kTelling[] = {0,    1,    2,    0x1f, 0x20, 0x2f,
                                         0x3f, 0x40, 0x7f, 0x80, 0xfe, 0xff};
    for (std::uint64_t count = 1 + random() % 8; count > 0 && !input.empty(); --count) {
        std::uint8_t& byte = input[random() % input.size()];
        byte = random() % 2 ? kTelling[random() % std::size(kTelling)]
                            : static_cast<std::uint8_t>(random());
    }
}

void move_a_piece(Bytes& input, Random& random)
{
    if (input.size() < 2)
        return;
    const std::size_t length = 1 + random() % std::min<std::size_t>(input.size() / 2, 600);
    const std::size_t from = random() % (input.size() - length);
    const std::size_t to = random() % (input.size() - length);
    const Bytes piece(input.begin() + static_cast<std::ptrdiff_t>(from),
                      input.begin() + static_cast<std::ptrdiff_t>(from + length));
    std::copy(piece.begin(), piece.end(), input.begin() + static_cast<std::ptrdiff_t>(to));
}

void change_the_length(Bytes& input, Random& random)
{
    if (random() % 4 == 0)
        input.resize(input.size() + random() % 1000, static_cast<std::uint8_t>(random()));
    else
        input.resize(input.empty() ? 0 : random() % input.size());
}

// Most mutations leave the first bytes alone: behind a refused header there is nothing to find.
void mutate(Bytes& input, Random& random)
{
    const std::size_t guarded = std::min(fuzz_target.guarded_bytes, input.size());
    const Bytes start(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(guarded));
    for (std::uint64_t count = 1 + random() % 4; count > 0; --count) {
        switch (random() % 5) {
        case 0:
            move_a_piece(input, random);
            break;
        case 1:
            change_the_length(input, random);
            break;
        default:
            overwrite_some(input, random);
            break;
        }
    }
    if (random() % 8 != 0)
        std::copy_n(start.begin(), std::min(start.size(), input.size()), input.begin());
}

int run_one(const char* path)
{
    std::ifstream in(path, std::ios::binary);
    const Bytes input{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    return LLVMFuzzerTestOneInput(input.data(), input.size());
}

} // namespace

int main(int argc, char** argv)
{
    if (argc > 1)
        return run_one(argv[1]);
    const std::uint64_t seconds =
        from_environment("VRAMSCOPE_FUZZ_SECONDS", std::getenv("VRAMSCOPE_TEST_ALL") ? 10 : 5);
    const std::uint64_t seed = from_environment("VRAMSCOPE_FUZZ_SEED", 1);
    const std::string path = fuzz_target.name + ("." + std::to_string(::getpid()) + ".input");
    std::printf("seed %llu, %llu s; the current input is in %s\n",
                static_cast<unsigned long long>(seed), static_cast<unsigned long long>(seconds),
                path.c_str());
    std::fflush(stdout);
    const LastInput last(path);
    Random random(seed);
    const std::vector<Bytes> corpus = fuzz_corpus();
    for (const Bytes& input : corpus) {
        last.keep(input);
        LLVMFuzzerTestOneInput(input.data(), input.size());
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    std::uint64_t inputs = 0;
    for (; std::chrono::steady_clock::now() < end; ++inputs) {
        Bytes input = corpus[random() % corpus.size()];
        (fuzz_target.change ? fuzz_target.change : mutate)(input, random);
        last.keep(input);
        LLVMFuzzerTestOneInput(input.data(), input.size());
    }
    last.discard();
    std::printf("%llu inputs, no crash\n", static_cast<unsigned long long>(inputs));
    return 0;
}
