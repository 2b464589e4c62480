// report/model/getters.hpp — what makes the value of a field that is no plain member of its row.
//
// Each is a function object of the row: null or left out where nothing is known, a number as it is
// shown, a member of a member.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

namespace vramscope::report {

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
Present(Value) -> Present<Value>;
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

// Only in a file that was asked for it: a list that is long, and that few readers want.
template <typename Get>
struct OnRequest {
    Get get;
    template <typename Row>
    constexpr Present<const ValueOf<Get, Row>*> operator()(const Row& row) const
    {
        return {&std::invoke(get, row)};
    }
};

template <typename Get>
OnRequest(Get) -> OnRequest<Get>;
template <typename Get>
inline constexpr bool kOnRequest = false;
template <typename Get>
inline constexpr bool kOnRequest<OnRequest<Get>> = true;

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

} // namespace vramscope::report
