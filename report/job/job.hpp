// report/job/job.hpp — joins processes of one job, and finds what is unusual among them.
//
// The order in which they are added changes nothing. Processes of one rank that ran at the same
// time on one host, or of which one started the other, are that rank; one that is added twice is
// one. A value is far off where it lies more than six robust standard deviations from the median of
// those that have the place, of which there are five at least, and a quarter of them at most lies
// on that side of it; with fewer, only what one has and the others have not is told. There are no
// probabilities.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "report/job/far_off.hpp"
#include "report/job/rank_process.hpp"
#include "report/job/reduced_table.hpp"
#include "report/model/job.hpp"

namespace vramscope::report {

// Memory goes with call places, and with 32 bytes for each place of a process.
class JobJoin {
public:
    // `file` is what it was read from; empty: not known.
    void add(const ReducedProcess& process, const std::string& file = {});
    // A file that could not be read, and why: its process is missing.
    void add_unread(std::string why) { job_.unread.push_back(std::move(why)); }

    Job finish(); // once

private:
    // What one rank has of a place, on all its devices.
    struct Share {
        std::size_t process;
        std::uint64_t leaked = 0;
        std::uint64_t held = 0; // the same where it may be no leak
        std::uint64_t growth = 0;
        std::uint64_t at_peak = 0;
    };
    struct Place {
        CallPlace place;
        std::string step;          // what its growth is per, on all processes
        std::vector<Share> shares; // by process
    };
    struct Member {
        JobProcess about;
        std::optional<std::uint32_t> rank;
        std::uint32_t world_size;
        RankProcess process; // the first of them, where it has several
        std::string job;
        std::string program;
        std::string file;
        std::vector<JobHeadroom> headroom; // of its devices
        std::vector<Headline> headlines;
        std::vector<std::size_t> added; // how many were added before each of its processes
        std::uint64_t kind = 0;         // the places that it has, as one number
    };
    using Key = std::pair<std::string, format::Memory>; // CallPlace::key(): ranks run one program

    void leave_out_copies();
    void leave_out_unranked();
    void number_processes();
    void add_row(Member& rank);
    std::size_t take_rank(std::size_t first, std::size_t end);
    static void merge(Member& one, const Member& other);
    static void add_step(std::string& step, const std::string& another);
    void look_for_jobs(const std::map<std::uint32_t, std::size_t>& times);
    void look_for_missing();
    void add_reasons(const std::vector<std::string>& of_ranks);
    static std::pair<std::string, std::string> told_apart(const Member& one, const Member& other);
    void number_shares(std::size_t added);
    void judge();
    void judge_outsiders();
    struct ValueKind {
        std::uint64_t Share::*of_share;
        std::uint64_t JobFinding::*bytes;
        bool JobFinding::*differs;
    };
    static const ValueKind kAtPeak;
    static const ValueKind kValues[4];
    void find_in(const Place& place, format::Memory memory);
    std::vector<JobFinding> far_off_in(const Values& values, const ValueKind& value);
    void find_far_peaks();
    void find_headlines();
    void find_headroom();
    std::vector<std::uint32_t> numbers_of(const std::vector<std::size_t>& processes) const;
    JobFindingKind kind_of(const JobFinding& finding, std::size_t processes) const;
    bool is_rare(std::size_t processes) const;
    bool is_odd(const std::vector<std::size_t>& processes, const Values& values) const;

    std::vector<Member> processes_;
    std::map<Key, Place> places_;
    std::set<std::size_t> stages_; // processes that have another value at a place, as a part has
    Job job_;
};

} // namespace vramscope::report
