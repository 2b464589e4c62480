// tests/report/symbols/symbolizer_oracle_test.cpp — agreement with llvm-symbolizer.
//
// An address agrees if both give as many frames and each frame has the same function, file and
// line. Functions are compared as linker names, demangled here on both sides: llvm 14 spells
// lambdas in its own way and fails on some names. Clone suffixes (.isra.0, .cold) are cut: llvm
// keeps them, we do not show them. Files are compared with "." and ".." resolved, which we do and
// llvm does not. Columns are not compared.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "report/symbols/symbolizer.hpp"
#include "tests/report/symbols/fixture_file.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kOracleAddresses = 4000;
using FramesByAddress = std::map<std::uint64_t, std::vector<Frame>>;

std::vector<std::uint64_t> random_code_addresses(const std::filesystem::path& program)
{
    const auto [low, bytes] = section_of(program, ".text");
    std::mt19937_64 random(20240607);
    std::vector<std::uint64_t> addresses(kOracleAddresses);
    for (auto& address : addresses)
        address = low + random() % bytes;
    return addresses;
}

std::string demangled(std::string name)
{
    if (name == "??")
        return "";
    if (const auto suffix = name.find('.', 1); suffix != name.npos)
        name.resize(suffix);
    int status = 0;
    char* const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
    if (text != nullptr)
        name = text;
    std::free(text);
    return name;
}

// The output is a block per address: "0xaddress", then "function" and "file:line:column" for each
// frame, then a blank line.
FramesByAddress parse(std::istream& in)
{
    FramesByAddress result;
    std::string text;
    while (std::getline(in, text)) {
        auto& frames = result[std::stoull(text, nullptr, 16)];
        frames.clear();
        while (std::getline(in, text) && !text.empty()) {
            Frame frame;
            frame.function = demangled(text);
            std::getline(in, text);
            const auto column = text.rfind(':');
            const auto line = text.rfind(':', column - 1);
            frame.file = std::filesystem::path(text.substr(0, line)).lexically_normal();
            if (frame.file == "??")
                frame.file.clear();
            frame.line = std::stoi(text.substr(line + 1));
            frames.push_back(frame);
        }
    }
    return result;
}

FramesByAddress ask_llvm(const std::filesystem::path& program,
                         const std::vector<std::uint64_t>& addresses)
{
    const TempDir dir;
    std::ostringstream questions;
    for (const auto address : addresses)
        questions << std::hex << "0x" << address << '\n';
    write_bytes(dir / "addresses", questions.str());
    const auto command = "llvm-symbolizer --no-demangle --inlining --addresses --obj='" +
                         program.string() + "' < " + (dir / "addresses").string() + " > " +
                         (dir / "answers").string();
    if (std::system(command.c_str()) != 0)
        throw std::runtime_error("llvm-symbolizer did not run: apt-get install llvm");
    std::ifstream answers(dir / "answers");
    return parse(answers);
}

// LLVM puts no name together from scopes: without a linkage name it gives the short name.
const std::string& linkage_or_short_name(const Frame& frame)
{
    return frame.short_name.empty() ? frame.function : frame.short_name;
}

bool agree(const std::vector<Frame>& ours, const std::vector<Frame>& theirs)
{
    return std::equal(
        ours.begin(), ours.end(), theirs.begin(), theirs.end(), [](const Frame& a, const Frame& b) {
            return linkage_or_short_name(a) == b.function && a.file == b.file && a.line == b.line;
        });
}

std::string oracle_text_of(const std::vector<Frame>& frames)
{
    std::string text;
    for (const auto& frame : frames)
        text +=
            "  " + frame.function + " at " + frame.file + ":" + std::to_string(frame.line) + "\n";
    return text;
}

// The share of the addresses for which our answer for `address + shift` agrees with the answer
// that llvm gives for `address`.
double agreement(std::uint64_t shift, std::size_t* deepest = nullptr)
{
    const auto program = fixture("large");
    const auto module = module_of(program);
    const auto theirs = ask_llvm(program, random_code_addresses(program));
    Symbolizer symbolizer;
    std::size_t agreed = 0;
    for (const auto& [address, expected] : theirs) {
        const auto frames = symbolizer.frames(module, address + shift);
        if (deepest != nullptr)
            *deepest = std::max(*deepest, frames.size());
        if (agree(frames, expected))
            ++agreed;
        else if (shift == 0)
            std::printf("0x%llx\n ours:\n%s llvm:\n%s", static_cast<unsigned long long>(address),
                        oracle_text_of(frames).c_str(), oracle_text_of(expected).c_str());
    }
    std::printf("%zu of %zu addresses agree\n", agreed, theirs.size());
    EXPECT_GE(theirs.size(), 3000u);
    return static_cast<double>(agreed) / static_cast<double>(theirs.size());
}

TEST(SymbolizerOracle, AgreesWithLlvmOnFunctionFileLineAndInlineDepth)
{
    std::size_t deepest = 0;
    EXPECT_GE(agreement(0, &deepest), 0.99);
    EXPECT_GE(deepest, 8u) << "the program is not inlined enough to show anything";
}

TEST(SymbolizerOracle, WouldNoticeAnswersForTheWrongAddresses)
{
    EXPECT_LT(agreement(16), 0.5);
}

} // namespace
} // namespace vramscope::report
