// tests/fuzz/field_changes.cpp — chunks taken apart into records, and put together again.
#include "tests/fuzz/field_changes.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>

#include "tracker/format/layout.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::test {
namespace {

using namespace format;
using Bytes = std::vector<std::uint8_t>;
using Random = std::mt19937_64;

/// A record of a chunk, with all that is needed to write it again.
struct Entry {
    Tag tag = Tag::end;
    Alloc alloc{};
    Free free{};
    Place place{};
    Moment moment;
    Bytes body; // of a length-prefixed record, behind its head
};

Cursor cursor_over(const Bytes& bytes)
{
    return {bytes.data(), bytes.data() + bytes.size()};
}

/// False: what is there cannot be read.
bool read_entry(Cursor& in, DeltaState& deltas, Entry& entry)
{
    const std::uint8_t byte = in.u8();
    entry.tag = tag_of(byte);
    if (entry.tag == Tag::alloc || entry.tag == Tag::pooled)
        entry.alloc = decode_alloc(in, byte, deltas);
    else if (entry.tag == Tag::free)
        entry.free = decode_free(in, byte, deltas);
    else if (entry.tag == Tag::place)
        entry.place = decode_place(in);
    else if ((byte & kLengthPrefixed) == 0)
        return false;
    else {
        const std::string_view text = in.prefixed_text();
        const auto* const begin = reinterpret_cast<const std::uint8_t*>(text.data());
        Cursor body(begin, begin + text.size());
        if (const Layout* const layout = layout_of(entry.tag))
            entry.moment = get_head(layout->head, body, deltas);
        entry.body.assign(body.position(), body.position() + body.remaining());
        return in.ok() && body.ok();
    }
    return in.ok();
}

std::vector<Entry> read_entries(const std::uint8_t* payload, const ChunkHeader& header)
{
    std::vector<Entry> entries;
    Cursor in(payload, payload + header.committed);
    DeltaState deltas{.ticks = header.base_ticks};
    for (Entry entry; !in.at_end() && read_entry(in, deltas, entry); entry = {})
        entries.push_back(std::move(entry));
    return entries;
}

void append(Bytes& out, const std::uint8_t* begin, const std::uint8_t* end)
{
    out.insert(out.end(), begin, end);
}

void write_prefixed(Bytes& out, const Entry& entry, DeltaState& deltas)
{
    std::uint8_t head[2 * kMaxVarintBytes];
    std::uint8_t* end = head;
    if (const Layout* const layout = layout_of(entry.tag)) {
        if (layout->head == Head::call)
            end = put_varint(end, entry.moment.api);
        if (layout->head == Head::plain)
            end = put_varint(end, entry.moment.ticks);
        else if (layout->head != Head::definition)
            end = put_ticks(end, entry.moment.ticks, deltas);
    }
    const auto length = static_cast<std::size_t>(end - head) + entry.body.size();
    std::uint8_t prefix[1 + kMaxVarintBytes] = {static_cast<std::uint8_t>(entry.tag)};
    append(out, prefix, put_varint(prefix + 1, length));
    append(out, head, end);
    append(out, entry.body.data(), entry.body.data() + entry.body.size());
}

void write_entry(Bytes& out, const Entry& entry, DeltaState& deltas)
{
    std::uint8_t hot[kMaxHotBytes + kMaxVarintBytes];
    switch (entry.tag) {
    case Tag::alloc:
    case Tag::pooled:
        return append(out, hot, encode_alloc(hot, entry.alloc, deltas));
    case Tag::free:
        return append(out, hot, encode_free(hot, entry.free, deltas));
    case Tag::place:
        return append(out, hot, encode_place(hot, entry.place));
    default:
        return write_prefixed(out, entry, deltas);
    }
}

/// Numbers and texts to put into fields; `known` has those that the log itself has somewhere.
class Values {
public:
    Values(Random& random, std::vector<std::uint64_t> known)
        : random_(random), known_(std::move(known))
    {
    }

    std::uint64_t number(std::uint64_t before)
    {
        static constexpr std::uint64_t kTelling[] = {
            0,          1,          2,         UINT32_MAX,      std::uint64_t{UINT32_MAX} + 1,
            UINT64_MAX, INT64_MAX,  0x1000000, UINT64_MAX - 1,  std::uint64_t{1} << 63,
            255,        UINT16_MAX, 1000,      0xfffffffffffff, UINT64_MAX / 2 + 2};
        switch (random_() % 4) {
        case 0:
            return kTelling[random_() % std::size(kTelling)];
        case 1:
            return before + random_() % 5 - 2;
        case 2:
            return before << random_() % 64;
        default: // of another kind, or another one of its kind
            return known_.empty() ? random_() : known_[random_() % known_.size()];
        }
    }

