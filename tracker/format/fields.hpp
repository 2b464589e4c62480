// tracker/format/fields.hpp — reads and writes any record of records.hpp by its members.
#pragma once

#include <array>
#include <optional>
#include <type_traits>

#include "tracker/format/records.hpp"

namespace vramscope::format {

// Running values that deltas are taken from; both sides start each chunk with a fresh one.
struct DeltaState {
    struct Call {
        std::uint32_t api = 0;
        std::uint32_t stack = 0;
    };
    std::uint64_t ticks = 0; // starts at ChunkHeader::base_ticks
    std::uint64_t address = 0;
    Call alloc{}; // the last alloc or pooled
    Call free{};
};

inline std::uint8_t* put_ticks(std::uint8_t* out, std::uint64_t ticks, DeltaState& state) noexcept
{
    out = put_varint(out, zigzag(static_cast<std::int64_t>(ticks - state.ticks)));
    state.ticks = ticks;
    return out;
}

template <typename In>
std::uint64_t get_ticks(In& in, DeltaState& state) noexcept
{
    state.ticks += static_cast<std::uint64_t>(in.signed_varint());
    return state.ticks;
}

// When an event happened, and in a call of which entry point. Both are zero where its
// head lacks them.
struct Moment {
    std::uint64_t ticks = 0;
    std::uint64_t api = 0;
};

constexpr std::size_t count_names(std::string_view names) noexcept
{
    std::size_t count = names.empty() ? 0 : 1;
    for (const char c : names)
        count += c == ',';
    return count;
}

template <typename R>
inline constexpr std::size_t kFieldCount = count_names(R::kLayout.fields);

template <typename R>
inline constexpr auto kFieldNames = [] {
    std::array<std::string_view, kFieldCount<R>> names{};
    std::string_view rest = R::kLayout.fields;
    for (std::string_view& name : names) {
        name = rest.substr(0, rest.find(','));
        rest.remove_prefix(name.size() < rest.size() ? name.size() + 2 : name.size());
    }
    return names;
}();

// visit(name, member) for each field in order. A struct that has more or fewer members than names
// does not compile.
template <typename R, typename Visit>
constexpr void for_each_field(R& record, Visit&& visit)
{
    using Plain = std::remove_const_t<R>;
    constexpr std::size_t kCount = kFieldCount<Plain>;
    static_assert(kCount <= 8);
    const auto all = [&](auto&... members) {
        std::size_t at = 0;
        (visit(kFieldNames<Plain>[at++], members), ...);
    };
    if constexpr (kCount == 0) {
        static_assert(std::is_empty_v<Plain>);
    } else if constexpr (kCount == 1) {
        auto& [a] = record;
        all(a);
    } else if constexpr (kCount == 2) {
        auto& [a, b] = record;
        all(a, b);
    } else if constexpr (kCount == 3) {
        auto& [a, b, c] = record;
        all(a, b, c);
    } else if constexpr (kCount == 4) {
        auto& [a, b, c, d] = record;
        all(a, b, c, d);
    } else if constexpr (kCount == 5) {
        auto& [a, b, c, d, e] = record;
        all(a, b, c, d, e);
    } else if constexpr (kCount == 6) {
        auto& [a, b, c, d, e, f] = record;
        all(a, b, c, d, e, f);
    } else if constexpr (kCount == 7) {
        auto& [a, b, c, d, e, f, g] = record;
        all(a, b, c, d, e, f, g);
    } else {
        auto& [a, b, c, d, e, f, g, h] = record;
        all(a, b, c, d, e, f, g, h);
    }
}

// The value of an enumeration that a number in the log stands for. A number too large for its type
// is none of its values.
template <typename Enum>
constexpr Enum enum_of(std::uint64_t number) noexcept
{
    return static_cast<Enum>(number < UINT8_MAX ? number : UINT8_MAX);
}

// ---- writing ----

// Texts are cut off at so many bytes by the recorder, so that a body's length is two varint bytes.
inline constexpr std::size_t kMostTextBytes = 4096;

// Fields that are many of a kind. Their number is another field.
template <typename Field>
inline constexpr bool kIsList =
    std::is_same_v<Field, Addresses> || std::is_same_v<Field, PythonFrames>;

// The most bytes that a field can take.
template <typename Field>
constexpr std::size_t most_bytes(const Field& field, std::size_t most_text) noexcept
{
    if constexpr (std::is_same_v<Field, std::string_view>)
        return kMaxVarintBytes + (field.size() < most_text ? field.size() : most_text);
    else if constexpr (kIsList<Field>)
        return 0; // see below
    else
        return kMaxVarintBytes;
}

// The most bytes that a whole body can take, with what stands before its fields.
template <typename R>
constexpr std::size_t most_body_bytes(const R& record, std::size_t most_text) noexcept
{
    std::size_t bytes = 2 * kMaxVarintBytes;
    for_each_field(record, [&](std::string_view, const auto& field) {
        bytes += most_bytes(field, most_text);
    });
    if constexpr (std::is_same_v<R, Stack>)
        bytes += record.count * kMaxVarintBytes;
    if constexpr (std::is_same_v<R, PythonStack>)
        bytes += record.count * 3 * kMaxVarintBytes;
    return bytes;
}

// The same for any record of this kind that the recorder writes, without the frames of a stack.
template <typename R>
inline constexpr std::size_t kMostBodyBytes = [] {
    R record{};
    std::size_t bytes = most_body_bytes(record, 0);
    for_each_field(record, [&](std::string_view, auto& field) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, std::string_view>)
            bytes += kMostTextBytes;
    });
    return bytes;
}();

