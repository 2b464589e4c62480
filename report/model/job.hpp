// report/model/job.hpp — many ranks of one job, and what is unusual among them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/model/call_place.hpp"
#include "report/model/headline.hpp"
#include "report/model/verdict.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::report {

// A rank of the job: its process, or those that ran at the same time, as a rank starts some. Then
// numbers are sums over them. `number` is the rank; where no process has one, its place in the
// order of the files.
struct JobProcess {
    std::uint32_t number = 0;
    std::uint32_t pid = 0; // of the first that began, as host and log
    std::string host;
    std::string log;
    std::vector<std::string> other_logs; // of its other processes
    Verdict verdict = Verdict::inconclusive;
    std::string end;                          // the rest of a sentence
    std::optional<std::uint32_t> exit_status; // none: it came to no end of its own
    std::string doubt; // why its verdict is not known, where its end does not say; empty: it is
    bool crashed = false;
    std::uint64_t last_seen_ns = 0; // real time of its last event; 0: not known
    std::uint64_t peak_device_bytes = 0;
    std::uint64_t leaked_bytes = 0;
    std::uint64_t out_of_memory = 0;
    std::uint64_t lost_events = 0;
    std::uint64_t growth_bytes_per_step = 0; // of all its places
    std::string step;                        // what that is per; empty: nothing grows
    std::optional<std::uint64_t> free_bytes; // on its fullest device, at that device's peak
    std::uint64_t total_bytes = 0;           // of that device
    bool found = false;                      // its report has a finding, of whatever kind

    bool failed() const noexcept { return exit_status.value_or(0) != 0; }
};
template <>
struct Fields<JobProcess> {
    static constexpr const char* kName = "job_process";
    static constexpr FieldList kAll{
        Field{"number", &JobProcess::number,
              "Its rank; where no process has one, its place in the order of the files."},
        Field{"pid", &JobProcess::pid, "Of the first of the rank's processes that began."},
        Field{"host", OrNull{&JobProcess::host}},
        Field{"log", &JobProcess::log},
        Field{"other_logs", &JobProcess::other_logs,
              "Of the rank's other processes, that ran at the same time: numbers are sums over "
              "them, and the end is that of the one that ended worst."}
            .since(3),
        Field{"verdict", &JobProcess::verdict},
        Field{"end", &JobProcess::end, "The rest of a sentence about it."},
        Field{"doubt", OrNull{&JobProcess::doubt},
              "Why its verdict is not known, although it came to an end of its own."}
            .since(3),
        Field{"exit_status", &JobProcess::exit_status,
              "Another than 0: it failed. null: it came to no end of its own."}
            .since(3),
        Field{"crashed", &JobProcess::crashed},
        Field{"peak_device_bytes", &JobProcess::peak_device_bytes},
        Field{"leaked_bytes", &JobProcess::leaked_bytes},
        Field{"out_of_memory_count", &JobProcess::out_of_memory},
        Field{"lost_events", &JobProcess::lost_events},
        Field{"growth_bytes_per_step", &JobProcess::growth_bytes_per_step,
              "The sum of its call places."}
            .since(1),
        Field{"step", OrNull{&JobProcess::step},
              "What that is per: the name of a range or of a mark, or \"call\"; \"step\" where its "
              "places differ. null: nothing grows."}
            .since(3),
        Field{"free_bytes", &JobProcess::free_bytes,
              "What was left at the peak on the device where the least was; null: no device's size "
              "is known."}
            .since(1),
        Field{"total_bytes", OrNull{&JobProcess::total_bytes}, "Of that device."}.since(1),
        Field{"found", &JobProcess::found, "Its report has a finding, of whatever kind."}.since(3),
    };
};

// A process that has no rank, where others have one: a launcher, mostly.
struct JobOutsider {
    std::uint32_t pid = 0;
    std::string host;
    std::string log;
    Verdict verdict = Verdict::inconclusive;
    std::string end; // the rest of a sentence
    std::optional<std::uint32_t> exit_status;
    std::vector<std::string> findings; // sentences, as its report begins; one at least
    std::string title;                 // of the first of these; empty: it is no finding

    bool failed() const noexcept { return exit_status.value_or(0) != 0; }
};
template <>
struct Fields<JobOutsider> {
    static constexpr const char* kName = "job_outsider";
    static constexpr FieldList kAll{
        Field{"pid", &JobOutsider::pid},
        Field{"host", OrNull{&JobOutsider::host}},
        Field{"log", &JobOutsider::log},
        Field{"verdict", &JobOutsider::verdict},
        Field{"end", &JobOutsider::end, "The rest of a sentence about it."},
        Field{"exit_status", &JobOutsider::exit_status},
        Field{"findings", &JobOutsider::findings, "What its report begins with."}.lines(),
    };
};

