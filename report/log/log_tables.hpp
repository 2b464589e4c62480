// report/log/log_tables.hpp — what a log defines once and its events then name by number.
//
// Entry points, stacks, modules, threads, devices, facts about the run. Numbers in a log may be
// hostile: those out of bounds are counted as undefined and dropped. What is kept grows with the
// number of definitions.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "report/log/chunk_cursor.hpp"
#include "report/symbols/symbolizer.hpp"

namespace vramscope::report {

struct Api {
    bool defined = false;
    format::Effect effect = format::Effect::none;
    format::Memory memory = format::Memory::none;
    std::string name; // the driver's symbol: cuMemAlloc_v2
    std::uint64_t events = 0;
};

// There may be millions, of which few are ever shown: what it consists of stays as the log has it.
struct LoggedStack {
    std::string coded; // native frames or, of_python, functions of Python
    std::uint32_t count = 0;
    bool of_python = false;
    bool truncated = false;
    bool leaf = false;                   // the origin of a leaf tensor's gradient
    bool placed = false;                 // the native frames of functions of Python are known
    std::uint64_t known_since_ticks = 0; // its modules were there by then

    // With functions of Python: the stack whose addresses these lie between. With an origin: the
    // stack of what ran. It may be defined later than this one. 0: there is none.
    std::uint64_t inner = 0;
    std::uint64_t origin = 0; // the stack that made the autograd node; 0: none

    // Both innermost first.
    std::vector<std::uint64_t> addresses() const; // that its calls return to
    std::vector<format::PythonFrame> python() const;
};

struct LoggedPythonCode {
    format::LineTable table = format::LineTable::locations;
    std::uint64_t first_line = 0;
    std::string file;
    std::string name;
    std::string lines;
};

inline constexpr std::string_view kNamesNotice = "names.notice"; // key of such an info

// What the log itself says of an address of a module.
struct LoggedFrames {
    std::vector<Frame> frames; // innermost first, without module and build-id
    bool no_unwind_table = false;
};

struct LoggedThread {
    std::uint32_t tid = 0;
    std::string name;
};

struct LoggedDevice {
    std::int32_t ordinal = 0;
    std::uint64_t bytes = 0;
    std::string name;
};

struct Module {
    std::uint64_t number = 0;
    std::uint64_t load_bias = 0;
    std::uint64_t first = 0; // addresses [first, end)
    std::uint64_t end = 0;
    std::uint64_t loaded_ticks = 0;
    std::uint64_t gone_ticks = UINT64_MAX;
    ModuleId id;
};

class LogTables {
public:
    // Another thread's records may name an entry point before its definition is read. find_api()
    // then asks `find_apis`, once, to define all that the log has.
    using FindApis = std::function<void(LogTables&)>;

    LogTables() = default;
    explicit LogTables(FindApis find_apis) : find_apis_(std::move(find_apis)) {}

    // True if the record was one of these definitions.
    bool define(const Record& record);

    Api* api(std::uint64_t id) noexcept // nullptr if not defined
    {
        return is_defined(id) ? &apis_[id] : nullptr;
    }
    bool is_defined(std::uint64_t id) const noexcept
    {
        return id < apis_.size() && apis_[id].defined;
    }
    Api* find_api(std::uint64_t id) // nullptr if the log does not define it
    {
        Api* const known = api(id);
        return known || !find_apis_ ? known : look_ahead_for(id);
    }
    const std::vector<Api>& apis() const noexcept { return apis_; }
    const LoggedStack* stack(std::uint64_t id) const noexcept;
    const std::unordered_map<std::uint64_t, LoggedStack>& stacks() const noexcept
    {
        return stacks_;
    }
    const LoggedPythonCode* python_code(std::uint64_t id) const noexcept;
    LoggedThread thread(std::uint32_t index) const;
    // nullptr: the log says nothing of it.
    const LoggedFrames* frames(const Module& module, std::uint64_t offset) const noexcept;

    // The module that was at this address at this time, else the one nearest in time; nullptr if no
    // module was ever there.
    const Module* module_at(std::uint64_t address, std::uint64_t ticks) const noexcept;

    const Module*
    module_with_path(std::string_view path) const noexcept; // the first; nullptr: none

    const std::deque<Module>& modules() const noexcept { return modules_; } // also those gone
    const std::vector<LoggedDevice>& devices() const noexcept { return devices_; }
    const std::vector<std::pair<std::string, std::string>>& info() const noexcept { return info_; }
    std::string_view info_value(std::string_view key) const noexcept; // empty: the log has none
    // What is to be known of the frames that the log names.
    const std::vector<std::string>& names_notices() const noexcept { return names_notices_; }
    std::uint64_t undefined() const noexcept
    {
        return undefined_;
    } // definitions that made no sense

    auto state() noexcept
    {
        return std::tie(apis_, stacks_, python_codes_, frames_, threads_, modules_, loaded_,
                        devices_, info_, names_notices_, undefined_);
    } // see report/checkpoint
    bool rebuild();

private:
    Api* look_ahead_for(std::uint64_t id);
    template <typename R>
    bool take(const Record& record);
    // False: it makes no sense.
    bool add(const format::Info& info, std::uint64_t ticks);
    bool add(const format::Api& api, std::uint64_t ticks);
    bool add(const format::Thread& thread, std::uint64_t ticks);
    bool add(const format::Stack& stack, std::uint64_t ticks);
    bool add(const format::PythonCode& code, std::uint64_t ticks);
    bool add(const format::PythonStack& stack, std::uint64_t ticks);
    bool add(const format::FrameName& frame, std::uint64_t ticks);
    bool add(const format::Device& device, std::uint64_t ticks);
    bool add(const format::ModuleLoaded& module, std::uint64_t ticks);
    bool add(const format::ModuleGone& gone, std::uint64_t ticks);

    FindApis find_apis_;
    std::vector<Api> apis_;
    std::unordered_map<std::uint64_t, LoggedStack> stacks_;
    std::unordered_map<std::uint64_t, LoggedPythonCode> python_codes_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, LoggedFrames> frames_; // module, offset
    std::unordered_map<std::uint32_t, LoggedThread> threads_;
    std::deque<Module> modules_;                            // whose addresses stay
    std::unordered_map<std::uint64_t, std::size_t> loaded_; // number of a module -> its index
    std::vector<LoggedDevice> devices_;
    std::vector<std::pair<std::string, std::string>> info_;
    std::vector<std::string> names_notices_;
    std::uint64_t undefined_ = 0;
};

} // namespace vramscope::report
