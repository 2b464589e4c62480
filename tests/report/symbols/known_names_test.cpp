// tests/report/symbols/known_names_test.cpp — what is kept of names is what was found, or nothing.
#include "report/symbols/known_names.hpp"

#include <filesystem>
#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "report/symbols/name_store.hpp"
#include "report/symbols/symbolizer.hpp"
#include "tests/report/symbols/fixture_file.hpp"

namespace vramscope::report {
namespace {

std::vector<Frame> two_frames()
{
    return {{.function = "inner(int)",
             .short_name = "inner",
             .file = "/a/b.cu",
             .line = 7,
             .function_line = 5,
             .module = "/program",
             .offset = 0x1234,
             .inlined = true,
             .build_id = "id"},
            {.function = "outer()", .file = "/a/b.cu", .line = 20, .module = "/program"}};
}

std::string some_names()
{
    KnownNames names;
    names.from_symbols_alone = true;
    names.debug_link = "x.debug";
    names.add(0x1234, two_frames());
    names.add(UINT64_MAX, {Frame{.function = "f", .file = {}, .module = {}}});
    return names.bytes();
}

TEST(KnownNames, AreReadAsTheyWereWritten)
{
    const std::optional<KnownNames> names = KnownNames::read(some_names());
    ASSERT_TRUE(names);
    EXPECT_TRUE(names->from_symbols_alone);
    EXPECT_EQ(names->debug_link, "x.debug");
    EXPECT_FALSE(names->changed());
    EXPECT_EQ(names->find(1), nullptr);
    ASSERT_NE(names->find(UINT64_MAX), nullptr);
    const std::vector<Frame>& frames = *names->find(0x1234);
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_EQ(frames[0].function, "inner(int)");
    EXPECT_EQ(frames[0].short_name, "inner");
    EXPECT_EQ(frames[0].file, "/a/b.cu");
    EXPECT_EQ(frames[0].line, 7);
    EXPECT_EQ(frames[0].function_line, 5);
    EXPECT_TRUE(frames[0].inlined);
    EXPECT_EQ(frames[0].module + frames[0].build_id, "") << "they are of who asks";
    EXPECT_EQ(frames[1].function, "outer()");
}

TEST(KnownNames, AreThrownAwayWhereAnyByteIsAnother)
{
    const std::string whole = some_names();
    EXPECT_FALSE(KnownNames::read(""));
    for (std::size_t at = 0; at < whole.size(); ++at) {
        EXPECT_FALSE(KnownNames::read(whole.substr(0, at))) << at;
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
        EXPECT_FALSE(KnownNames::read(damaged)) << at;
    }
    EXPECT_FALSE(KnownNames::read(whole + "x"));
}

// Keeps them in memory, and counts.
struct FakeStore : NameStore {
    std::map<std::string, std::string> files;
    int kept = 0;

    std::string find(const std::string& build_id) override { return files[build_id]; }
    void keep(const std::string& build_id, std::string_view names) override
    {
        files[build_id] = names;
        ++kept;
    }
};

std::string named(const std::shared_ptr<FakeStore>& store, const ModuleId& module,
                  std::uint64_t vaddr, const std::filesystem::path& debug_dir = "/nonexistent")
{
    SymbolizerOptions options;
    options.debug_dirs = {debug_dir};
    options.names = store;
    Symbolizer symbolizer(options);
    std::string text;
    for (const Frame& frame : symbolizer.frames(module, vaddr))
        text += frame.function + " " + std::filesystem::path(frame.file).filename().string() + ":" +
                std::to_string(frame.line) + " " + frame.module + "\n";
    return text;
}

TEST(KeptNames, AreTheSameWithoutTheFile)
{
    const auto store = std::make_shared<FakeStore>();
    const std::string program = fixture("o2_dwarf5");
    const std::uint64_t vaddr = address_of(program, "in_innermost");
    ModuleId module = module_of(program);
    const std::string found = named(store, module, vaddr);
    EXPECT_NE(found.find("shop::innermost(int) marks.cpp:"), std::string::npos);
    EXPECT_EQ(named(store, module, vaddr), found);
    EXPECT_EQ(store->kept, 1) << "nothing was new the second time";
    module.path = "/nowhere/program";
    EXPECT_EQ(named(store, module, vaddr).find("shop::innermost(int) marks.cpp:"), 0u);
    EXPECT_EQ(named(store, module, vaddr + 1).find("shop::"), std::string::npos);
}

TEST(KeptNames, AreThrownAwayWhereTheyAreDamaged)
{
    const auto store = std::make_shared<FakeStore>();
    const std::string program = fixture("o2_dwarf5");
    const ModuleId module = module_of(program);
    const std::uint64_t vaddr = address_of(program, "in_innermost");
    const std::string found = named(store, module, vaddr);
    store->files[module.build_id][20] ^= 1;
    EXPECT_EQ(named(store, module, vaddr), found);
    EXPECT_EQ(store->kept, 2);
    EXPECT_TRUE(KnownNames::read(store->files[module.build_id]));
}

TEST(KeptNames, OfAStrippedFileAreNotUsedOnceItsDebugInformationIsThere)
{
    const auto store = std::make_shared<FakeStore>();
    const std::uint64_t vaddr = address_of(fixture("o2_dwarf5"), "in_innermost");
    const ModuleId module = module_of(fixture("stripped"));
    EXPECT_EQ(named(store, module, vaddr).find("marks.cpp:"), std::string::npos);
    EXPECT_NE(named(store, module, vaddr, fixture("debug")).find("marks.cpp:"), std::string::npos);
    EXPECT_NE(named(store, module, vaddr).find("marks.cpp:"), std::string::npos) << "they are kept";
}

TEST(KeptNames, AreOfNoFileWithoutABuildId)
{
    const auto store = std::make_shared<FakeStore>();
    const std::string program = fixture("no_build_id");
    named(store, module_of(program), address_of(program, "in_innermost"));
    EXPECT_EQ(store->kept, 0);
}

} // namespace
} // namespace vramscope::report
