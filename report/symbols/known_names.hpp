// report/symbols/known_names.hpp — the names of a module's code that were asked for, as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "report/model/call_place.hpp"

namespace vramscope::report {

class KnownNames {
public:
    // Nothing for what is damaged, in any bit, or of another version.
    static std::optional<KnownNames> read(std::string_view bytes);
    std::string bytes() const;

    // The frames there, without module, build-id and offset; nullptr: it was not asked for.
    const std::vector<Frame>* find(std::uint64_t vaddr) const;
    void add(std::uint64_t vaddr, const std::vector<Frame>& frames);

    // Whether something was added since they were read.
    bool changed() const noexcept { return changed_; }

    // Where the file has no debug information: the file that it says to have it, if any. Such names
    // are no longer the best ones once that file is there.
    bool from_symbols_alone = false;
    std::string debug_link{};

private:
    static constexpr std::size_t kMostPlaces = 100'000;

    std::unordered_map<std::uint64_t, std::vector<Frame>> places_;
    bool changed_ = false;
};

} // namespace vramscope::report
