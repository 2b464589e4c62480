// interpose/pool/epochs.hpp — when freed memory may be handed out again. One for the process.
//
// A domain is a context whose work may touch pooled memory. What was freed with stamp s has passed
// when every domain was synchronised by a synchronisation that began after the free. There are no
// locks: stamps and answers are loads; the rest is as rare as synchronisations are.
//
// stamp_free() is to be called after an atomic read-modify-write of the caller (the pool's lock):
// work queued before the free must not be seen later than the stamp is taken.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace vramscope::pool {

class Epochs {
public:
    static constexpr int kMostDomains = 256;

    std::uint64_t now() const noexcept { return 1 + begun_.load(); }
    // The stamp of memory that is freed now.
    std::uint64_t stamp_free() noexcept
    {
        const std::uint64_t stamp = now();
        std::uint64_t newest = newest_free_.load(std::memory_order_relaxed);
        while (newest < stamp &&
               !newest_free_.compare_exchange_weak(newest, stamp, std::memory_order_relaxed)) {
        }
        return stamp;
    }
    // Whether a synchronisation that begins now could let anything pass. A free of another thread
    // that is not seen yet has not happened before it, and waits for the next.
    bool any_pending() const noexcept
    {
        return newest_free_.load(std::memory_order_relaxed) > safe();
    }
    bool passed(std::uint64_t stamp) const noexcept { return stamp <= safe(); }
    // The greatest stamp that has passed; it never goes back.
    std::uint64_t safe() const noexcept { return safe_.load(std::memory_order_acquire); }

    // Never synchronised yet: what is pending waits for it too. -1: the table is full, and since
    // that context is not watched nothing more will ever pass.
    int add_domain() noexcept
    {
        for (unsigned slot = 0; slot < kMostDomains; ++slot) {
            std::uint64_t word = domains_[slot].load();
            if (!(word & kSynced) && domains_[slot].compare_exchange_strong(word, word | 1))
                return static_cast<int>(slot | generation_of(word) << kSlotBits);
        }
        overflowed_.store(true);
        return -1;
    }

    // The context of the domain is gone, and can touch nothing any more.
    void remove_domain(int domain) noexcept
    {
        std::uint64_t word = word_of(domain);
        while (is(domain, word)) {
            const std::uint64_t vacant = ((generation_of(word) + 1) & kGenerations) << kSyncedBits;
            if (slot_of(domain).compare_exchange_weak(word, vacant)) {
                advance();
                return;
            }
        }
    }

    // Before a synchronisation starts: what is freed from now on is stamped later than the answer.
    std::uint64_t begin() noexcept { return 1 + begun_.fetch_add(1); }

    // The synchronisation that began at `t` succeeded for this domain. True: more has passed now.
    // Once every domain was told of it, what was freed before `t` has passed: even if another
    // thread told of a later one, and has not come as far as to advance.
    bool ended(int domain, std::uint64_t t) noexcept
    {
        std::uint64_t word = word_of(domain);
        do {
            if (!is(domain, word))
                return false;
        } while (synced_of(word) < t &&
                 !slot_of(domain).compare_exchange_weak(word, (word & ~kSynced) | (t + 1)));
        return advance();
    }

private:
    // A slot: its tenant's number above, the last synchronisation plus one below; vacant if that
    // is 0. The number keeps a late ended() of a context from its slot's next tenant.
    static constexpr unsigned kSyncedBits = 48, kSlotBits = 8;
    static constexpr std::uint64_t kSynced = (std::uint64_t{1} << kSyncedBits) - 1;
    static constexpr std::uint64_t kGenerations = 0x7fff;

    static std::uint64_t generation_of(std::uint64_t word) noexcept { return word >> kSyncedBits; }
    static std::uint64_t synced_of(std::uint64_t word) noexcept { return (word & kSynced) - 1; }
    static bool is(int domain, std::uint64_t word) noexcept
    {
        return domain >= 0 && (word & kSynced) &&
               generation_of(word) == static_cast<std::uint64_t>(domain) >> kSlotBits;
    }
    std::atomic<std::uint64_t>& slot_of(int domain) noexcept
    {
        return domains_[static_cast<unsigned>(domain) % kMostDomains];
    }
    std::uint64_t word_of(int domain) noexcept { return slot_of(domain).load(); }

    // Domains only ever move on, so that a minimum taken one by one is never too great. One that
    // is added meanwhile has queued nothing that a free before this synchronisation's begin knew.
    bool advance() noexcept
    {
        std::uint64_t least = ~std::uint64_t{0};
        for (const auto& slot : domains_) {
            const std::uint64_t word = slot.load();
            if ((word & kSynced) && synced_of(word) < least)
                least = synced_of(word);
        }
        if (least == ~std::uint64_t{0} || overflowed_.load())
            return false;
        std::uint64_t before = safe_.load();
        while (before < least) {
            if (safe_.compare_exchange_weak(before, least))
                return true;
        }
        return false;
    }

    alignas(64) std::atomic<std::uint64_t> begun_{0};
    alignas(64) std::atomic<std::uint64_t> newest_free_{0}; // the stamp of the newest free
    alignas(64) std::atomic<std::uint64_t> safe_{0};
    alignas(64) std::array<std::atomic<std::uint64_t>, kMostDomains> domains_{};
    std::atomic<bool> overflowed_{false};
};

} // namespace vramscope::pool
