// tests/tracker/capture/python/walk_test.cpp — a real CPython's frames, by right and wrong offsets.
//
// Each libpython at hand, or each of the folder VRAMSCOPE_TEST_PYTHONS, runs in a child of its own.
// tests/e2e/frameworks/python_test.py holds the stacks of whole programs against what these say of
// themselves.
#include "tracker/capture/python/walk.hpp"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tracker/capture/python/code.hpp"
#include "tracker/capture/python/freed_codes.hpp"

using namespace vramscope::capture;
using namespace vramscope::capture::python;

namespace {

std::vector<std::string> libraries()
{
    namespace fs = std::filesystem;
    constexpr std::string_view kName = "libpython3.";
    constexpr int kFirstMinor = 8;
    std::vector<std::string> found;
    std::error_code none;
    const char* const home = std::getenv("HOME");
    const auto look = [&](const fs::path& folder) {
        for (const auto& entry : fs::directory_iterator(folder, none))
            if (const std::string name = entry.path().filename();
                name.starts_with(kName) && name.ends_with(".so.1.0") &&
                std::atoi(name.c_str() + kName.size()) >= kFirstMinor)
                found.push_back(entry.path());
    };
    if (const char* const only = std::getenv("VRAMSCOPE_TEST_PYTHONS")) {
        look(only);
        return found;
    }
    for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/local/lib"})
        look(folder);
    for (const auto& version :
         fs::directory_iterator(fs::path(home ? home : "/") / ".pyenv/versions", none))
        look(version.path() / "lib");
    return found;
}

struct Seen {
    Interpreter interpreter;
    Layout layout;
    std::uintptr_t state = 0;
    std::unique_ptr<Stack> stack = std::make_unique<Stack>();

