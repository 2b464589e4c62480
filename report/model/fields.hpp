// report/model/fields.hpp — a row says its fields once: JSON, its schema and the page follow.
//
// Beside each struct of this folder, Fields<Row>::kAll has its members in the order of the JSON:
// what each is called, where its value is, and what it means. Beside each enumeration, Words has
// its words. Nothing here knows JSON: report/json/write.hpp and schema.hpp read the descriptions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "report/model/getters.hpp"
#include "tracker/format/enumerations.hpp"
#include "tracker/format/memory.hpp"

namespace vramscope::report {

// Who a document is made for. The page has members that a file has not; a whole file has those that
// are there on request.
enum class Audience { file, whole_file, page };

// What a schema says of a value beside its type.
struct Bounds {
    std::optional<int> least, most; // of a number
    std::size_t fewest = 0;         // characters of a text, or rows of a list
    std::size_t most_rows = 0;      // 0: as many as there are
    bool unique = false;            // no two rows of a list are equal
    std::string_view pattern = {};  // of a text
    bool lines = false;             // of a list: texts that are not empty
    // Words of the enumeration that this member never has.
    std::array<std::string_view, 4> never = {};
};

// One member of a row. `get` is a member, a member function, or a function object of getters.hpp:
// std::invoke reads it.
template <typename Get>
struct Field {
    std::string_view name;
    Get get;
    std::string_view says = {};
    unsigned added = 0; // with minor version 1.N of the document; 0: it was there from the first on
    Bounds bounds = {};

    // A schema requires members that were there from the first on.
    constexpr Field since(unsigned minor) const { return with(&Field::added, minor); }
    constexpr Field at_least(int least) const { return bounded(&Bounds::least, least); }
    constexpr Field at_most(int most) const { return bounded(&Bounds::most, most); }
    constexpr Field not_empty() const { return rows_at_least(1); }
    constexpr Field rows_at_least(std::size_t fewest) const
    {
        return bounded(&Bounds::fewest, fewest);
    }
    constexpr Field rows_at_most(std::size_t most) const
    {
        return bounded(&Bounds::most_rows, most);
    }
    constexpr Field lines() const { return bounded(&Bounds::lines, true); }
    constexpr Field unique() const { return bounded(&Bounds::unique, true); }
    constexpr Field pattern(std::string_view text) const { return bounded(&Bounds::pattern, text); }
    template <typename... Word>
    constexpr Field never(Word... words) const
    {
        return bounded(&Bounds::never, std::array<std::string_view, 4>{words...});
    }

private:
    template <typename Value, typename Set>
    constexpr Field with(Value Field::*member, Set value) const
    {
        Field copy = *this;
        copy.*member = value;
        return copy;
    }
    template <typename Value, typename Set>
    constexpr Field bounded(Value Bounds::*member, Set value) const
    {
        Field copy = *this;
        copy.bounds.*member = value;
        return copy;
    }
};
template <typename Get>
Field(std::string_view, Get) -> Field<Get>;
template <typename Get>
Field(std::string_view, Get, std::string_view) -> Field<Get>;

// The fields of a row. Not std::tuple, whose constructors ask of each of thirty types what it
// converts to: that was four fifths of the time that the headers of this folder take to compile.
template <std::size_t at, typename Get>
struct FieldAt {
    Field<Get> field;
};
template <typename Numbers, typename... Get>
struct NumberedFields;
template <std::size_t... at, typename... Get>
struct NumberedFields<std::index_sequence<at...>, Get...> : FieldAt<at, Get>... {
    constexpr explicit NumberedFields(const Field<Get>&... all) : FieldAt<at, Get>{all}... {}
    // What `use` makes of all of them.
    template <typename Use>
    constexpr auto apply(Use&& use) const
    {
        return use(static_cast<const FieldAt<at, Get>&>(*this).field...);
    }
    template <typename Visit>
    constexpr void for_each(Visit&& visit) const
    {
        (visit(static_cast<const FieldAt<at, Get>&>(*this).field), ...);
    }
};
template <typename... Get>
struct FieldList : NumberedFields<std::index_sequence_for<Get...>, Get...> {
    constexpr explicit FieldList(const Field<Get>&... all)
        : NumberedFields<std::index_sequence_for<Get...>, Get...>(all...)
    {
    }
};

// The fields of several lists, one list after the other.
template <typename... Get>
constexpr auto joined(const FieldList<Get...>& all)
{
    return all;
}
template <typename... First, typename... Second, typename... More>
constexpr auto joined(const FieldList<First...>& first, const FieldList<Second...>& second,
                      const More&... more)
{
    return joined(first.apply([&](const auto&... one) {
        return second.apply([&](const auto&... other) {
            return FieldList<First..., Second...>{one..., other...};
        });
    }),
                  more...);
}

// All members of what a member is or points to, as if they were the row's own.
template <typename First, typename... Get>
constexpr auto through(First first, const FieldList<Get...>& fields)
{
    return fields.apply([&](const auto&... field) {
        return FieldList<Via<First, Get>...>{Field<Via<First, Get>>{
            field.name, {first, field.get}, field.says, field.added, field.bounds}...};
    });
}

// An object of some members of the row itself.
template <typename Row, typename List>
struct Grouped {
    const Row* row;
    const List* fields;
};
template <typename... Get>
struct Group {
    FieldList<Get...> fields;
    constexpr explicit Group(const Field<Get>&... all) : fields(all...) {}
    template <typename Row>
    constexpr auto operator()(const Row& row) const
    {
        return Grouped<Row, FieldList<Get...>>{&row, &fields};
    }
};

// A type whose values all mean the same, which a schema then says once: kName and kSays, and as(),
// a value as it is shown.
template <typename Value>
struct Meaning;
template <typename Value>
concept Meaningful = requires
{
    Meaning<Value>::kSays;
};

template <typename Row>
struct Fields; // kName, its name in a schema, and kAll, its FieldList
template <typename Row>
concept Described = requires
{
    Fields<Row>::kAll;
};

// kAll has the values and their words; one without a word is null in JSON. kName, if a schema has
// them in one place, and kSays there.
template <typename Enum>
struct Words;
template <typename Enum>
concept Worded = requires
{
    Words<Enum>::kAll;
};

// Those of the log's format have their words there.
template <format::Worded Enum>
struct Words<Enum> : format::Words<Enum> {
};
template <>
struct Words<format::Memory> {
    static constexpr const char* kName = "memory"; // in a schema, which has it once
    static constexpr auto kAll = [] {
        std::array<format::Word<format::Memory>, std::size(format::kMemoryKinds)> words{};
        for (std::size_t at = 0; at < words.size(); ++at)
            words[at] = {format::kMemoryKinds[at].memory, format::kMemoryKinds[at].name};
        return words;
    }();
};

template <Worded Enum>
requires(!format::Worded<Enum>) constexpr const char* name(Enum value) noexcept
{
    return word_of(Words<Enum>::kAll, value, nullptr);
}

} // namespace vramscope::report
