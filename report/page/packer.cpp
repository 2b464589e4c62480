// report/page/packer.cpp — see packer.hpp.
#include "report/page/packer.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

const Json kNothing = nullptr;

// Members that no view reads; with the member that they are in, where others of the name are read.
constexpr std::string_view kUnread[] = {
    "build_id",
    "fingerprint",
    "pattern",
    "schema_version",
    // Drawn from finer spans, and from maps with owners: see drawn.hpp.
    "device_memory.timeline",
    "pool.devices",
    // There may be many in each row, and thread_count has their number; call stacks that leak are
    // drawn by thread.
    "suppressed.threads",
    "unclosed_imports.threads",
    "owners_not_destroyed.threads",
    "graph_memory.threads",
    "reservations.threads",
};

bool is_read(std::string_view parent, std::string_view name)
{
    return std::none_of(std::begin(kUnread), std::end(kUnread), [&](std::string_view unread) {
        const std::size_t dot = unread.find('.');
        return dot == std::string_view::npos
                   ? unread == name
                   : unread.substr(0, dot) == parent && unread.substr(dot + 1) == name;
    });
}

// Objects whose keys are the program's words: such a key is a text, and no name.
bool has_keys_of_program(std::string_view name)
{
    return name == "info" || name == "settings";
}

Json pairs_of(const Json& object)
{
    Json pairs = Json::array();
    for (const auto& [key, value] : object.items())
        pairs.push_back({{"key", key}, {"value", value}});
    return pairs;
}

// Not in the middle of a character.
std::string_view beginning_of(std::string_view text, std::size_t most)
{
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80)
        --most;
    return text.substr(0, most);
}

// Where it has a function, nobody asks for its address: most frames of a function are one then.
bool is_read_of_frame(const Json& frame, const std::string& name)
{
    return is_read("frames", name) && (name != "offset" || frame["function"].is_null());
}

// What makes frames one. There may be very many of them, with long names: no JSON is made for it.
std::string key_of_frame(const Json& frame)
{
    std::string key;
    for (const auto& [name, value] : frame.items()) {
        if (!is_read_of_frame(frame, name))
            continue;
        if (value.is_string()) {
            const auto& text = value.get_ref<const std::string&>();
            key += fmt::format("{}:{}", text.size(), text);
        } else {
            key += value.dump() + ';';
        }
    }
    return key;
}

template <typename Is>
bool any_is(const Json& list, Is is)
{
    return std::any_of(list.begin(), list.end(), is);
}

} // namespace

Json Packer::packed(const Json& value, std::string_view name)
{
    if (value.is_object())
        return has_keys_of_program(name) ? list(pairs_of(value), name) : object(value, name);
    return value.is_array() ? list(value, name) : value;
}

Json Packer::object(const Json& value, std::string_view name)
{
    Json members = Json::object();
    for (const auto& [key, member] : value.items()) {
        if (!is_read(name, key))
            continue;
        if (key == "stack")
            members[key] = number_of_stack(member);
        else if (key == "frame")
            members[key] = number_of_frame(member);
        else if (member.is_string())
            members["$" + key] = number_of_text(member);
        else
            members[key] = packed(member, key);
    }
    return members;
}

Json Packer::list(const Json& value, std::string_view name)
{
    const std::size_t shown = std::min(value.size(), most_rows(name));
    Json members = Json::array();
    if (!value.empty() && value.front().is_object()) {
        Cells objects;
        for (std::size_t at = 0; at < shown; ++at)
            objects.push_back(&value[at]);
        Json packed = rows(objects, name);
        if (shown < value.size())
            packed["all"] = value.size();
        note_left_out(name, shown, value.size());
        return packed;
    }
    if (any_is(value, [](const Json& one) { return one.is_string(); })) {
        for (std::size_t at = 0; at < shown; ++at)
            members.push_back(number_of_text(value[at]));
        note_left_out(name, shown, value.size());
        return {{"texts", std::move(members)}};
    }
    for (const Json& one : value)
        members.push_back(packed(one, name));
    return members;
}

Json Packer::rows(const Cells& objects, std::string_view name)
{
    std::vector<std::string> names;
    for (const Json* const one : objects) {
        for (const auto& [key, value] : one->items()) {
            if (std::find(names.begin(), names.end(), key) == names.end() && is_read(name, key))
                names.push_back(key);
        }
    }
    Json columns = Json::object();
    for (const std::string& key : names) {
        Cells cells;
        for (const Json* const one : objects) {
            const auto found = one->is_object() ? one->find(key) : one->end();
            cells.push_back(found == one->end() ? &kNothing : &*found);
        }
        add_column(columns, key, cells);
    }
    return {{"rows", objects.size()}, {"columns", std::move(columns)}};
}

