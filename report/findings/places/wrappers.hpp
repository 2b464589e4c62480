// report/findings/places/wrappers.hpp — functions of the program's that allocate for others.
//
// Most C++ allocates through a class or a function of its own. Where the call stacks of several
// functions part above one that allocates in one line or two, its name tells a reader nothing: what
// called it is told in its place. Instances of one template are one function here.
#pragma once

#include <cstddef>
#include <map>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "report/model/call_place.hpp"

namespace vramscope::report {

class Wrappers {
public:
    static constexpr std::size_t kLeastCallers = 3; // functions
    static constexpr std::size_t kMostLines = 2;    // in which it allocates

    // Functions of which a part of the name matches one of these are wrappers, whoever calls them.
    // Throws std::regex_error.
    explicit Wrappers(const std::vector<std::string>& expressions = {});

    // A call stack that allocates.
    void see(const CallPlace& place);
    // After the last one. Wrappers of wrappers are found too.
    void judge();

    // The index of the innermost frame of the program's own code that is no wrapper.
    std::size_t own_frame(const CallPlace& place) const;

private:
    struct Call {
        std::string function;
        int line = 0;
    };
    using Chain = std::vector<Call>;              // innermost first
    static constexpr std::size_t kMostFrames = 8; // of a stack, from its innermost own one

    std::string name_of(const Frame& frame) const; // empty: not known
    bool is_wrapper(const Frame& frame) const;
    bool add_found();
    static std::size_t shared_frames(const std::vector<std::span<const Call>>& stacks);

    std::vector<Chain> chains_;
    std::set<std::string> wrappers_;
    std::vector<std::regex> expressions_;
    // By the function's whole name.
    mutable std::map<std::string, bool> matched_;
    mutable std::unordered_map<std::string, std::string> bare_names_;
};

} // namespace vramscope::report
