// report/checkpoint/archive.hpp — writes what a replay consists of, and reads it back.
//
// One description serves both ways. A plain struct is its members. A class has a function state(),
// which ties the members that it consists of; where its tables are no plain containers, kept()
// gives their content as one, and restore() takes it back. What follows from the rest is made again
// by rebuild(), which also says whether what was read makes sense: false for what would lead
// anybody out of a table. Nothing that is read is trusted: a count is never above the bytes that
// are left, since each element takes one at least.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "report/checkpoint/members.hpp"
#include "report/model/fields.hpp"
#include "tracker/format/varint.hpp"

namespace vramscope::report {

class ArchiveWriter {
public:
    static constexpr bool kReads = false;

    void number(std::uint64_t& value)
    {
        std::array<std::uint8_t, format::kMaxVarintBytes> coded;
        const std::uint8_t* const end = format::put_varint(coded.data(), value);
        bytes_.append(reinterpret_cast<const char*>(coded.data()),
                      static_cast<std::size_t>(end - coded.data()));
    }
    void text(std::string& value)
    {
        std::uint64_t size = value.size();
        number(size);
        bytes_ += value;
    }
    bool good() const noexcept { return true; }
    void expect(bool) const noexcept {} // what is written makes sense

    const std::string& bytes() const noexcept { return bytes_; }

private:
    std::string bytes_;
};

class ArchiveReader {
public:
    static constexpr bool kReads = true;

    explicit ArchiveReader(std::string_view bytes)
        : in_(reinterpret_cast<const std::uint8_t*>(bytes.data()),
              reinterpret_cast<const std::uint8_t*>(bytes.data()) + bytes.size())
    {
    }