// Processes that nobody knows the end of, or that ended otherwise than well, by what is said of it.
struct JobEnd {
    std::string words; // the rest of a sentence
    bool crashed = false;
    bool failed = false;              // ended with another status than 0
    std::vector<std::uint32_t> ranks; // JobProcess::number, ascending
    std::uint32_t first = 0;          // of these, the one that was seen last at the earliest time

    // What was killed was perhaps killed for what others did.
    bool by_own_fault() const noexcept { return crashed || failed; }
};
template <>
struct Fields<JobEnd> {
    static constexpr const char* kName = "job_end";
    static constexpr FieldList kAll{
        Field{"words", &JobEnd::words, "The rest of a sentence about each of them."},
        Field{"crashed", &JobEnd::crashed},
        Field{"failed", &JobEnd::failed, "Ended with another status than 0."}.since(3),
        Field{"ranks", &JobEnd::ranks, "Numbers of processes, ascending."}.not_empty(),
        Field{"first", &JobEnd::first,
              "The one whose last event was the earliest, by the clocks of their hosts."},
    };
};

// What the reports of some ranks say that no call place here tells: one for each of its kinds.
struct JobHeadline {
    HeadlineKind kind = HeadlineKind::out_of_memory;
    std::string title;
    std::vector<std::uint32_t> ranks; // JobProcess::number, ascending
    std::string sentence;             // of the first of these; it begins with the title
    bool differs = false;             // that of another is another one
};
template <>
struct Fields<JobHeadline> {
    static constexpr const char* kName = "job_headline";
    static constexpr FieldList kAll{
        Field{"kind", &JobHeadline::kind,
              "As in the report of one process; leaks, growth and crashes are told elsewhere."},
        Field{"title", &JobHeadline::title, "The first words of the sentence."},
        Field{"ranks", &JobHeadline::ranks, "Numbers of processes, ascending."}.not_empty(),
        Field{"sentence", &JobHeadline::sentence, "Of the first of these."},
    };
};

// In the order in which a reader is told.
enum class JobFindingKind {
    alone,   // few have it, and the others do not
    far_off, // its value is far from what is usual among those that have it
    some,    // some leak or grow there, and others do not
    all,     // all leak or grow there
    held,    // what those had there whose end shows no leaks: they crashed, or were killed
    part,    // some have it, as the stages of a pipeline have their own
};
template <>
struct Words<JobFindingKind> {
    static constexpr format::Word<JobFindingKind> kAll[] = {
        {JobFindingKind::alone, "alone"}, {JobFindingKind::far_off, "far-off"},
        {JobFindingKind::some, "some"},   {JobFindingKind::all, "all"},
        {JobFindingKind::held, "held"},   {JobFindingKind::part, "part"}};
};

// A call place, and the ranks that it is about. Bytes are means over these ranks, of all their
// devices; what is 0 is no part of the finding.
struct JobFinding : CallPlace {
    JobFindingKind kind = JobFindingKind::part;
    format::Memory memory = format::Memory::none;
    std::vector<std::uint32_t> ranks; // JobProcess::number, ascending
    std::uint64_t leaked_bytes = 0;
    std::uint64_t held_bytes =
        0; // at the end, of processes of which nobody knows whether they leak
    std::uint64_t growth_bytes_per_step = 0;
    std::string step; // what that is per; empty: it does not grow
    std::uint64_t at_peak_bytes = 0;
    bool leaked_differs = false; // among these ranks: the mean is then nobody's
    bool held_differs = false;
    bool growth_differs = false;
    bool at_peak_differs = false;
    std::uint64_t usual_bytes = 0; // far_off: the median of those that have it
    bool of_whole_peaks = false;   // far_off: not of a place, but of what a device had at its peak
};
template <>
struct Fields<JobFinding> {
    static constexpr const char* kName = "job_finding";
    static constexpr auto kAll = joined(
        FieldList{
            Field{"kind", &JobFinding::kind,
                  "alone: few ranks have it, and the others do not. far-off: its value is far from "
                  "the median of those that have it. some: some leak or grow there, and others do "
                  "not. all: all do. held: what ranks had there that crashed or were killed, or of "
                  "which events are missing. part: some have it, as the stages of a pipeline have "
                  "their own."},
            Field{"ranks", &JobFinding::ranks, "Numbers of processes, ascending."}.not_empty(),
            kFingerprint,
            Field{"api", &CallPlace::api, "Empty: it is of no place, but of whole peaks."},
            Field{"memory", &JobFinding::memory},
            Field{"leaked_bytes", &JobFinding::leaked_bytes,
                  "This and the next three: the mean of these ranks; 0: no part of the finding."},
            Field{"held_bytes", &JobFinding::held_bytes,
                  "At the end of processes whose verdict is inconclusive: it may be no leak."}
                .since(3),
            Field{"growth_bytes_per_step", &JobFinding::growth_bytes_per_step},
            Field{"step", OrNull{&JobFinding::step}, "What that is per, as of a process."}.since(3),
            Field{
                "at_peak_bytes", &JobFinding::at_peak_bytes,
                "When the most was allocated on the device. alone and part tell it by itself only "
                "where no other rank has the place."},
            Field{"usual_bytes", &JobFinding::usual_bytes,
                  "far-off: the median of those that have it; else 0."},
        },
        kStackFrames);
};

