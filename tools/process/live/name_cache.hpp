// tools/process/live/name_cache.hpp — names of functions and lines, in the user's cache.
//
// All ranks of a job run one program: the first of them reads its debug information, and the others
// what it found.
#pragma once

#include <string>
#include <string_view>

#include "report/symbols/name_store.hpp"
#include "tools/process/live/user_cache.hpp"

namespace vramscope {

class NameCache final : public report::NameStore {
public:
    NameCache();

    std::string find(const std::string& build_id) override;
    void keep(const std::string& build_id, std::string_view names) override;

private:
    UserCache files_;
};

} // namespace vramscope