// Its functions are calls and not inline: there are many records, and none of these is hot.
class FieldWriter {
public:
    FieldWriter(std::uint8_t* out, std::size_t most_text) noexcept
        : out_(out), most_text_(most_text)
    {
    }
    std::uint8_t* position() const noexcept { return out_; }

    [[gnu::noinline]] void put(std::uint64_t value) noexcept { out_ = put_varint(out_, value); }
    void put(std::int64_t value) noexcept { put(zigzag(value)); }
    void put(bool value) noexcept { put(std::uint64_t{value}); }
    template <Meaning kMeaning, typename Value>
    void put(const Number<kMeaning, Value>& field) noexcept
    {
        put(field.value);
    }
    template <typename Enum>
    requires std::is_enum_v<Enum>
    void put(Enum value) noexcept { put(static_cast<std::uint64_t>(value)); }
    [[gnu::noinline]] void put(std::string_view text) noexcept
    {
        text = text.substr(0, most_text_);
        put(std::uint64_t{text.size()});
        if (!text.empty())
            std::memcpy(out_, text.data(), text.size());
        out_ += text.size();
    }
    // `record` says how many there are. It is handed in whole, since most records have no count.
    template <typename R>
    void put(const Addresses& addresses, const R& record) noexcept
    {
        for (std::uint64_t at = 0; at < record.count; ++at) {
            const std::uint64_t address = addresses.first[at];
            if (at == 0)
                put(address);
            else
                put(static_cast<std::int64_t>(address - addresses.first[at - 1]));
        }
    }
    template <typename R>
    void put(const PythonFrames& frames, const R& record) noexcept
    {
        std::uint64_t native = 0;
        for (std::uint64_t at = 0; at < record.count; ++at) {
            const PythonFrame& frame = frames.first[at];
            put(frame.native - native);
            put(frame.code);
            put(frame.offset);
            native = frame.native;
        }
    }

private:
    std::uint8_t* out_;
    std::size_t most_text_;
};

// Writes the body of a record: what stands before its fields, and its fields. There is room for it.
template <typename R>
std::uint8_t* put_body(std::uint8_t* out, const Moment& moment, const R& record, DeltaState& deltas,
                       std::size_t most_text) noexcept
{
    constexpr Head kHead = R::kLayout.head;
    if constexpr (kHead == Head::call)
        out = put_varint(out, moment.api);
    if constexpr (kHead == Head::plain)
        out = put_varint(out, moment.ticks);
    else if constexpr (kHead != Head::definition)
        out = put_ticks(out, moment.ticks, deltas);
    FieldWriter writer(out, most_text);
    for_each_field(record, [&](std::string_view, const auto& field) {
        if constexpr (kIsList<std::remove_cvref_t<decltype(field)>>)
            writer.put(field, record);
        else
            writer.put(field);
    });
    return writer.position();
}

// ---- reading ----

// Reads what stands before the fields. Where that is nothing, the moment is that of
// the previous record.
inline Moment get_head(Head head, Cursor& in, DeltaState& deltas) noexcept
{
    Moment moment;
    if (head == Head::call)
        moment.api = in.varint();
    if (head == Head::plain)
        moment.ticks = in.varint();
    else
        moment.ticks = head == Head::definition ? deltas.ticks : get_ticks(in, deltas);
    return moment;
}

class FieldReader {
public:
    explicit FieldReader(const Cursor& in) noexcept : in_(in) {}
    bool ok() const noexcept { return in_.ok(); }
    bool at_end() const noexcept { return in_.at_end(); }

    void get(std::uint64_t& value) noexcept { value = in_.varint(); }
    void get(std::int64_t& value) noexcept { value = in_.signed_varint(); }
    void get(bool& value) noexcept { value = in_.varint() != 0; }
    template <Meaning kMeaning, typename Value>
    void get(Number<kMeaning, Value>& field) noexcept
    {
        get(field.value);
    }
    template <typename Enum>
    requires std::is_enum_v<Enum>
    void get(Enum& value) noexcept { value = enum_of<Enum>(in_.varint()); }
    void get(std::string_view& text) noexcept { text = in_.prefixed_text(); }
    void get(Addresses& addresses) noexcept { addresses.coded = in_.text(in_.remaining()); }
    void get(PythonFrames& frames) noexcept { frames.coded = in_.text(in_.remaining()); }

private:
    Cursor in_;
};

// Reads the fields that begin at `in`; texts point into the log. Nothing: they end early. It is a
// call, so that code that asks every record whether it is this one holds only a comparison.
template <typename R>
[[gnu::noinline]] std::optional<R> get_fields(const Cursor& in) noexcept
{
    std::optional<R> record(std::in_place);
    FieldReader reader(in);
    std::size_t at = 0;
    for_each_field(*record, [&](std::string_view, auto& field) {
        if (at++ < R::kLayout.at_least || !reader.at_end())
            reader.get(field);
    });
    if (!reader.ok())
        record.reset();
    return record;
}

} // namespace vramscope::format