struct JobHeadroom {
    std::uint32_t rank = 0;
    std::int32_t device = -1;
    std::uint64_t total_bytes = 0;
    std::uint64_t peak_bytes = 0;              // reserved
    std::uint64_t growth_bytes_per_second = 0; // of what is proven to grow; 0: nothing is
    bool grows_unknown = false;                // something grows, and how fast is not known

    std::uint64_t free_bytes() const noexcept
    {
        return total_bytes - (peak_bytes < total_bytes ? peak_bytes : total_bytes);
    }
    std::optional<std::uint64_t> full_after_ns() const noexcept
    {
        if (growth_bytes_per_second == 0)
            return std::nullopt;
        const double ns =
            static_cast<double>(free_bytes()) * 1e9 / static_cast<double>(growth_bytes_per_second);
        return ns < 9e18 ? static_cast<std::uint64_t>(ns) : INT64_MAX;
    }
};
template <>
struct Fields<JobHeadroom> {
    static constexpr const char* kName = "headroom";
    static constexpr FieldList kAll{
        Field{"rank", &JobHeadroom::rank},
        Field{"device", Ordinal{&JobHeadroom::device}},
        Field{"total_bytes", &JobHeadroom::total_bytes},
        Field{"peak_reserved_bytes", &JobHeadroom::peak_bytes},
        Field{"free_bytes", &JobHeadroom::free_bytes},
        Field{"growth_bytes_per_second", OrNull{&JobHeadroom::growth_bytes_per_second},
              "Of its call places that grow; null: none is proven to, or how fast is not known."}
            .since(2),
        Field{"full_after_ns", &JobHeadroom::full_after_ns,
              "How long what is free lasts at that rate."}
            .since(2),
    };
};

struct Job {
    Verdict verdict = Verdict::inconclusive;
    std::vector<std::string> reasons; // why it is inconclusive
    std::string name;                 // as the batch system has it; empty: not known
    std::string program;              // of the first process
    bool ranked = true;               // numbers are ranks
    std::uint32_t world_size = 0;     // 0: nobody said it
    std::vector<std::uint32_t> missing;
    std::vector<std::string> unread;       // files that could not be read, and why
    std::vector<JobProcess> processes;     // by number
    std::vector<JobOutsider> without_rank; // where others have one
    std::vector<JobEnd> ends;              // what crashed or failed first comes first
    std::vector<JobHeadline> headlines;    // what hurts most first
    std::vector<JobFinding> findings;      // by kind, and in each the largest first
    std::vector<JobHeadroom> headroom;     // the least first, three at most
    // Of all devices; none where nothing grows, or where one grows and nobody knows how fast.
    std::optional<JobHeadroom> runs_out_first{};
    std::uint64_t places = 0; // call places, over all processes

    const char* noun(std::uint64_t count) const noexcept // "ranks", "process"
    {
        return ranked ? (count == 1 ? "rank" : "ranks") : (count == 1 ? "process" : "processes");
    }
};
template <>
struct Fields<Job> {
    static constexpr const char* kName = "job";
    static constexpr unsigned kMinorVersion = 3;
    static constexpr FieldList kAll{
        Field{"verdict", &Job::verdict,
              "About leaks. Never clean where a rank is missing, cut, crashed or failed."},
        Field{"verdict_reasons", &Job::reasons}.lines(),
        Field{"name", OrNull{&Job::name}, "As the batch system, or else the launcher, has it."},
        Field{"program", OrNull{&Job::program}},
        Field{"ranked", &Job::ranked, "Numbers of processes are ranks."},
        Field{"world_size", OrNull{&Job::world_size}},
        Field{"missing", &Job::missing, "Ranks that nothing was found of."},
        Field{"unread", &Job::unread, "Files that could not be read, and why."}.lines(),
        Field{"processes", &Job::processes, "By number."},
        Field{"without_rank", &Job::without_rank,
              "Processes that have no rank where others have one, as a launcher: they are compared "
              "with none."}
            .since(3),
        Field{"ends", &Job::ends,
              "Of processes that failed or whose verdict is inconclusive, by how they ended: what "
              "crashed or failed first comes first."}
            .since(1),
        Field{"headlines", &Job::headlines,
              "What reports of ranks tell that is of no call place in findings, what hurts most "
              "first."}
            .since(3),
        Field{"findings", &Job::findings, "By kind, and in each the largest first."},
        Field{"headroom", &Job::headroom, "The least first."}.rows_at_most(3),
        Field{"runs_out_first", &Job::runs_out_first,
              "The device of a process that is full first at the rate that it grows by; null: none "
              "is proven to grow, or how fast one does is not known."}
            .since(2),
        Field{"places", &Job::places, "Call places that allocated, over all processes."},
    };
};

} // namespace vramscope::report
