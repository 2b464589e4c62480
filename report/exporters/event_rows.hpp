// report/exporters/event_rows.hpp — lines of an export of events that are no record as it stands.
//
// All other lines have their record's fields: see event_records.hpp. Within major version 1 members
// are only added.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/exporters/event_values.hpp"
#include "report/findings/make_report.hpp"
#include "report/model/call_place.hpp"
#include "report/model/process_end.hpp"

namespace vramscope::report {

// ---- the first line ----

using InfoPair = std::pair<std::string, std::string>;
template <>
struct Fields<InfoPair> {
    static constexpr const char* kName = "info";
    static constexpr FieldList kAll{Field{"key", &InfoPair::first},
                                    Field{"value", &InfoPair::second}};
};

struct HeaderLine {
    std::string_view schema_version;
    const format::FileHeader* log;
    const std::vector<InfoPair>* info;
};
template <>
struct Fields<HeaderLine> {
    static constexpr auto started = [](const HeaderLine& line) {
        return utc(line.log->start_real_ns);
    };
    static constexpr auto log_format = [](const HeaderLine& line) {
        return std::to_string(line.log->major) + "." + std::to_string(line.log->minor);
    };
    static constexpr auto info = [](const HeaderLine& line) -> auto& { return *line.info; };

    static constexpr const char* kName = "header";
    static constexpr const char* kSays = "The first line.";
    static constexpr FieldList kAll{
        Field{"schema_version", &HeaderLine::schema_version}.pattern("^1\\.[0-9]+\\.[0-9]+$"),
        Field{"pid", Via{&HeaderLine::log, &format::FileHeader::pid}},
        Field{"parent_pid", Via{&HeaderLine::log, &format::FileHeader::parent_pid}},
        Field{"started", OrNull{started}, "Real time at ns 0, UTC."},
        Field{"clock", Via{&HeaderLine::log, &format::FileHeader::clock},
              "What the times were taken with; they are nanoseconds here all the same."},
        Field{"log_format", log_format}.pattern("^[0-9]+\\.[0-9]+$"),
        Field{"info", info,
              "Facts about the run, in the order of the log: program, command, host, "
              "driver.version …"},
    };
};

// ---- what the numbers in events mean ----

struct ApiLine {
    std::uint64_t id;
    std::string_view entry_point;
    format::Effect effect;
    format::Memory memory;
};
template <>
struct Fields<ApiLine> {
    static constexpr const char* kName = "api";
    static constexpr const char* kSays = "An entry point, before the first event of it.";
    static constexpr FieldList kAll{
        Field{"id", &ApiLine::id},
        Field{"entry_point", &ApiLine::entry_point, "The driver's symbol: cuMemAlloc_v2."},
        Field{"effect", &ApiLine::effect},
        Field{"memory", &ApiLine::memory},
    };
};

struct FrameOfLine { // as a report has it, without the module's build id
    const Frame* frame;
};
template <typename Member>
constexpr auto of_frame(Member Frame::*member)
{
    return Via{&FrameOfLine::frame, member};
}
template <>
struct Fields<FrameOfLine> {
    static constexpr const char* kName = "frame";
    static constexpr FieldList kAll{
        Field{"function", OrNull{of_frame(&Frame::function)}},
        Field{"file", OrNull{of_frame(&Frame::file)}},
        Field{"line", OrNull{of_frame(&Frame::line)}}.at_least(1),
        Field{"module", OrNull{of_frame(&Frame::module)}},
        Field{"offset", Hex{of_frame(&Frame::offset)},
              "Address in the module's file; the address itself where module is null."},
        Field{"inlined", of_frame(&Frame::inlined),
              "The code of this call lies inside the next frame's function."},
        Field{"library", of_frame(&Frame::library),
              "Code of CCCL, the C++ standard library or the toolkit's headers: folded in reports."}
            .since(1),
        Field{
            "python", IfAny{of_frame(&Frame::python)},
            "Only of a function of Python, which has a file, and no module. Where its name begins "
            "with \"backward of\", it called nothing here, but made the autograd node of PyTorch "
            "whose backward step this is."},
    };
};

struct StackLine {
    std::uint64_t id;
    std::string_view call;
    std::uint64_t first_visible, visible;
    bool truncated;
    std::vector<FrameOfLine> frames;
};
template <>
struct Fields<StackLine> {
    static constexpr const char* kName = "stack";
    static constexpr const char* kSays = "A call stack, before the first event with it.";
    static constexpr FieldList kAll{
        Field{"id", &StackLine::id}.at_least(1),
        Field{"call", OrNull{&StackLine::call},
              "The function of the CUDA runtime that the program called, cudaMalloc, where the "
              "stack shows one."},
        Field{"first_visible", &StackLine::first_visible,
              "Index of the first frame that reports show: without vramscope, the CUDA runtime and "
              "the C start-up code; of the visible ones they fold those of libraries."},
        Field{"visible", &StackLine::visible, "How many frames are visible."},
        Field{"truncated", &StackLine::truncated, "The outermost frames were not recorded."},
        Field{"frames", &StackLine::frames, "All of them, innermost first."},
    };
};

struct ThreadLine {
    std::uint32_t id;
    std::uint32_t tid;
    std::string_view name;
};
template <>
struct Fields<ThreadLine> {
    static constexpr const char* kName = "thread";
    static constexpr FieldList kAll{
        Field{"id", &ThreadLine::id},
        Field{"tid", &ThreadLine::tid,
              "As the kernel numbers it; 0: `vramscope mark`, another process."},
        Field{"name", OrNull{&ThreadLine::name}},
    };
};

// ---- events ----

// The beginning of each line that has a time.
struct Happened {
    Ns ns;
    std::uint32_t thread;
};
inline constexpr FieldList kHappened{
    Field{"ns", &Happened::ns},
    Field{"thread", &Happened::thread, "Of a thread line before this one."},
};
struct Called : Happened {
    format::ApiId api;
};
inline constexpr auto kCalled = joined(kHappened, FieldList{Field{"api", &Called::api}});

struct ModuleLine : Happened {
    format::ModuleLoaded module;
};
template <typename Member>
constexpr auto of_module(Member format::ModuleLoaded::*member)
{
    return Via{&ModuleLine::module, member};
}
template <>
struct Fields<ModuleLine> {
    static constexpr const char* kName = "module_loaded";
    static constexpr const char* kSays = "An executable or a library came.";
    static constexpr auto kAll = joined(
        kHappened,
        FieldList{Field{"module", of_module(&format::ModuleLoaded::id)},
                  Field{"path", of_module(&format::ModuleLoaded::path)},
                  Field{"build_id", HexDigits{of_module(&format::ModuleLoaded::build_id)}}.pattern(
                      "^[0-9a-f]+$"),
                  Field{"bias", of_module(&format::ModuleLoaded::bias)},
                  Field{"first", of_module(&format::ModuleLoaded::first)},
                  Field{"end", of_module(&format::ModuleLoaded::end)}});
};

struct AllocLine : Called {
    format::Address address;
    std::uint64_t bytes;
    format::Memory memory;
    format::DeviceOrdinal device;
    std::uint64_t context;
    format::Address stream, pool;
    bool pooled;
    std::uint64_t slack;
    format::StackId stack;
};
template <>
struct Fields<AllocLine> {
    static constexpr const char* kName = "alloc";
    static constexpr auto kAll = joined(
        kCalled,
        FieldList{
            Field{"address", &AllocLine::address},
            Field{"bytes", &AllocLine::bytes},
            Field{"memory", &AllocLine::memory},
            Field{"device", &AllocLine::device},
            Field{"context", &AllocLine::context, "Of a context line; 0: not known."},
            Field{"stream", &AllocLine::stream},
            Field{"pool", &AllocLine::pool, "The driver's pool; 0x0: none, or the default one."},
            Field{"pooled", &AllocLine::pooled, "It lies in a segment of vramscope's pool."},
            Field{"slack", &AllocLine::slack, "Bytes by which its block there is larger."},
            Field{"stack", &AllocLine::stack},
        });
};

struct FreeLine : Called {
    format::Address address;
    format::StackId stack;
};
template <>
struct Fields<FreeLine> {
    static constexpr const char* kName = "free";
    static constexpr auto kAll = joined(
        kCalled, FieldList{Field{"address", &FreeLine::address}, Field{"stack", &FreeLine::stack}});
};

struct ReusableLine : Happened { // with the moment in place of how long ago it was
    Ns freed_before_ns;
    bool own;
};
template <>
struct Fields<ReusableLine> {
    static constexpr const char* kName = "reusable";
    static constexpr const char* kSays =
        "What was freed before that moment may be handed out again.";
    static constexpr auto kAll =
        joined(kHappened, FieldList{Field{"freed_before_ns", &ReusableLine::freed_before_ns},
                                    Field{"own", &ReusableLine::own,
                                          "vramscope's own synchronisation, not the program's."}});
};

// ---- the last line ----

struct PendingLine {
    Ns ns;
    format::ApiId api;
    format::Address address;
    format::StackId stack;
};
template <>
struct Fields<PendingLine> {
    static constexpr const char* kName = "pending_free";
    static constexpr FieldList kAll{
        Field{"ns", &PendingLine::ns},
        Field{"api", &PendingLine::api},
        Field{"address", &PendingLine::address},
        Field{"stack", &PendingLine::stack},
    };
};

struct TrailerLine {
    std::uint64_t events = 0;
    ProcessEnd end{};
    std::optional<Ns> exit_began_ns{};
    std::vector<std::pair<const char*, std::uint64_t>> lost{};
    std::uint64_t lost_events = 0;
    std::uint64_t damaged_chunks = 0;
    bool truncated = false;
    std::vector<PendingLine> pending_frees{};
};
template <>
struct Fields<TrailerLine> {
    static constexpr auto end_text = [](const TrailerLine& line) { return describe(line.end); };

    static constexpr const char* kName = "trailer";
    static constexpr const char* kSays = "The last line. Without it the list is not whole.";
    static constexpr FieldList kAll{
        Field{"events", &TrailerLine::events,
              "Records with a time; malformed ones, which have no line, included."},
        Field{"end", Via{&TrailerLine::end, &ProcessEnd::kind}},
        Field{"end_text", end_text},
        Field{"exit_began_ns", &TrailerLine::exit_began_ns},
        Field{"lost", Keyed{&TrailerLine::lost}, "Events that were not written, by reason."},
        Field{"lost_events", &TrailerLine::lost_events},
        Field{"damaged_chunks", &TrailerLine::damaged_chunks},
        Field{"truncated", &TrailerLine::truncated, "The file ends before its last chunk does."},
        Field{
            "pending_frees", &TrailerLine::pending_frees,
            "Frees that had begun and were not written down: nobody knows whether they were done."},
    };
};

} // namespace vramscope::report
