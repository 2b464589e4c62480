// tests/report/symbols/symbolizer_hostile_test.cpp — bad files cost names, no more.
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <random>
#include <sstream>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "report/model/report.hpp"
#include "report/symbols/symbolizer.hpp"
#include "report/text/views.hpp"
#include "report/words/file_words.hpp"
#include "tests/report/symbols/fixture_file.hpp"

namespace vramscope::report {
namespace {

// The only notice about this path; also checks that there is a frame without names.
std::string notice_about(const std::string& path)
{
    Symbolizer symbolizer;
    const auto frames = symbolizer.frames({path, "1234"}, 0x1000);
    EXPECT_EQ(frames.size(), 1u);
    EXPECT_EQ(frames.at(0).function, "");
    EXPECT_EQ(symbolizer.unread_files().size(), 1u);
    return notice_of(symbolizer.unread_files().at(0));
}

constexpr std::size_t kAddressesTried = 50;

struct Answers {
    std::size_t frames = 0; // at least one for each address, whatever is in the file
    std::size_t lines = 0;  // frames with a line
};

// What is said about addresses spread over all code.
Answers ask(const std::filesystem::path& program, std::pair<std::uint64_t, std::uint64_t> code)
{
    Symbolizer symbolizer;
    Answers answers;
    for (std::size_t i = 0; i < kAddressesTried; ++i) {
        const auto address = code.first + code.second * i / kAddressesTried;
        for (const auto& frame : symbolizer.frames({program.string(), ""}, address)) {
            ++answers.frames;
            answers.lines += frame.line != 0;
        }
    }
    return answers;
}

TEST(HostileFiles, AMissingFileIsNamedInTheNotice)
{
    EXPECT_EQ(notice_about("/no/such/program"),
              "/no/such/program: no such file; its frames are shown as module+offset");
}

TEST(HostileFiles, APipeIsNotOpened)
{
    const TempDir dir;
    ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
    EXPECT_NE(notice_about(dir / "pipe").find("not a regular file"), std::string::npos);
}

TEST(HostileFiles, FoldersAndDevicesAreNotOpened)
{
    EXPECT_NE(notice_about("/").find("not a regular file"), std::string::npos);
    EXPECT_NE(notice_about("/dev/zero").find("not a regular file"), std::string::npos);
}

TEST(HostileFiles, FilesThatAreNotElfAreRefused)
{
    const TempDir dir;
    for (const auto* bytes : {"", "\177ELF", "!<arch>\n", "#!/bin/sh\n"}) {
        write_bytes(dir / "file", bytes);
        EXPECT_NE(notice_about(dir / "file").find("not an ELF program"), std::string::npos)
            << bytes;
    }
}

TEST(HostileFiles, ANoticeIsPrintedOnOneLine)
{
    Report report;
    report.notices = {notice_about("/no\nsuch\033[31mfile")};
    std::ostringstream text;
    write_report(text, report);
    EXPECT_NE(text.str().find("\nNote: /no\\x0asuch\\x1b[31mfile:"), std::string::npos)
        << text.str();
}

TEST(HostileFiles, ATruncatedProgramGivesFramesAtEveryLength)
{
    const TempDir dir;
    const auto whole = read_bytes(fixture("o2_dwarf5"));
    const auto code = section_of(fixture("o2_dwarf5"), ".text");
    for (std::size_t bytes = 0; bytes < whole.size(); bytes += whole.size() / 60 + 1) {
        write_bytes(dir / "cut", whole.substr(0, bytes));
        EXPECT_GE(ask(dir / "cut", code).frames, kAddressesTried) << bytes;
    }
}

// A program that refers to the file "shared" beside it for a part of its debug information, as the
// output of dwz does.
void write_program_with_shared_part(const TempDir& dir)
{
    write_bytes(dir / "link", std::string("shared\0", 7) + "build-id of shared");
    const auto command = "objcopy --add-section .gnu_debugaltlink='" + (dir / "link").string() +
                         "' '" + fixture("o2_dwarf5").string() + "' '" +
                         (dir / "program").string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
}

std::size_t inlined_frames(const TempDir& dir)
{
    Symbolizer symbolizer;
    return symbolizer
        .frames(module_of(dir / "program"), address_of(fixture("o2_dwarf5"), "in_innermost"))
        .size();
}

TEST(HostileFiles, AMissingSharedPartDoesNotSpoilTheRest)
{
    const TempDir dir;
    write_program_with_shared_part(dir);
    EXPECT_EQ(inlined_frames(dir), 3u);
}

TEST(HostileFiles, ASharedPartThatIsAPipeIsNotOpened)
{
    const TempDir dir;
    write_program_with_shared_part(dir);
    ASSERT_EQ(::mkfifo((dir / "shared").c_str(), 0600), 0);
    EXPECT_EQ(inlined_frames(dir), 1u);
}

TEST(HostileFiles, ASharedPartWithTheWrongBuildIdIsNotUsed)
{
    const TempDir dir;
    write_program_with_shared_part(dir);
    std::filesystem::copy_file(fixture("o2_dwarf4"), dir / "shared");
    EXPECT_EQ(inlined_frames(dir), 1u);
}

TEST(HostileFiles, ADebugStringThatDoesNotEndIsNotRead)
{
    const TempDir dir;
    auto bytes = read_bytes(fixture("o2_dwarf5"));
    const auto [offset, size] = section_of(fixture("o2_dwarf5"), ".debug_line_str");
    ASSERT_EQ(bytes.at(offset + size - 1), '\0');
    bytes[offset + size - 1] = 'x';
    write_bytes(dir / "program", bytes);
    EXPECT_EQ(inlined_frames(dir), 1u);
}

TEST(HostileFiles, DebugInformationThatReferencesItselfComesToAnEnd)
{
    const auto program = fixture("hostile_dwarf");
    Symbolizer symbolizer;
    const auto frames = symbolizer.frames(module_of(program), address_of(program, "in_main"));
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(frames[0].function, "main");
}

class Damaged : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Builds, Damaged,
                         testing::Values("o2_dwarf4", "o2_dwarf5", "o2_compressed"),
                         [](const auto& build) { return std::string(build.param); });

TEST_P(Damaged, SectionsOfRandomBytesStillGiveFrames)
{
    const TempDir dir;
    const auto whole = read_bytes(fixture(GetParam()));
    const auto code = section_of(fixture(GetParam()), ".text");
    constexpr unsigned kPrograms = 300;
    std::size_t lines = 0;
    for (unsigned seed = 0; seed < kPrograms; ++seed) {
        std::mt19937 random(seed);
        static constexpr const char* kSections[]{".debug_info", ".debug_abbrev",  ".debug_line",
                                                 ".debug_str",  ".debug_aranges", ".symtab",
                                                 ".strtab",     ".shstrtab"};
        const auto section =
            section_of(fixture(GetParam()), kSections[seed % std::size(kSections)]);
        auto damaged = whole;
        for (unsigned change = 0; change < 1 + random() % 8; ++change)
            damaged[section.first + random() % section.second] = static_cast<char>(random());
        write_bytes(dir / "damaged", damaged);
        const auto answers = ask(dir / "damaged", code);
        EXPECT_GE(answers.frames, kAddressesTried) << "seed " << seed;
        lines += answers.lines;
    }
    // Much could still be read, so the damage was met by the code under test.
    EXPECT_GT(lines, kPrograms * kAddressesTried / 10);
}

TEST_P(Damaged, HeadersOfRandomBytesStillGiveFrames)
{
    const TempDir dir;
    const auto whole = read_bytes(fixture(GetParam()));
    const auto code = section_of(fixture(GetParam()), ".text");
    Elf64_Ehdr header;
    std::memcpy(&header, whole.data(), sizeof header);
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        auto damaged = whole;
        const std::size_t table = seed % 3 == 0 ? 0 : header.e_shoff;
        const std::size_t bytes = table == 0 ? sizeof header : header.e_shnum * sizeof(Elf64_Shdr);
        for (unsigned change = 0; change < 1 + random() % 4; ++change)
            damaged[table + random() % bytes] = static_cast<char>(random());
        write_bytes(dir / "damaged", damaged);
        EXPECT_GE(ask(dir / "damaged", code).frames, kAddressesTried) << "seed " << seed;
    }
}

} // namespace
} // namespace vramscope::report
