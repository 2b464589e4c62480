// tests/report/replay/layout_property_test.cpp — how a log is written down changes no report.
//
// A report follows from what the program did, in whatever chunks and by however many threads its
// log was written.
#include <functional>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/findings/make_report.hpp"
#include "report/json/json.hpp"
#include "report/text/views.hpp"
#include "tests/support/random_program.hpp"

namespace vramscope::report {
namespace {

using test::Layout;
using test::ProgramOptions;
using test::random_program;
using test::Step;
using test::TempFile;
using test::written;

using Json = nlohmann::json;

constexpr std::uint32_t kLayoutSeeds = 15;

Json json_of(const std::vector<Step>& steps, const Layout& layout)
{
    const TempFile file(written(steps, layout).build());
    std::ostringstream out;
    write_json(out, make_report({file.path()}));
    Json json = Json::parse(out.str());
    json["processes"][0]["log"] = nullptr; // it has another name each time
    return json;
}

// Which members differ, in words.
std::string difference(const Json& a, const Json& b)
{
    std::string text;
    for (const Json& change : Json::diff(a, b)) {
        text += change.dump() + '\n';
        if (text.size() > 2000)
            break;
    }
    return text;
}

TEST(LayoutProperty, ChunksChangeNothing)
{
    for (std::uint32_t seed = 1; seed <= kLayoutSeeds; ++seed) {
        const std::vector<Step> steps = random_program(seed);
        const Json one = json_of(steps, {});
        const Layout layouts[] = {{.chunk_bytes = 512},
                                  {.chunk_bytes = 4096},
                                  {.new_chunks = 100},
                                  {.new_chunks = 20, .seed = seed}};
        for (const Layout& layout : layouts) {
            const Json other = json_of(steps, layout);
            ASSERT_TRUE(one == other) << "seed " << seed << ", chunks of " << layout.chunk_bytes
                                      << ", new ones " << layout.new_chunks << "%:\n"
                                      << difference(one, other);
        }
    }
}

// Removes what threads are named by.
void forget_threads(Json& json)
{
    if (json.is_object())
        for (const char* const name : {"tid", "threads", "thread_count"})
            json.erase(name);
    if (json.is_structured())
        for (Json& part : json)
            forget_threads(part);
}

TEST(LayoutProperty, ThreadsChangeNothingButTheirNames)
{
    // Ranges are a thread's own, so that a program of one thread would have others open.
    const ProgramOptions options{.threads = 5, .ranges = false, .late_frees = false};
    for (std::uint32_t seed = 1; seed <= kLayoutSeeds; ++seed) {
        const std::vector<Step> steps = random_program(seed, options);
        Json many = json_of(steps, {});
        Json one = json_of(steps, {.one_thread = true});
        forget_threads(many);
        forget_threads(one);
        ASSERT_TRUE(many == one) << "seed " << seed << ":\n" << difference(many, one);
    }
}

} // namespace
} // namespace vramscope::report
