// report/json/write.cpp — the values without parts, and the places that they are written to.
#include "report/json/write.hpp"

#include "report/words/file_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {

Json& member_of(Json& object, std::string_view name)
{
    return object[std::string(name)];
}

Json& row_of(Json& list)
{
    return list.emplace_back();
}

void write_text(Json& to, std::string_view text)
{
    to = std::string(text);
}

void write_hex(Json& to, std::uint64_t number)
{
    to = fmt::format("{:#x}", number);
}

void write_hex_digits(Json& to, std::string_view bytes)
{
    if (!bytes.empty())
        to = hex_digits(bytes);
}

void write_flag(Json& to, bool value)
{
    to = value;
}

void write_count(Json& to, std::uint64_t value)
{
    to = value;
}

void write_integer(Json& to, std::int64_t value)
{
    to = value;
}

void write_number(Json& to, double value)
{
    to = value;
}

void write_notices(Json& to, const Notices& notices)
{
    to = *notices.lines;
    for (const UnreadFile& file : *notices.files)
        to.push_back(notice_of(file));
}

} // namespace vramscope::report