    std::string text()
    {
        static const std::string kTelling[] = {"",
                                               "\x1b[31mred\x1b[0m",
                                               std::string(5000, 'A'),
                                               "\xff\xfe\x80",
                                               "</script><b>",
                                               "../../x",
                                               "a\nb\r\nc\td\"'\\,;",
                                               std::string("a\0b", 3),
                                               "%s%n{}",
                                               "\u202eabc"};
        return kTelling[random_() % std::size(kTelling)];
    }

    Random& random() { return random_; }

private:
    Random& random_;
    std::vector<std::uint64_t> known_;
};

template <class Field>
inline constexpr bool kIsNumber = requires(Field field)
{
    field.value;
};

template <class Field>
std::uint64_t number_of(const Field& field)
{
    if constexpr (kIsNumber<Field>)
        return static_cast<std::uint64_t>(field.value);
    else if constexpr (std::is_integral_v<Field> || std::is_enum_v<Field>)
        return static_cast<std::uint64_t>(field);
    else
        return 0;
}

/// `texts` keeps what a text points to.
template <class Field>
void change_field(Field& field, Values& values, std::string& text)
{
    if constexpr (std::is_same_v<Field, std::string_view>)
        field = text = values.text();
    else if constexpr (kIsNumber<Field>)
        field.value = static_cast<decltype(field.value)>(values.number(number_of(field)));
    else if constexpr (std::is_same_v<Field, bool>)
        field = !field;
    else if constexpr (std::is_enum_v<Field>)
        field = static_cast<Field>(values.random()() % 3 == 0 ? 254 : values.random()() % 24);
    else if constexpr (std::is_integral_v<Field>)
        field = static_cast<Field>(values.number(number_of(field)));
    // The frames of a stack: its count is changed, and then they are too many or too few.
}

template <class R>
void write_fields(const R& record, Bytes& body)
{
    Bytes out(most_body_bytes(R{}, 0) + body.size() + 8192);
    std::string_view frames;
    FieldWriter writer(out.data(), SIZE_MAX);
    for_each_field(record, [&](std::string_view, const auto& field) {
        if constexpr (kIsList<std::remove_cvref_t<decltype(field)>>)
            frames = field.coded;
        else
            writer.put(field);
    });
    out.resize(static_cast<std::size_t>(writer.position() - out.data()));
    out.insert(out.end(), frames.begin(), frames.end());
    body = std::move(out);
}

void change_body(Entry& entry, Values& values)
{
    const Bytes before = entry.body; // texts and frames point into it
    Records::of_tag(entry.tag, [&]<class R>() {
        std::optional<R> record = get_fields<R>(cursor_over(before));
        if (!record)
            return;
        std::size_t wanted = values.random()() % std::max<std::size_t>(kFieldCount<R>, 1);
        std::string text;
        for_each_field(*record, [&](std::string_view, auto& field) {
            if (wanted-- == 0)
                change_field(field, values, text);
        });
        write_fields(*record, entry.body);
    });
}

void change_alloc(Entry& entry, Values& values)
{
    Alloc& alloc = entry.alloc;
    std::uint64_t* const fields[] = {&alloc.api,   &alloc.address, &alloc.bytes,
                                     &alloc.stack, &alloc.slack,   &alloc.ticks};
    std::uint64_t& field = *fields[values.random()() % std::size(fields)];
    field = values.number(field);
    if (values.random()() % 8 == 0) {
        alloc.pooled = !alloc.pooled;
        entry.tag = alloc.pooled ? Tag::pooled : Tag::alloc;
    }
}

void change_free(Free& free, Values& values)
{
    std::uint64_t* const fields[] = {&free.api, &free.address, &free.stack, &free.ticks};
    std::uint64_t& field = *fields[values.random()() % std::size(fields)];
    field = values.number(field);
}

void change_place(Place& place, Values& values)
{
    std::uint64_t* const fields[] = {&place.context, &place.stream, &place.pool};
    const std::size_t at = values.random()() % (std::size(fields) + 2);
    if (at < std::size(fields))
        *fields[at] = values.number(*fields[at]);
    else if (at == std::size(fields))
        place.device = static_cast<std::int64_t>(values.number(number_of(place.device)));
    else
        place.capturing = !place.capturing;
}

void change_entry(Entry& entry, Values& values)
{
    const Layout* const layout = layout_of(entry.tag);
    if (entry.tag == Tag::alloc || entry.tag == Tag::pooled)
        change_alloc(entry, values);
    else if (entry.tag == Tag::free)
        change_free(entry.free, values);
    else if (entry.tag == Tag::place)
        change_place(entry.place, values);
    else if (layout && layout->head == Head::call && values.random()() % 5 == 0)
        entry.moment.api = values.number(entry.moment.api);
    else if (layout && layout->head != Head::definition && values.random()() % 8 == 0)
        entry.moment.ticks = values.number(entry.moment.ticks);
    else
        change_body(entry, values);
}

/// Ids, addresses, sizes and whatever else the records say.
std::vector<std::uint64_t> numbers_in(const std::vector<Entry>& entries)
{
    std::vector<std::uint64_t> numbers;
    for (const Entry& entry : entries) {
        numbers.insert(numbers.end(), {entry.alloc.address, entry.alloc.bytes, entry.alloc.stack,
                                       entry.free.address, entry.place.context, entry.moment.api});
        Records::of_tag(entry.tag, [&]<class R>() {
            if (const std::optional<R> record = get_fields<R>(cursor_over(entry.body)))
                for_each_field(*record, [&](std::string_view, const auto& field) {
                    numbers.push_back(number_of(field));
                });
        });
    }
    return numbers;
}

void change_chunk_header(ChunkHeader& header, Values& values)
{
    std::uint32_t* const narrow[] = {&header.index, &header.lane,          &header.ordinal,
                                     &header.tid,   &header.pending_stack, &header.pending_api};
    std::uint64_t* const wide[] = {&header.base_ticks, &header.base_ns, &header.pending_address,
                                   &header.pending_ticks};
    const std::size_t at = values.random()() % (std::size(narrow) + std::size(wide));
    if (at < std::size(narrow))
        *narrow[at] = static_cast<std::uint32_t>(values.number(*narrow[at]));
    else
        *wide[at - std::size(narrow)] = values.number(*wide[at - std::size(narrow)]);
}

void change_file_header(FileHeader& header, Values& values)
{
    std::uint32_t* const narrow[] = {&header.pid, &header.threads, &header.waited,
                                     &header.exec_seen, &header.chunks_begun};
    std::uint64_t* const wide[] = {&header.start_real_ns,
                                   &header.start_ns,
                                   &header.start_ticks,
                                   &header.latest_ns,
                                   &header.latest_ticks,
                                   &header.exit_began_ticks,
                                   &header.snapshot_ticks,
                                   &header.suballocated,
                                   &header.python_ended_ticks,
                                   &header.stacks_verified,
                                   &header.stacks_unwound,
                                   &header.verify_mismatches,
                                   &header.lost[values.random()() % kLostReasons]};
    const std::size_t at = values.random()() % (std::size(narrow) + std::size(wide));
    if (at < std::size(narrow))
        *narrow[at] = static_cast<std::uint32_t>(values.number(*narrow[at]));
    else
        *wide[at - std::size(narrow)] = values.number(*wide[at - std::size(narrow)]);
    if (values.random()() % 4 == 0)
        header.end = static_cast<End>(values.random()() % 6);
}

/// As many of them as there is room for.
void write_chunk(std::uint8_t* chunk, ChunkHeader header, const std::vector<Entry>& entries,
                 std::size_t room)
{
    Bytes payload;
    DeltaState deltas{.ticks = header.base_ticks};
    for (const Entry& entry : entries) {
        const std::size_t before = payload.size();
        write_entry(payload, entry, deltas);
        if (payload.size() > room) {
            payload.resize(before);
            break;
        }
    }
    header.committed = static_cast<std::uint32_t>(payload.size());
    std::memcpy(chunk, &header, sizeof header);
    std::copy(payload.begin(), payload.end(), chunk + sizeof header);
}

} // namespace