void Packer::add_column(Json& columns, const std::string& name, const Cells& cells)
{
    const auto any = [&](auto is) {
        return std::any_of(cells.begin(), cells.end(), [&](const Json* cell) { return is(*cell); });
    };
    if (name != "frame" && any([](const Json& cell) { return cell.is_object(); })) {
        columns[name] = objects_of_rows(cells, name);
        return;
    }
    Json column = Json::array();
    for (const Json* const cell : cells)
        column.push_back(name == "stack"     ? number_of_stack(*cell)
                         : name == "frame"   ? number_of_frame(*cell)
                         : cell->is_string() ? number_of_text(*cell)
                                             : packed(*cell, name));
    const bool one_value = !column.front().is_structured() &&
                           std::all_of(column.begin(), column.end(),
                                       [&](const Json& cell) { return cell == column.front(); });
    const bool texts = any([](const Json& cell) { return cell.is_string(); });
    columns[texts ? "$" + name : name] = one_value ? Json(column.front()) : std::move(column);
}

// One object in each row, or none.
Json Packer::objects_of_rows(const Cells& cells, std::string_view name)
{
    if (has_keys_of_program(name)) {
        Json lists = Json::array();
        for (const Json* const cell : cells)
            lists.push_back(packed(*cell, name));
        return lists;
    }
    Json packed = rows(cells, name);
    Json none = Json::array();
    for (std::size_t at = 0; at < cells.size(); ++at) {
        if (cells[at]->is_null())
            none.push_back(at);
    }
    if (!none.empty())
        packed["none"] = std::move(none);
    return packed;
}

Json Packer::number_of_text(const Json& text)
{
    if (!text.is_string())
        return nullptr;
    std::string safe = terminal_safe(text.get_ref<const std::string&>());
    if (safe.size() > limits_.characters) {
        safe = std::string(beginning_of(safe, limits_.characters)) + "…";
        ++cut_texts_;
    }
    const auto [at, added] = texts_.try_emplace(std::move(safe), strings_.size());
    if (added)
        strings_.push_back(at->first);
    return at->second;
}

Json Packer::number_of_frame(const Json& frame)
{
    if (!frame.is_object())
        return nullptr;
    const auto [at, added] = frame_numbers_.try_emplace(key_of_frame(frame), frames_.size());
    if (added) {
        Json& known = frames_.emplace_back(Json::object());
        for (const auto& [name, value] : frame.items()) {
            if (is_read_of_frame(frame, name))
                known[name] = value;
        }
    }
    return at->second;
}

Json Packer::number_of_stack(const Json& stack)
{
    if (!stack.is_array())
        return nullptr;
    std::vector<std::size_t> numbers;
    for (const Json& frame : stack)
        numbers.push_back(number_of_frame(frame).get<std::size_t>());
    const auto [at, added] = stack_numbers_.try_emplace(std::move(numbers), stacks_.size());
    if (added)
        stacks_.push_back(at->first);
    return at->second;
}

std::size_t Packer::most_rows(std::string_view name) const
{
    return name == "processes" ? limits_.processes : limits_.rows;
}

void Packer::note_left_out(std::string_view name, std::size_t shown, std::size_t all)
{
    if (shown == all)
        return;
    std::string words(name);
    std::replace(words.begin(), words.end(), '_', ' ');
    auto& [of_shown, of_all] = left_out_[words];
    of_shown += shown;
    of_all += all;
}

void Packer::add_tables(Json& document)
{
    Cells frames;
    for (const Json& frame : frames_)
        frames.push_back(&frame);
    document["frames"] = rows(frames, "frames");
    document["stacks"] = std::move(stacks_);
    Json thinned = Json::array();
    for (const auto& [name, counts] : left_out_)
        thinned.push_back(fmt::format("{} of {} rows of {} are in this page, the first in their "
                                      "order.",
                                      grouped(counts.first), grouped(counts.second), name));
    if (cut_texts_ > 0)
        thinned.push_back(fmt::format("Texts of more than {} characters are cut, which is shown.",
                                      grouped(limits_.characters)));
    document["thinned"] = std::move(thinned);
    document["strings"] = std::move(strings_);
}

} // namespace vramscope::report