    bool read(const Layout& with)
    {
        const char* why = nullptr;
        return read_stack(interpreter, with, state, Trust::none, *stack, why);
    }
};

std::string name_of(const Seen& seen, std::size_t frame)
{
    const auto names = std::make_unique<CodeNames>();
    return read_code(seen.layout, seen.stack->frames[frame].code, *names) ? std::string(names->name)
                                                                          : "unreadable";
}

void check_right(Seen& seen)
{
    ASSERT_TRUE(seen.read(seen.layout));
    ASSERT_EQ(seen.stack->count, 3u);
    EXPECT_EQ(name_of(seen, 0), "inner");
    EXPECT_EQ(name_of(seen, 1), "größe_Ж");
    EXPECT_EQ(name_of(seen, 2), "<module>");
    std::vector<std::uintptr_t> words(kMostWords);
    words.resize(collect(seen.layout, seen.state, words.data()).words);
    EXPECT_GE(words.size(), 6u);
    std::vector<std::uintptr_t> steps(kMostFrames);
    EXPECT_EQ(collect_steps(seen.layout, seen.state, steps.data()), words.size() / 2);
    const auto matches = [&](std::span<const std::uintptr_t> known,
                             Codes codes = Codes::may_differ) {
        return python::matches(seen.layout, seen.state, known, steps.data(), codes);
    };
    EXPECT_TRUE(matches(words));
    EXPECT_FALSE(matches({words.data(), words.size() - 2}));
    for (std::size_t at = 0; at < words.size(); ++at) {
        const bool tells_codes = at % 2 == 1; // the second word of a frame is of its code object
        EXPECT_TRUE(matches(words, Codes::are_the_same));
        words[at] ^= 1;
        EXPECT_FALSE(matches(words)) << at;
        EXPECT_EQ(matches(words, Codes::are_the_same), tells_codes) << at;
        words[at] ^= 1;
    }
    std::fill(steps.begin(), steps.end(), 0); // it does not depend on them
    EXPECT_TRUE(matches(words));
    words.insert(words.end(), 2, 0);
    EXPECT_FALSE(matches(words));
}

// Where a type is looked for nothing else passes. No offset of them all makes it crash.
void check_shifted(Seen& seen)
{
    using Field = std::uint16_t Layout::*;
    constexpr Field kAll[] = {&Layout::top,
                              &Layout::top_inside,
                              &Layout::outer_call,
                              &Layout::back,
                              &Layout::code,
                              &Layout::instruction,
                              &Layout::is_entry,
                              &Layout::owner,
                              &Layout::file,
                              &Layout::name,
                              &Layout::first_line,
                              &Layout::line_table,
                              &Layout::bytecode,
                              &Layout::version,
                              &Layout::ascii,
                              &Layout::wide,
                              &Layout::first_traceable,
                              &Layout::interpreter};
    constexpr Field kProven[] = {&Layout::top, &Layout::code, &Layout::line_table};
    for (const Field field : kAll)
        for (int shift = -64; shift <= 64; shift += 4) {
            Layout shifted = seen.layout;
            shifted.*field = static_cast<std::uint16_t>(seen.layout.*field + shift);
            const bool believed = seen.read(shifted) && seen.stack->count > 0;
            const bool proven =
                std::find(std::begin(kProven), std::end(kProven), field) != std::end(kProven);
            if (proven && (shift == 8 || shift == -8)) {
                EXPECT_FALSE(believed) << shift;
            }
        }
}

bool ran = false;
std::uint64_t freed_by_then = 0;
std::uintptr_t code_free = 0;

void look()
{
    Seen seen;
    const char* why = nullptr;
    ASSERT_TRUE(find_interpreter(seen.interpreter));
    ASSERT_TRUE(find_layout(seen.interpreter, seen.layout, why)) << why;
    seen.state = seen.interpreter.state();
    ASSERT_NE(seen.state, 0u);
    check_right(seen);
    check_shifted(seen);
    EXPECT_EQ(freed_codes(), 0u);
    count_freed_codes(seen.interpreter);
    freed_by_then = freed_codes();
    code_free = seen.interpreter.code_free;
    EXPECT_GT(freed_by_then, 0u);
    count_freed_codes(seen.interpreter); // nothing is counted twice
    ran = true;
}

// Each takes its own modules: where several of one version are, PATH would say which.
void set_home(const std::filesystem::path& library)
{
    const std::string name = library.stem().stem().stem(); // libpython3.11
    const std::string modules = "lib/" + name.substr(std::string_view("lib").size());
    for (auto folder = library.parent_path(); folder.has_relative_path();
         folder = folder.parent_path())
        if (std::filesystem::exists(folder / modules)) {
            ::setenv("PYTHONHOME", folder.c_str(), 1);
            return;
        }
}

int run_in(const std::string& library)
{
    set_home(library);
    void* const python = ::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!python)
        return 1;
    reinterpret_cast<void (*)(int)>(::dlsym(python, "Py_InitializeEx"))(0);
    const std::string program = "import ctypes\n"
                                "def inner():\n"
                                "    ctypes.CFUNCTYPE(None)(" +
                                std::to_string(reinterpret_cast<std::uintptr_t>(&look)) +
                                ")()\n"
                                "def größe_Ж():\n"
                                "    inner()\n"
                                "größe_Ж()\n";
    using Run = int (*)(const char*, void*);
    const auto run = reinterpret_cast<Run>(::dlsym(python, "PyRun_SimpleStringFlags"));
    if (run(program.c_str(), nullptr) != 0)
        return 1;
    const std::uint64_t before = freed_codes();
    EXPECT_GT(before, freed_by_then); // the program itself is freed
    EXPECT_EQ(run("for _ in range(10): exec(compile('1', 'x', 'exec'))", nullptr), 0);
    EXPECT_GT(freed_codes(), before + 10);
    auto& place = *reinterpret_cast<void (**)(void*)>(code_free);
    const auto ours = std::exchange(place, [](void*) {});
    EXPECT_EQ(freed_codes(), 0u);
    place = ours;
    EXPECT_EQ(freed_codes(), 0u); // what was freed meanwhile is not known
    return 0;
}

} // namespace

TEST(PythonWalk, ReadsFramesAndRefusesWrongOffsets)
{
    const std::vector<std::string> found = libraries();
    if (found.empty())
        GTEST_SKIP() << "no libpython3 is here";
    for (const std::string& library : found) {
        const pid_t child = ::fork();
        if (child == 0) {
            const bool right = run_in(library) == 0 && ran && !HasFailure();
            std::fflush(nullptr);
            ::_exit(right ? 0 : 1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_EQ(status, 0) << library;
    }
}

TEST(PythonLayout, IsNotKnownForOtherVersions)
{
    EXPECT_EQ(known_layout(0x030700f0), nullptr);
    EXPECT_EQ(known_layout(0x020712f0), nullptr);
    ASSERT_NE(known_layout(0x030b07f0), nullptr);
    EXPECT_EQ(known_layout(0x030b07f0)->minor, 11);
    Layout layout;
    alignas(8) char zeros[4096] = {};
    const auto table = reinterpret_cast<std::uintptr_t>(zeros);
    EXPECT_STREQ(read_offsets(table, 0x030c00f0, layout), "this version is not known");
    EXPECT_STREQ(read_offsets(table, 0x031000f0, layout), "this version is not known");
    EXPECT_STREQ(read_offsets(table, 0x040d00f0, layout), "this version is not known");
    constexpr const char* kNoTable = "its table of offsets is not one that is known";
    EXPECT_STREQ(read_offsets(table, 0x030d00f0, layout), kNoTable);
    EXPECT_STREQ(read_offsets(8, 0x030d00f0, layout), kNoTable);
}
