// report/symbols/name_store.hpp — where names of modules are kept from one reading to the next.
#pragma once

#include <string>
#include <string_view>

namespace vramscope::report {

// What it gives back is not trusted.
class NameStore {
public:
    virtual ~NameStore() = default;

    virtual std::string find(const std::string& build_id) = 0; // empty: there is nothing
    virtual void keep(const std::string& build_id, std::string_view names) = 0;
};

} // namespace vramscope::report
