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
#include <tuple>
#include <type_traits>
#include <vector>

#include "tracker/format/enumerations.hpp"
#include "tracker/format/memory.hpp"

namespace vramscope::report {

// Who a document is made for. The page has members that a file has not.
enum class Audience { file, page };

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

// One member of a row. `get` is a member, a member function, or one of the function objects below:
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

// What a function object of a row, or a member of it, gives.
template <typename Get, typename Row>
using Gives = std::invoke_result_t<const Get&, const Row&>;
template <typename Get, typename Row>
using ValueOf = std::remove_cvref_t<Gives<Get, Row>>;

// The value, if it is known: a pointer to it where the row has it, else a copy. Neither: null.
template <typename Get, typename Row>
constexpr auto known_value(bool known, const Get& get, const Row& row)
{
    if constexpr (std::is_lvalue_reference_v<Gives<Get, Row>>)
        return known ? &std::invoke(get, row) : nullptr;
    else if constexpr (requires(ValueOf<Get, Row> value) { value.has_value(); })
        return known ? std::invoke(get, row) : std::nullopt; // null for two reasons
    else
        return known ? std::optional(std::invoke(get, row)) : std::nullopt;
}

// Null, unless the condition holds.
template <typename Known, typename Get>
struct When {
    Known known;
    Get get;
    template <typename Row>
    constexpr auto operator()(const Row& row) const
    {
        return known_value(std::invoke(known, row), get, row);
    }
};
template <typename Known, typename Get>
When(Known, Get) -> When<Known, Get>;

template <typename Value>
constexpr bool says_something(const Value& value)
{
    if constexpr (requires { value.empty(); })
        return !value.empty();
    else
        return value > 0;
}

// Null where it is empty, 0 or negative.
template <typename Get>
struct OrNull {
    Get get;
    template <typename Row>
    constexpr auto operator()(const Row& row) const
    {
        return known_value(says_something(std::invoke(get, row)), get, row);
    }
};
template <typename Get>
OrNull(Get) -> OrNull<Get>;

// The number of a device, or null where it is negative: not known.
template <typename Get>
struct Ordinal {
    Get get;
    template <typename Row>
    constexpr std::optional<std::uint32_t> operator()(const Row& row) const
    {
        const std::int32_t number = std::invoke(get, row);
        return number < 0 ? std::nullopt : std::optional(static_cast<std::uint32_t>(number));
    }
};
template <typename Get>
Ordinal(Get) -> Ordinal<Get>;

// An address or an offset, as "0x1f".
struct HexNumber {
    std::uint64_t value = 0;
};
template <typename Get>
struct Hex {
    Get get;
    template <typename Row>
    constexpr HexNumber operator()(const Row& row) const
    {
        return {std::invoke(get, row)};
    }
};
template <typename Get>
Hex(Get) -> Hex<Get>;

// Bytes as two digits each, or null where there are none.
struct RawBytes {
    std::string_view bytes;
};
template <typename Get>
struct HexDigits {
    Get get;
    template <typename Row>
    constexpr RawBytes operator()(const Row& row) const
    {
        return {std::invoke(get, row)};
    }
};
template <typename Get>
HexDigits(Get) -> HexDigits<Get>;

// The name of an answer of the driver's.
struct CudaResult {
    std::uint64_t number = 0;
};
template <typename Get>
struct ResultName {
    Get get;
    template <typename Row>
    constexpr CudaResult operator()(const Row& row) const
    {
        return {std::invoke(get, row)};
    }
};
template <typename Get>
ResultName(Get) -> ResultName<Get>;

// Left out where the condition does not hold, rather than null: what means something only where it
// is.
template <typename Value>
struct Present {
    Value value; // a pointer or an optional; what it holds may be null
};
template <typename Value>
inline constexpr bool kIsPresent = false;
template <typename Value>
inline constexpr bool kIsPresent<Present<Value>> = true;
template <typename Known, typename Get>
struct If {
    Known known;
    Get get;
    template <typename Row>
    constexpr auto operator()(const Row& row) const
    {
        using Value = std::optional<ValueOf<Get, Row>>;
        return Present<Value>{std::invoke(known, row) ? Value(std::invoke(get, row))
                                                      : std::nullopt};
    }
};
template <typename Known, typename Get>
If(Known, Get) -> If<Known, Get>;

// Left out where it is empty, 0 or false.
template <typename Get>
struct IfAny {
    Get get;
    template <typename Row>
    constexpr auto operator()(const Row& row) const
    {
        return Present{known_value(says_something(std::invoke(get, row)), get, row)};
    }
};
template <typename Get>
IfAny(Get) -> IfAny<Get>;

// For the page alone.
template <typename Get>
struct PageOnly {
    Get get;
    template <typename Row>
    constexpr decltype(auto) operator()(const Row& row) const
    {
        return std::invoke(get, row);
    }
};
template <typename Get>
PageOnly(Get) -> PageOnly<Get>;
template <typename Get>
inline constexpr bool kForPageOnly = false;
template <typename Get>
inline constexpr bool kForPageOnly<PageOnly<Get>> = true;

// A member of what a member is or points to.
template <typename First, typename Then>
struct Via {
    First first;
    Then then;
    template <typename Row>
    constexpr decltype(auto) operator()(const Row& row) const
    {
        if constexpr (std::is_pointer_v<ValueOf<First, Row>>)
            return std::invoke(then, *std::invoke(first, row));
        else
            return std::invoke(then, std::invoke(first, row));
    }
};
template <typename First, typename Then>
Via(First, Then) -> Via<First, Then>;
template <typename First, typename Get>
inline constexpr bool kForPageOnly<Via<First, Get>> = kForPageOnly<Get>;

// All members of what a member is or points to, as if they were the row's own.
template <typename First, typename... Get>
constexpr auto through(First first, const std::tuple<Field<Get>...>& fields)
{
    return std::apply(
        [&](const auto&... field) {
            return std::tuple{Field<Via<First, Get>>{
                field.name, {first, field.get}, field.says, field.added, field.bounds}...};
        },
        fields);
}

// Each row of a list as a row of another type, which is made of a pointer to it: what is shown in
// two ways has a description for each.
template <typename Shown, typename Get>
struct EachAs {
    Get get;
    template <typename Row>
    constexpr std::vector<Shown> operator()(const Row& row) const
    {
        std::vector<Shown> rows;
        for (const auto& one : std::invoke(get, row))
            rows.push_back({&one});
        return rows;
    }
};
template <typename Shown, typename Get>
constexpr EachAs<Shown, Get> each_as(Get get)
{
    return {get};
}

// An object of some members of the row itself.
template <typename Row, typename Tuple>
struct Grouped {
    const Row* row;
    const Tuple* fields;
};
template <typename... Get>
struct Group {
    std::tuple<Field<Get>...> fields;
    constexpr explicit Group(Field<Get>... all) : fields(all...) {}
    template <typename Row>
    constexpr auto operator()(const Row& row) const
    {
        return Grouped<Row, decltype(fields)>{&row, &fields};
    }
};

// An object whose keys are the program's: a list of pairs of a key and a value.
template <typename Pairs>
struct KeyedPairs {
    Pairs pairs;
};
template <typename Value>
inline constexpr bool kIsKeyed = false;
template <typename Pairs>
inline constexpr bool kIsKeyed<KeyedPairs<Pairs>> = true;
template <typename Get>
struct Keyed {
    Get get;
    template <typename Row>
    constexpr auto operator()(const Row& row) const
    {
        return KeyedPairs<ValueOf<Get, Row>>{std::invoke(get, row)};
    }
};
template <typename Get>
Keyed(Get) -> Keyed<Get>;

// A type whose values all mean the same, which a schema then says once: kName and kSays, and as(), a
// value as it is shown.
template <typename Value>
struct Meaning;
template <typename Value>
concept Meaningful = requires
{
    Meaning<Value>::kSays;
};

template <typename Row>
struct Fields; // kName, its name in a schema, and kAll, a tuple of Field
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

template <typename Tuple, typename Visit>
constexpr void for_each_of(const Tuple& fields, Visit&& visit)
{
    std::apply([&](const auto&... field) { (visit(field), ...); }, fields);
}

} // namespace vramscope::report
