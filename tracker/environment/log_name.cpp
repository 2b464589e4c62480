// tracker/environment/log_name.cpp — one part after the other.
#include "tracker/environment/log_name.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <unistd.h>

#include "tracker/environment/rank.hpp"

namespace vramscope::log {
namespace {

constexpr const char* kNone = "none";

const char* from_environment(const char* name) noexcept
{
    return std::getenv(name);
}

class Name {
public:
    Name(char* out, std::size_t capacity) noexcept : out_(out), capacity_(capacity) {}

    // As the pattern has it.
    void add(char c) noexcept
    {
        if (used_ + 1 < capacity_)
            out_[used_++] = c;
        else
            fits_ = false;
    }

    // Of a program, a host or a variable: it may hold anything, and is no folder.
    void add_foreign(std::string_view text) noexcept
    {
        const bool dots = text == "." || text == "..";
        for (const char c : text)
            add(c == '/' || dots || static_cast<unsigned char>(c) < ' ' ? '_' : c);
    }

    bool finish() noexcept
    {
        if (capacity_ > 0)
            out_[used_] = '\0';
        return fits_ && used_ > 0;
    }

private:
    char* out_;
    std::size_t capacity_;
    std::size_t used_ = 0;
    bool fits_ = true;
};

void add_host(Name& name) noexcept
{
    char host[256];
    if (::gethostname(host, sizeof host) != 0)
        std::strcpy(host, "localhost");
    host[sizeof host - 1] = '\0';
    name.add_foreign(host);
}

void add_number(Name& name, long long number) noexcept
{
    char digits[24];
    std::snprintf(digits, sizeof digits, "%lld", number);
    name.add_foreign(digits);
}

void add_or_none(Name& name, const char* text) noexcept
{
    name.add_foreign(text && *text ? text : kNone);
}

// `at`: behind the q. Returns where the pattern goes on, or null: it is not {NAME}.
const char* add_variable(Name& name, const char* at) noexcept
{
    char variable[128];
    const char* const end = *at == '{' ? std::strchr(at, '}') : nullptr;
    const std::size_t length = end ? static_cast<std::size_t>(end - at - 1) : 0;
    if (length == 0 || length >= sizeof variable)
        return nullptr;
    std::memcpy(variable, at + 1, length);
    variable[length] = '\0';
    add_or_none(name, from_environment(variable));
    return end + 1;
}

// `at`: behind the %. Returns where the pattern goes on, or null: it means nothing.
const char* add_part(Name& name, const char* at, const LogOwner& owner) noexcept
{
    switch (*at) {
    case '%':
        name.add('%');
        break;
    case 'e':
        name.add_foreign(owner.program);
        break;
    case 'p':
        add_number(name, owner.pid);
        break;
    case 'h':
        add_host(name);
        break;
    case 't':
        add_number(name, std::time(nullptr));
        break;
    case 'r':
        add_or_none(name, find_rank(from_environment).rank);
        break;
    case 'q':
        return add_variable(name, at + 1);
    default:
        return nullptr;
    }
    return at + 1;
}

} // namespace

bool expand_log_name(const char* pattern, const LogOwner& owner, char* out,
                     std::size_t capacity) noexcept
{
    Name name(out, capacity);
    while (*pattern) {
        if (*pattern != '%') {
            name.add(*pattern++);
            continue;
        }
        pattern = add_part(name, pattern + 1, owner);
        if (!pattern)
            return false;
    }
    return name.finish();
}

} // namespace vramscope::log