    void number(std::uint64_t& value)
    {
        value = good() ? in_.varint() : 0;
        expect(in_.ok());
    }
    void text(std::string& value)
    {
        if (good())
            value = in_.prefixed_text();
        expect(in_.ok());
    }
    std::size_t count() // of elements
    {
        std::uint64_t count = 0;
        number(count);
        expect(count <= in_.remaining());
        return good() ? count : 0;
    }
    bool good() const noexcept { return good_; }
    void expect(bool holds) noexcept { good_ = good_ && holds; } // else nothing more is read
    bool at_end() const noexcept { return in_.remaining() == 0; }

private:
    format::Cursor in_;
    bool good_ = true;
};

template <typename Archive, typename Value>
void transfer(Archive& archive, Value& value);

namespace archived {

template <typename Value>
concept Kept = requires(Value& value)
{
    value.restore(value.kept());
};
template <typename Value>
concept Stateful = requires(Value& value)
{
    value.state();
};
template <typename Value>
concept Rebuilt = requires(Value& value)
{
    value.rebuild();
};
template <typename Value>
concept Keyed = requires
{
    typename Value::key_type;
};
template <typename Value>
concept KeyedValues = Keyed<Value> && requires
{
    typename Value::mapped_type;
};
template <typename Value>
concept Sequence = !Keyed<Value> && requires(Value & value)
{
    value.emplace_back();
    value.begin();
};
template <typename Value>
inline constexpr bool kIsOptional = false;
template <typename Value>
inline constexpr bool kIsOptional<std::optional<Value>> = true;
template <typename Value>
inline constexpr bool kIsArray = false;
template <typename Value, std::size_t kSize>
inline constexpr bool kIsArray<std::array<Value, kSize>> = true;
template <typename Value>
inline constexpr bool kIsTuple = false;
template <typename... Values>
inline constexpr bool kIsTuple<std::tuple<Values...>> = true;
template <typename First, typename Second>
inline constexpr bool kIsTuple<std::pair<First, Second>> = true;

template <typename Enum>
constexpr bool is_one_of_its_values(Enum value) noexcept
{
    if constexpr (requires { is_known(value); })
        return is_known(value);
    else
        return format::row_of(Words<Enum>::kAll, value) != nullptr;
}

template <typename Archive, typename Value>
void transfer_number(Archive& archive, Value& value)
{
    if constexpr (std::is_same_v<Value, double>) {
        std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
        archive.number(bits);
        value = std::bit_cast<double>(bits);
    } else if constexpr (std::is_enum_v<Value>) {
        auto number = static_cast<std::underlying_type_t<Value>>(value);
        transfer_number(archive, number);
        value = static_cast<Value>(number);
        archive.expect(is_one_of_its_values(value));
    } else if constexpr (std::is_signed_v<Value>) {
        std::uint64_t number = format::zigzag(value);
        archive.number(number);
        const std::int64_t read = format::unzigzag(number);
        archive.expect(std::in_range<Value>(read));
        value = static_cast<Value>(read);
    } else {
        std::uint64_t number = value;
        archive.number(number);
        archive.expect(number <= std::uint64_t{std::numeric_limits<Value>::max()});
        value = static_cast<Value>(number);
    }
}

template <typename Archive, typename Value>
void transfer_sequence(Archive& archive, Value& value)
{
    if constexpr (Archive::kReads) {
        value.clear();
        for (std::size_t left = archive.count(); left > 0 && archive.good(); --left)
            transfer(archive, value.emplace_back());
    } else {
        std::uint64_t size = value.size();
        archive.number(size);
        for (auto& element : value)
            transfer(archive, element);
    }
}

template <typename Archive, typename Value>
void transfer_keyed(Archive& archive, Value& value)
{
    if constexpr (Archive::kReads) {
        value.clear();
        for (std::size_t left = archive.count(); left > 0 && archive.good(); --left) {
            typename Value::key_type key{};
            transfer(archive, key);
            const std::size_t before = value.size();
            if constexpr (KeyedValues<Value>) // at the end, as they were written in order
                transfer(archive, value.try_emplace(value.end(), std::move(key))->second);
            else
                value.insert(value.end(), std::move(key));
            archive.expect(value.size() > before); // it was not there
        }
    } else {
        const auto key_of = [](const auto& element) -> const auto&
        {
            if constexpr (KeyedValues<Value>)
                return element.first;
            else
                return element;
        };
        std::vector<decltype(&*value.begin())> elements; // in order: equal ones are equal bytes
        for (auto& element : value)
            elements.push_back(&element);
        std::sort(elements.begin(), elements.end(),
                  [&](const auto* a, const auto* b) { return key_of(*a) < key_of(*b); });
        std::uint64_t size = elements.size();
        archive.number(size);
        for (auto* const element : elements) {
            typename Value::key_type key = key_of(*element);
            transfer(archive, key);
            if constexpr (KeyedValues<Value>)
                transfer(archive, element->second);
        }
    }
}

template <typename Archive, typename Value>
void transfer_optional(Archive& archive, Value& value)
{
    bool there = value.has_value();
    transfer(archive, there);
    if constexpr (Archive::kReads) {
        if (there)
            value.emplace();
        else
            value.reset();
    }
    if (value)
        transfer(archive, *value);
}

template <typename Archive, typename Value>
void transfer_kept(Archive& archive, Value& value)
{
    if constexpr (Archive::kReads) {
        decltype(value.kept()) kept{};
        transfer(archive, kept);
        archive.expect(archive.good() && value.restore(std::move(kept)));
    } else {
        auto kept = value.kept();
        transfer(archive, kept);
    }
}

template <typename Archive, typename Tied>
void transfer_all(Archive& archive, Tied&& tied)
{
    std::apply([&](auto&... members) { (transfer(archive, members), ...); }, tied);
}

} // namespace archived

template <typename Archive, typename Value>
void transfer(Archive& archive, Value& value)
{
    if (!archive.good())
        return;
    if constexpr (std::is_arithmetic_v<Value> || std::is_enum_v<Value>)
        archived::transfer_number(archive, value);
    else if constexpr (std::is_same_v<Value, std::string>)
        archive.text(value);
    else if constexpr (archived::kIsOptional<Value>)
        archived::transfer_optional(archive, value);
    else if constexpr (archived::kIsArray<Value>)
        for (auto& element : value)
            transfer(archive, element);
    else if constexpr (archived::kIsTuple<Value>)
        archived::transfer_all(archive, value);
    else if constexpr (archived::Kept<Value>)
        archived::transfer_kept(archive, value);
    else if constexpr (archived::Stateful<Value>)
        archived::transfer_all(archive, value.state());
    else if constexpr (archived::Sequence<Value>)
        archived::transfer_sequence(archive, value);
    else if constexpr (archived::Keyed<Value>)
        archived::transfer_keyed(archive, value);
    else
        visit_members(value, [&](auto&... members) { (transfer(archive, members), ...); });
    if constexpr (Archive::kReads && archived::Rebuilt<Value>)
        archive.expect(archive.good() && value.rebuild());
}

} // namespace vramscope::report
