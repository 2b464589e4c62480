// tools/simgpu/driver/base/settings.cpp — parse the environment of the simulated GPU.
#include "tools/simgpu/driver/base/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "tracker/format/size_text.hpp"
#include "tracker/format/terminal_text.hpp"

namespace simgpu {
namespace {

constexpr unsigned kMostDevices = 16;
constexpr std::size_t kLeastBytes = std::size_t{16} << 20;
constexpr std::size_t kMostDeviceBytes = std::size_t{2} << 40;
constexpr std::chrono::microseconds kUsualDelay{100};

const char* value_of(const char* name)
{
    const char* value = std::getenv(name);
    return value && *value ? value : nullptr;
}

std::optional<std::uint64_t> take_number(std::string_view& text)
{
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc())
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

std::chrono::microseconds microseconds(const char* name, std::chrono::microseconds usual)
{
    const char* value = value_of(name);
    if (!value)
        return usual;
    std::string_view text = value;
    const auto number = take_number(text);
    if (number && text.empty() && *number <= 3'600'000'000)
        return std::chrono::microseconds(*number);
    complain("%s is '%s'; write microseconds, at most an hour; using %lld", name, value,
             static_cast<long long>(usual.count()));
    return usual;
}

} // namespace

void complain(const char* format, ...)
{
    char text[1024];
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    vramscope::format::copy_terminal_safe(text, line, sizeof line);
    std::fprintf(stderr, "simgpu: %s\n", line);
}

std::optional<DeviceSetting> parse_devices(std::string_view text)
{
    std::uint64_t count = 1;
    if (const std::size_t x = text.find('x'); x != text.npos) {
        std::string_view number = text.substr(0, x);
        count = take_number(number).value_or(0);
        if (!number.empty() || count == 0 || count > kMostDevices)
            return std::nullopt;
        text.remove_prefix(x + 1);
    }
    const std::optional<std::uint64_t> bytes = vramscope::format::read_size(text);
    if (!bytes || *bytes < kLeastBytes || *bytes > kMostDeviceBytes)
        return std::nullopt;
    return DeviceSetting{static_cast<unsigned>(count), *bytes};
}

std::optional<DeviceSetting> device_setting()
{
    const char* value = value_of("VRAMSCOPE_SIMULATE");
    const auto setting = parse_devices(value ? value : "24GiB");
    if (!setting)
        complain("VRAMSCOPE_SIMULATE is '%s'; write a size from 16MiB to 2TiB, with up to 16 "
                 "devices: 24GiB or 2x80GiB",
                 value);
    return setting;
}

std::vector<FaultSetting> fault_settings()
{
    std::vector<FaultSetting> faults;
    const char* value = value_of("VRAMSCOPE_SIM_FAULTS");
    std::string_view rest = value ? value : "";
    while (!rest.empty()) {
        const std::string_view item = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), item.size() + 1));
        const auto at = item.find('@');
        std::string_view tail = at == std::string_view::npos ? "" : item.substr(at + 1);
        std::optional<std::uint64_t> nth;
        if (!tail.empty() && tail[0] == '*') {
            nth = 0;
            tail.remove_prefix(1);
        } else {
            nth = take_number(tail);
        }
        const bool equals = !tail.empty() && tail[0] == '=';
        tail.remove_prefix(equals ? 1 : 0);
        const auto code = take_number(tail);
        if (!nth || !equals || !code || *code > 999 || !tail.empty()) {
            complain("VRAMSCOPE_SIM_FAULTS: '%.*s' is not NAME@CALL=CODE, for example "
                     "cuMemAlloc_v2@3=2",
                     static_cast<int>(item.size()), item.data());
            continue;
        }
        faults.push_back({std::string(item.substr(0, at)), *nth, static_cast<int>(*code)});
    }
    return faults;
}

std::optional<int> parse_version(std::string_view text)
{
    constexpr std::uint64_t kOldest = 11030; // the first with cuGetProcAddress
    const auto major = take_number(text);
    if (!major || *major > 99 || text.empty() || text[0] != '.')
        return std::nullopt;
    text.remove_prefix(1);
    const auto minor = take_number(text);
    if (!minor || *minor > 9 || !text.empty() || *major * 1000 + *minor * 10 < kOldest)
        return std::nullopt;
    return static_cast<int>(*major * 1000 + *minor * 10);
}

int cuda_version(int newest)
{
    const char* value = value_of("VRAMSCOPE_SIM_CUDA");
    if (!value)
        return newest;
    const auto version = parse_version(value);
    if (version && *version <= newest)
        return *version;
    complain("VRAMSCOPE_SIM_CUDA is '%s'; write a version from 11.3 to %d.%d", value, newest / 1000,
             newest % 1000 / 10);
    return newest;
}

namespace {

constexpr std::pair<std::string_view, std::size_t ObjectBytes::*> kObjects[] = {
    {"context", &ObjectBytes::context},
    {"stream", &ObjectBytes::stream},
    {"module", &ObjectBytes::module},
    {"library", &ObjectBytes::library},
    {"graph_node", &ObjectBytes::graph_node},
    {"limit", &ObjectBytes::limit},
    {"first_launch", &ObjectBytes::first_launch},
};

ObjectBytes read_object_bytes()
{
    ObjectBytes bytes;
    const char* value = value_of("VRAMSCOPE_SIM_TAKES");
    std::string_view rest = value ? value : "";
    while (!rest.empty()) {
        const std::string_view item = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), item.size() + 1));
        const std::size_t equals = std::min(item.find('='), item.size());
        const auto size =
            vramscope::format::read_size(item.substr(std::min(equals + 1, item.size())));
        bool known = false;
        for (const auto& [name, member] : kObjects)
            if (size && item.substr(0, equals) == name) {
                bytes.*member = *size;
                known = true;
            }
        if (!known)
            complain("VRAMSCOPE_SIM_TAKES: '%.*s' is not OBJECT=SIZE, for example context=512MiB",
                     static_cast<int>(item.size()), item.data());
    }
    return bytes;
}

} // namespace

const ObjectBytes& object_bytes()
{
    static const ObjectBytes bytes = read_object_bytes();
    return bytes;
}

std::size_t neighbour_bytes()
{
    static const std::size_t bytes = [] {
        const char* const value = value_of("VRAMSCOPE_SIM_NEIGHBOUR");
        const auto size = value ? vramscope::format::read_size(value) : 0;
        if (!size)
            complain("VRAMSCOPE_SIM_NEIGHBOUR is '%s'; write a size, for example 256MiB", value);
        return static_cast<std::size_t>(size.value_or(0));
    }();
    return bytes;
}

const char* trace_path()
{
    return value_of("VRAMSCOPE_SIM_TRACE");
}

std::chrono::microseconds work_delay()
{
    return microseconds("VRAMSCOPE_SIM_DELAY_US", kUsualDelay);
}

std::chrono::microseconds allocation_time()
{
    return microseconds("VRAMSCOPE_SIM_ALLOC_US", std::chrono::microseconds{0});
}

std::chrono::microseconds free_time()
{
    return microseconds("VRAMSCOPE_SIM_FREE_US", std::chrono::microseconds{0});
}

std::chrono::microseconds info_time()
{
    return microseconds("VRAMSCOPE_SIM_INFO_US", std::chrono::microseconds{0});
}

} // namespace simgpu
