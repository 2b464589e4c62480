// report/replay/misuse.hpp — what became of the addresses that were freed wrongly.
//
// It follows these addresses alone, in a second reading of the log; or all, where there is no
// second one: see WrongFrees.
//
// Memory grows with those addresses and with stacks, not with events: of each key space it keeps
// the last blocks that cover a followed address: see AddressPast. Where all are followed, what
// ended long ago is forgotten, and then called unknown.
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
#include "report/replay/address_past.hpp"
#include "report/replay/heap/failed_calls.hpp"

namespace vramscope::report {

inline constexpr std::uint64_t kNoApi = ~std::uint64_t{0};

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
    // `tables`: as the first reading left them. `complete`: no event is missing.
    MisuseReplay(const LogTables& tables, const std::unordered_set<std::uint64_t>& addresses,
                 bool complete);
    // Follows all.
    explicit MisuseReplay(const LogTables& tables) : tables_(tables) {}

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
    struct Context {
        std::uint64_t handle = 0;
        std::uint64_t deaths = 0;
        LoggedCall death;
    };
    struct Found {
        const BlockLife& life;
        LoggedCall ended; // ticks 0: alive
        bool with_context;
        bool own_space;
    };

    void allocate(const Record& record, const Api& api);
    void free(const Record& record, format::KeySpace space);
    void map(const Record& record);
    void unmap(const Record& record);
    void retain(const Record& record);
    void context_gone(const Record& record);
    bool refuse(const Record& record, const Api& api);
    AddressPast& past(format::KeySpace space);
    void finish(AddressPast& past, BlockLife& life, LoggedCall by);
    const LoggedCall* death_of(const BlockLife& life) const;
    std::optional<Found> find(format::KeySpace wanted, std::uint64_t address) const;

    LoggedMisuse judge(format::KeySpace space, std::uint64_t address) const;

    const LogTables& tables_;
    FollowedAddresses followed_;
    bool complete_ = true; // no event is missing, and of what ended nothing was forgotten
    std::array<AddressPast, std::size(format::kKeySpaces)> spaces_;
    std::unordered_map<std::uint64_t, Context> contexts_; // keyed by context id
    using Key = std::tuple<MisuseKind, std::uint64_t, format::Memory, std::uint64_t, std::uint64_t,
                           std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
    std::map<Key, LoggedMisuse> misuses_;
    const LoggedMisuse* latest_ = nullptr;
};

} // namespace vramscope::report
