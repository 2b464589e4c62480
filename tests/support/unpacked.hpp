// tests/support/unpacked.hpp — what a page was made of, as report/page/web/src/unpack.js has it back.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace vramscope {

class Unpacker {
public:
    using Json = nlohmann::ordered_json;

    explicit Unpacker(const Json& document) : document_(document)
    {
        frames_ = rows(document_["frames"]);
    }

    // The whole document, without its tables.
    Json all() const
    {
        Json members = value(document_);
        for (const char* const table : {"strings", "frames", "stacks"})
            members.erase(table);
        return members;
    }

private:
    Json text(const Json& number) const
    {
        return number.is_null() ? number : document_["strings"][number.get<std::size_t>()];
    }

    Json stack(const Json& number) const
    {
        Json stack = number.is_null() ? number : Json::array();
        if (!number.is_null())
            for (const Json& frame : document_["stacks"][number.get<std::size_t>()])
                stack.push_back(frames_[frame.get<std::size_t>()]);
        return stack;
    }

    Json member(const std::string& key, const Json& packed) const
    {
        if (key.starts_with("$"))
            return text(packed);
        if (key == "stack")
            return stack(packed);
        if (key == "frame")
            return packed.is_null() ? packed : frames_[packed.get<std::size_t>()];
        return value(packed);
    }

    static std::string name(const std::string& key)
    {
        return key.substr(key.starts_with("$") ? 1 : 0);
    }

    Json value(const Json& packed) const
    {
        Json made = packed;
        if (packed.is_array())
            for (Json& one : made)
                one = value(one);
        if (!packed.is_object())
            return made;
        if (packed.contains("columns"))
            return rows(packed);
        if (packed.contains("texts")) {
            made = packed["texts"];
            for (Json& one : made)
                one = text(one);
            return made;
        }
        made = Json::object();
        for (const auto& [key, one] : packed.items())
            made[name(key)] = member(key, one);
        return made;
    }

    Json rows(const Json& packed) const
    {
        Json rows = Json::array();
        for (std::size_t at = 0; at < packed["rows"]; ++at)
            rows.push_back(Json::object());
        for (const auto& [key, column] : packed["columns"].items()) {
            const Json objects = column.is_object() ? this->rows(column) : Json();
            for (std::size_t at = 0; at < rows.size(); ++at)
                rows[at][name(key)] = column.is_object()  ? objects[at]
                                      : column.is_array() ? member(key, column[at])
                                                          : member(key, column);
        }
        for (const Json& none : packed.value("none", Json::array()))
            rows[none.get<std::size_t>()] = nullptr;
        return rows;
    }

    const Json document_;
    Json frames_;
};

} // namespace vramscope