void change_fields(std::vector<std::uint8_t>& log, std::mt19937_64& random)
{
    FileHeader file{};
    if (log.size() < sizeof file)
        return;
    std::memcpy(&file, log.data(), sizeof file);
    const std::size_t size = file.chunk_bytes;
    const std::size_t chunks = size > sizeof(ChunkHeader) ? (log.size() - sizeof file) / size : 0;
    if (std::memcmp(file.magic, kMagic, sizeof kMagic) != 0 || chunks == 0)
        return;
    std::uint8_t* const chunk = log.data() + sizeof file + random() % chunks * size;
    ChunkHeader header{};
    std::memcpy(&header, chunk, sizeof header);
    if (header.magic != kChunkMagic || header.committed > size - sizeof header)
        return;
    std::vector<Entry> entries = read_entries(chunk + sizeof header, header);
    Values values(random, numbers_in(entries));
    if (random() % 16 == 0) {
        change_file_header(file, values);
        std::memcpy(log.data(), &file, sizeof file);
    }
    if (random() % 16 == 0)
        change_chunk_header(header, values);
    for (std::uint64_t count = 1 + random() % 4; count > 0 && !entries.empty(); --count)
        change_entry(entries[random() % entries.size()], values);
    write_chunk(chunk, header, entries, size - sizeof header);
}

} // namespace vramscope::test
