// tests/report/symbols/symbolizer_test.cpp — code whose source is known.
#include "report/symbols/symbolizer.hpp"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "tests/report/symbols/fixture_file.hpp"

namespace vramscope::report {
namespace {

Frame frame_at(const std::string& program, const std::string& mark)
{
    Symbolizer symbolizer;
    const auto frames =
        symbolizer.frames(module_of(fixture(program)), address_of(fixture(program), mark));
    EXPECT_EQ(frames.size(), 1u);
    return frames.at(0);
}

// One line of text per frame, so that a failed test shows everything.
std::string text_of(const std::vector<Frame>& frames)
{
    std::string text;
    for (const auto& frame : frames)
        text += frame.function + " at " + frame.file + ":" + std::to_string(frame.line) +
                (frame.inlined ? " inlined\n" : "\n");
    return text;
}

std::string expected_frame(const std::string& function, const std::string& line, bool inlined)
{
    return text_of({Frame{.function = function,
                          .file = source_path("marks.cpp"),
                          .line = line_with("marks.cpp", line),
                          .module = {},
                          .inlined = inlined}});
}

class WithDebugInformation : public testing::TestWithParam<const char*> {
protected:
    std::string at(const std::string& mark)
    {
        const auto program = fixture(GetParam());
        return text_of(symbolizer_.frames(module_of(program), address_of(program, mark)));
    }
    Symbolizer symbolizer_;
};

INSTANTIATE_TEST_SUITE_P(Builds, WithDebugInformation,
                         testing::Values("o0", "o2_dwarf4", "o2_dwarf5", "o2_lto", "o2_compressed",
                                         "o2_sections", "o2_split_dwarf", "o2_split_dwarf4",
                                         "o2_split_compressed"),
                         [](const auto& build) { return std::string(build.param); });

TEST_P(WithDebugInformation, ShowsInlinedCallsInnermostFirst)
{
    EXPECT_EQ(at("in_innermost"),
              expected_frame("shop::innermost(int)", "MARK(in_innermost)", true) +
                  expected_frame("shop::middle(int)", "// calls innermost", true) +
                  expected_frame("shop::outermost(int)", "// calls middle", false));
}

TEST_P(WithDebugInformation, NamesAConstructor)
{
    EXPECT_EQ(at("in_constructor"),
              expected_frame("shop::Buffer::Buffer(int)", "MARK(in_constructor)", false));
}

TEST_P(WithDebugInformation, NamesATemplateMember)
{
    EXPECT_EQ(at("in_template"),
              expected_frame("int shop::Buffer::as<long>(long) const", "MARK(in_template)", false));
}

TEST_P(WithDebugInformation, NamesALambda)
{
    EXPECT_EQ(at("in_lambda"),
              expected_frame("shop::with_lambda(int)::{lambda()#1}::operator()() const",
                             "MARK(in_lambda)", false));
}

TEST_P(WithDebugInformation, ShowsAnInlinedLambdaInItsCaller)
{
    // GCC gives no linkage name to what is local, and an inlined call has no symbol.
    EXPECT_EQ(at("in_inlined_lambda"),
              expected_frame("shop::with_inlined_lambda(int)::{lambda}::operator()() const",
                             "MARK(in_inlined_lambda)", true) +
                  expected_frame("shop::with_inlined_lambda(int)", "// calls the lambda", false));
}

TEST_P(WithDebugInformation, NamesAMemberOfALocalClass)
{
    EXPECT_EQ(at("in_local_class"),
              expected_frame("shop::with_local_class(int)::Local::twice() const",
                             "MARK(in_local_class)", false));
}

TEST_P(WithDebugInformation, QualifiesAFunctionOfAnAnonymousNamespace)
{
    EXPECT_EQ(at("in_anonymous_namespace"),
              expected_frame("shop::(anonymous namespace)::hidden(int)",
                             "MARK(in_anonymous_namespace)", false));
}

TEST_P(WithDebugInformation, NamesInlinedFunctionsThatNoOtherFileCanCallInFull)
{
    const std::string caller =
        expected_frame("shop::calls_unnamed(int)", "// calls the three", false);
    EXPECT_EQ(at("in_inlined_static"),
              expected_frame("shop::inlined_static(unsigned long, shop::Buffer const&)",
                             "MARK(in_inlined_static)", true) +
                  caller);
    EXPECT_EQ(at("in_inlined_unnamed"),
              expected_frame("shop::(anonymous namespace)::inlined_unnamed(char const* const*, "
                             "int (*)(short, ...))",
                             "MARK(in_inlined_unnamed)", true) +
                  caller);
    EXPECT_EQ(at("in_inlined_member"),
              expected_frame("shop::(anonymous namespace)::Box<int>::inlined_member(int&&, "
                             "shop::(anonymous namespace)::Box<int>::Kind) const",
                             "MARK(in_inlined_member)", true) +
                  caller);
}

TEST_P(WithDebugInformation, KeepsTheShortNameThatAFullOneReplaced)
{
    const auto program = fixture(GetParam());
    const auto frames =
        symbolizer_.frames(module_of(program), address_of(program, "in_inlined_static"));
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_EQ(frames[0].short_name, "inlined_static");
    EXPECT_EQ(frames[1].short_name, "");
}

TEST_P(WithDebugInformation, BelievesLineDirectivesAndTidiesTheirPaths)
{
    EXPECT_EQ(at("in_line_directive"), "shop::from_line_directive(int) at /made/up/kernel.cu:43\n");
}

TEST_P(WithDebugInformation, NamesACFunction)
{
    EXPECT_EQ(at("in_plain_c"), "plain_c at " + source_path("in_c.c") + ":" +
                                    std::to_string(line_with("in_c.c", "MARK(in_plain_c)")) + "\n");
}

TEST_P(WithDebugInformation, GivesNoNoticeWhenTheBuildIdIsRight)
{
    at("in_lambda");
    EXPECT_TRUE(symbolizer_.notices().empty());
    EXPECT_TRUE(symbolizer_.unread_files().empty());
}

TEST(Symbolizer, GivesTheModuleAndTheAddressAskedForWithEachFrame)
{
    const auto program = fixture("o2_dwarf5");
    const auto address = address_of(program, "in_innermost");
    Symbolizer symbolizer;
    const auto frames = symbolizer.frames(module_of(program), address);
    ASSERT_EQ(frames.size(), 3u);
    for (const auto& frame : frames) {
        EXPECT_EQ(frame.module, program.string());
        EXPECT_EQ(frame.offset, address);
    }
}

TEST(Symbolizer, GivesNoNameToAddressesThatOnlyDroppedCodeHad)
{
    // The linker leaves the debug information of dropped_by_the_linker, as if it were at address 0.
    ASSERT_THROW(address_of(fixture("o2_sections"), "_ZN4shop21dropped_by_the_linkerEi"),
                 std::runtime_error);
    Symbolizer symbolizer;
    for (std::uint64_t address = 0; address < 8; ++address)
        EXPECT_EQ(text_of(symbolizer.frames(module_of(fixture("o2_sections")), address)),
                  " at :0\n");
}

TEST(Symbolizer, FindsTheOtherHalfOfSplitDwarfBesideTheProgram)
{
    Symbolizer symbolizer;
    const auto program = fixture("split/program");
    EXPECT_EQ(symbolizer.frames(module_of(program), address_of(program, "in_innermost")).size(),
              3u);
    EXPECT_TRUE(symbolizer.notices().empty());
}

TEST(Symbolizer, NamesTheFunctionWithoutTheOtherHalfOfSplitDwarfAndSaysWhatIsMissing)
{
    const TempDir dir;
    std::filesystem::copy_file(fixture("split/program"), dir / "program");
    const auto mark = address_of(dir / "program", "in_innermost");
    const auto check = [&](const char* what, const std::filesystem::path& sysroot = {}) {
        Symbolizer symbolizer({.debug_dirs = {}, .sysroot = sysroot, .path_maps = {}});
        ModuleId module = module_of(dir / "program");
        if (!sysroot.empty())
            module.path = "/program";
        const auto frames = symbolizer.frames(module, mark);
        ASSERT_EQ(frames.size(), 1u) << what;
        EXPECT_EQ(frames[0].function, "shop::outermost(int)");
        EXPECT_EQ(frames[0].file, source_path("marks.cpp"));
        EXPECT_EQ(frames[0].line, line_with("marks.cpp", "MARK(in_innermost)"));
        ASSERT_EQ(symbolizer.notices().size(), 1u);
        EXPECT_NE(symbolizer.notices()[0].find("-gsplit-dwarf"), std::string::npos);
    };
    check("there is none");
    ASSERT_EQ(::mkfifo((dir / "marks.dwo").c_str(), 0600), 0);
    check("a pipe: opening it would block");
    std::filesystem::remove(dir / "marks.dwo");
    std::filesystem::copy_file(fixture("o2_dwarf5"), dir / "marks.dwo");
    check("another file");
    std::filesystem::remove(dir / "marks.dwo");
    std::filesystem::create_symlink(fixture("split/marks.dwo"), dir / "marks.dwo");
    check("the right one, by a link that leads out of the sysroot", dir.path());
}

TEST(Symbolizer, TakesFunctionsFromTheSymbolTableWithoutDebugInformation)
{
    EXPECT_EQ(frame_at("no_debug", "in_innermost").function, "shop::outermost(int)");
    EXPECT_EQ(frame_at("no_debug", "in_innermost").file, "");
    EXPECT_EQ(frame_at("no_debug", "in_plain_c").function, "plain_c");
    EXPECT_EQ(frame_at("no_debug", "in_anonymous_namespace").function,
              "shop::(anonymous namespace)::hidden(int)");
}

TEST(Symbolizer, NamesTheCopyThatTheCompilerMadeOfAFunctionAsTheFunction)
{
    EXPECT_EQ(frame_at("no_debug", "in_copy").function, "shop::copied()");
}

TEST(Symbolizer, TakesFunctionsFromTheDynamicSymbolsOfAStrippedProgram)
{
    EXPECT_EQ(frame_at("only_dynamic", "in_constructor").function, "shop::Buffer::Buffer(int)");
}

TEST(Symbolizer, NeverNamesCodeAfterASymbolThatDoesNotCoverIt)
{
    EXPECT_EQ(frame_at("no_debug", "in_sized_assembly").function, "sized_assembly");
    EXPECT_EQ(frame_at("no_debug", "in_unsized_assembly").function, "");
    // A function of an anonymous namespace is not a dynamic symbol, but its neighbours are.
    const auto hidden = address_of(fixture("only_dynamic"), "in_anonymous_namespace");
    EXPECT_EQ(frame_at("only_dynamic", "in_anonymous_namespace").function, "") << hidden;
}

TEST(Symbolizer, GivesNoNamesForAStrippedProgram)
{
    Symbolizer symbolizer;
    const auto address = address_of(fixture("o2_dwarf5"), "in_innermost");
    EXPECT_EQ(text_of(symbolizer.frames(module_of(fixture("stripped")), address)), " at :0\n");
}

TEST(Symbolizer, FindsSeparateDebugInformationByBuildId)
{
    Symbolizer symbolizer({.debug_dirs = {"/nowhere", fixture("debug")}, .sysroot = {}});
    const auto frames = symbolizer.frames(module_of(fixture("stripped")),
                                          address_of(fixture("o2_dwarf5"), "in_innermost"));
    ASSERT_EQ(frames.size(), 3u);
    EXPECT_EQ(frames[2].function, "shop::outermost(int)");
    EXPECT_EQ(frames[2].line, line_with("marks.cpp", "// calls middle"));
    EXPECT_EQ(frames[2].module, fixture("stripped").string());
}

TEST(Symbolizer, FindsSeparateDebugInformationByDebugLink)
{
    Symbolizer symbolizer;
    const auto frames = symbolizer.frames(module_of(fixture("linked/stripped")),
                                          address_of(fixture("o2_dwarf5"), "in_innermost"));
    EXPECT_EQ(frames.size(), 3u);
}

TEST(Symbolizer, RefusesADebugLinkToTheDebugInformationOfAnotherProgram)
{
    const TempDir dir;
    std::filesystem::copy_file(fixture("linked/stripped"), dir / "stripped");
    std::filesystem::copy_file(fixture("o2_dwarf4"), dir / "stripped.debug");
    Symbolizer symbolizer;
    const auto frames = symbolizer.frames(module_of(dir / "stripped"),
                                          address_of(fixture("o2_dwarf5"), "in_innermost"));
    EXPECT_EQ(text_of(frames), " at :0\n");
}

TEST(Symbolizer, DoesNotUseAFileWithAnotherBuildIdAndSaysSoOnce)
{
    const auto program = fixture("o2_dwarf5");
    const auto address = address_of(program, "in_innermost");
    const ModuleId other{program.string(), std::string("\x01\x02\x03\x04", 4)};
    Symbolizer symbolizer;
    EXPECT_EQ(text_of(symbolizer.frames(other, address)), " at :0\n");
    symbolizer.frames(other, address + 1);
    ASSERT_EQ(symbolizer.unread_files().size(), 1u);
    EXPECT_EQ(symbolizer.unread_files()[0].path, program.string());
    EXPECT_NE(symbolizer.unread_files()[0].why.find("build-id differs"), std::string::npos);
    EXPECT_EQ(symbolizer.unread_files()[0].looked_at, "build-id a2a2a2a2, traced was 01020304");
}

TEST(Symbolizer, KeepsTwoBuildsOfOnePathApart)
{
    const auto program = fixture("o2_dwarf5");
    const auto address = address_of(program, "in_innermost");
    Symbolizer symbolizer;
    EXPECT_EQ(symbolizer.frames({program.string(), "another"}, address).size(), 1u);
    EXPECT_EQ(symbolizer.frames(module_of(program), address).size(), 3u);
}

TEST(Symbolizer, UsesAFileThatCannotBeCheckedButSaysSo)
{
    const auto program = fixture("no_build_id");
    ASSERT_EQ(module_of(program).build_id, "");
    Symbolizer symbolizer;
    EXPECT_EQ(symbolizer.frames(module_of(program), address_of(program, "in_innermost")).size(),
              3u);
    ASSERT_EQ(symbolizer.notices().size(), 1u);
    EXPECT_NE(symbolizer.notices()[0].find("no build-id"), std::string::npos);
}

TEST(Symbolizer, LooksForModulesAndDebugInformationBelowTheSysroot)
{
    const TempDir root;
    std::filesystem::create_directories(root / "opt/app");
    std::filesystem::create_directories(root / "usr/lib/debug/.build-id");
    std::filesystem::copy_file(fixture("stripped"), root / "opt/app/program");
    std::filesystem::copy(fixture("debug/.build-id/a2"), root / "usr/lib/debug/.build-id/a2");
    Symbolizer symbolizer({.debug_dirs = {}, .sysroot = root.path()});
    const auto frames =
        symbolizer.frames({"/opt/app/program", module_of(fixture("stripped")).build_id},
                          address_of(fixture("o2_dwarf5"), "in_innermost"));
    ASSERT_EQ(frames.size(), 3u);
    EXPECT_EQ(frames[0].module, "/opt/app/program");
}

TEST(Symbolizer, LooksForModulesWhereAPathMapSaysThatTheyAre)
{
    const auto program = fixture("o2_dwarf5");
    Symbolizer symbolizer(
        {.debug_dirs = {}, .sysroot = {}, .path_maps = {{"/opt/app", program.parent_path()}}});
    const ModuleId module{"/opt/app/o2_dwarf5", module_of(program).build_id};
    EXPECT_EQ(symbolizer.frames(module, address_of(program, "in_innermost")).size(), 3u);
    EXPECT_TRUE(symbolizer.unread_files().empty());
}

TEST(Symbolizer, FindsNothingByALinkThatLeadsOutOfTheSysroot)
{
    const TempDir root;
    const auto program = fixture("o2_dwarf5");
    std::filesystem::create_symlink(program, root / "program");
    Symbolizer symbolizer({.debug_dirs = {}, .sysroot = root.path(), .path_maps = {}});
    const ModuleId module{"/program", module_of(program).build_id};
    EXPECT_EQ(text_of(symbolizer.frames(module, address_of(program, "in_innermost"))), " at :0\n");
    ASSERT_EQ(symbolizer.unread_files().size(), 1u);
    EXPECT_EQ(symbolizer.unread_files()[0].why, "no such file");
    EXPECT_EQ(symbolizer.unread_files()[0].looked_at, root.path().string() + program.string());
}

TEST(Symbolizer, NamesADeletedProgramFromItsSeparateDebugInformation)
{
    Symbolizer symbolizer({.debug_dirs = {fixture("debug")}, .sysroot = {}});
    const auto frames =
        symbolizer.frames({"/gone/program (deleted)", module_of(fixture("stripped")).build_id},
                          address_of(fixture("o2_dwarf5"), "in_innermost"));
    EXPECT_EQ(frames.size(), 3u);
    EXPECT_TRUE(symbolizer.unread_files().empty());
}

TEST(Symbolizer, SaysThatADeletedFileCannotBeRead)
{
    Symbolizer symbolizer;
    const auto program = fixture("o2_dwarf5").string() + " (deleted)";
    EXPECT_EQ(text_of(symbolizer.frames({program, "1234"}, 0x1000)), " at :0\n");
    ASSERT_EQ(symbolizer.unread_files().size(), 1u);
    EXPECT_EQ(symbolizer.unread_files()[0].why, "the file was deleted");
}

TEST(Symbolizer, ExpectsNoFileForTheKernelsOwnModules)
{
    Symbolizer symbolizer;
    for (const auto* name : {"[vdso]", "linux-vdso.so.1", ""}) {
        const auto frames = symbolizer.frames({name, "1234"}, 0x1000);
        ASSERT_EQ(frames.size(), 1u);
        EXPECT_EQ(frames[0].module, name);
        EXPECT_EQ(frames[0].offset, 0x1000u);
    }
    EXPECT_TRUE(symbolizer.notices().empty());
}

} // namespace
} // namespace vramscope::report
