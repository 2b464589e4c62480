// report/replay/misuse.hpp — what became of the addresses that were freed wrongly.
//
// It follows these addresses alone, in a second reading of the log; or all, where there is no
// second one: see WrongFrees.
//
// Memory grows with those addresses and with stacks, not with events: of each key space it keeps
// the last blocks that cover a followed address, alive or ended, which do not overlap. Where all
// are followed, the kMostEnded that ended last are kept; what is older is called unknown.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "report/log/log_reader.hpp"
#include "report/log/log_tables.hpp"
#include "report/model/misuse.hpp"
#include "report/replay/heap/failed_calls.hpp"

namespace vramscope::report {

inline constexpr std::uint64_t kNoApi = ~std::uint64_t{0};

// A call that a stack is known of.
struct LoggedCall {
    std::uint64_t api = 0;
    std::uint64_t stack = 0; // 0: none
    std::uint64_t ticks = 0; // 0: there was no such call
};

struct LoggedMisuse : MisuseNumbers {
    LoggedCall allocation;
    LoggedCall ended; // the free before, or the death of the context
    LoggedCall call;
    std::uint64_t last_ticks = 0;

    auto state() noexcept
    {
        return std::tie(kind, calls, address, offset, bytes, memory, result, allocation, ended,
                        call, last_ticks);
    }
};

class MisuseReplay {
public:
    static constexpr std::size_t kMostEnded = 4096; // of each key space

    // `tables`: as the first reading left them. `complete`: no event is missing.
    MisuseReplay(const LogTables& tables, const std::unordered_set<std::uint64_t>& addresses,
                 bool complete);
    // Follows all.
    explicit MisuseReplay(const LogTables& tables) : tables_(tables), follows_all_(true) {}

    // To be given every record, in order. True: it was a refused free that is no misuse.
    bool apply(const Record& record);
    // What the last record was, with all of its kind; null: no misuse.
    const LoggedMisuse* latest() const noexcept { return latest_; }

    // The block that is, or was, at this address: without memory, if none is known.
    LoggedMisuse block_at(std::uint64_t address) const
    {
        return judge(format::KeySpace::pointer, address);
    }

    // What a free of this address would be, after the last record.
    LoggedMisuse judge(const PendingFree& free) const;

    std::vector<LoggedMisuse> groups() const; // one for each set of stacks

    // See report/checkpoint: of one that follows all.
    auto state() noexcept { return std::tie(complete_, spaces_, contexts_, misuses_); }
    bool rebuild() const; // whether lives are what they can be

private:
    struct Life {
        std::uint64_t end = 0;   // where the piece ends that is left of it
        std::uint64_t start = 0; // where the block starts
        std::uint64_t bytes = 0;
        format::Memory memory = format::Memory::none;
        LoggedCall allocation;
        LoggedCall ended; // ticks 0: it is alive
        std::uint64_t context = 0;
        std::uint64_t context_deaths = 0; // when it was allocated
        std::uint64_t references = 1;
        bool mortal = false; // dies with its context

        bool is_alive() const noexcept { return ended.ticks == 0; }
    };
    // Keyed by their first address; disjoint. What ends stays where it was, as its address is soon
    // given again.
    using Lives = std::map<std::uint64_t, Life>;
    struct Space {
        Lives lives;
        std::size_t ended = 0; // of these
    };
    struct Context {
        std::uint64_t handle = 0;
        std::uint64_t deaths = 0;
        LoggedCall death;
    };
    struct Found {
        const Life& life;
        LoggedCall ended; // ticks 0: alive
        bool with_context;
        bool own_space;
    };

    static const Life* at(const Lives& lives, std::uint64_t address);
    static Life* alive_at(Space& space, std::uint64_t first);
    bool follows(std::uint64_t start, std::uint64_t end) const;
    Lives::iterator clear(Space& space, Lives::iterator at, std::uint64_t start,
                          std::uint64_t end) const;
    void begin(Space& space, std::uint64_t address, std::uint64_t end, Life life);
    void allocate(const Record& record, const Api& api);
    void free(const Record& record, format::KeySpace space);
    void map(const Record& record);
    void unmap(const Record& record);
    void retain(const Record& record);
    void context_gone(const Record& record);
    bool refuse(const Record& record, const Api& api);
    static bool is_sound(const Space& space);
    void forget_oldest(Space& space);
    void finish(Space& space, Life& life, LoggedCall by);
    const LoggedCall* death_of(const Life& life) const;
    std::optional<Found> find(format::KeySpace wanted, std::uint64_t address) const;

    LoggedMisuse judge(format::KeySpace space, std::uint64_t address) const;

    const LogTables& tables_;
    std::vector<std::uint64_t> addresses_; // followed, sorted
    bool follows_all_ = false;
    bool complete_ = true; // no event is missing, and of what ended nothing was forgotten
    std::array<Space, std::size(format::kKeySpaces)> spaces_;
    std::unordered_map<std::uint64_t, Context> contexts_; // keyed by context id
    using Key = std::tuple<MisuseKind, std::uint64_t, format::Memory, std::uint64_t, std::uint64_t,
                           std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
    std::map<Key, LoggedMisuse> misuses_;
    const LoggedMisuse* latest_ = nullptr;
};

} // namespace vramscope::report
