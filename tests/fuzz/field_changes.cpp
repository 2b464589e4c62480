// tests/fuzz/field_changes.cpp — which field is changed, and into what.
#include "tests/fuzz/field_changes.hpp"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>

#include "tests/fuzz/chunk_entries.hpp"

namespace vramscope::test {
namespace {

using namespace format;
using Bytes = std::vector<std::uint8_t>;
using Random = std::mt19937_64;

Cursor cursor_over(const Bytes& bytes)
{
    return {bytes.data(), bytes.data() + bytes.size()};
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

template <class Number>
void change(Number& number, Values& values)
{
    number = static_cast<Number>(values.number(static_cast<std::uint64_t>(number)));
}

void change_one_of(std::initializer_list<std::uint64_t*> fields, Values& values)
{
    change(**(fields.begin() + values.random()() % fields.size()), values);
}

void change_one_of(std::initializer_list<std::uint32_t*> narrow,
                   std::initializer_list<std::uint64_t*> wide, Values& values)
{
    if (values.random()() % (narrow.size() + wide.size()) < narrow.size())
        change(**(narrow.begin() + values.random()() % narrow.size()), values);
    else
        change_one_of(wide, values);
}

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

/// `text` keeps what a text points to.
template <class Field>
void change_field(Field& field, Values& values, std::string& text)
{
    if constexpr (std::is_same_v<Field, std::string_view>)
        field = text = values.text();
    else if constexpr (kIsNumber<Field>)
        change(field.value, values);
    else if constexpr (std::is_same_v<Field, bool>)
        field = !field;
    else if constexpr (std::is_enum_v<Field>)
        field = static_cast<Field>(values.random()() % 3 == 0 ? 254 : values.random()() % 24);
    else if constexpr (std::is_integral_v<Field>)
        change(field, values);
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
    change_one_of(
        {&alloc.api, &alloc.address, &alloc.bytes, &alloc.stack, &alloc.slack, &alloc.ticks},
        values);
    if (values.random()() % 8 == 0) {
        alloc.pooled = !alloc.pooled;
        entry.tag = alloc.pooled ? Tag::pooled : Tag::alloc;
    }
}

void change_place(Place& place, Values& values)
{
    switch (values.random()() % 5) {
    case 0:
        return change(place.device, values);
    case 1:
        place.capturing = !place.capturing;
        return;
    default:
        return change_one_of({&place.context, &place.stream, &place.pool}, values);
    }
}

void change_entry(Entry& entry, Values& values)
{
    const Layout* const layout = layout_of(entry.tag);
    if (entry.tag == Tag::alloc || entry.tag == Tag::pooled)
        change_alloc(entry, values);
    else if (entry.tag == Tag::free)
        change_one_of({&entry.free.api, &entry.free.address, &entry.free.stack, &entry.free.ticks},
                      values);
    else if (entry.tag == Tag::place)
        change_place(entry.place, values);
    else if (layout && layout->head == Head::call && values.random()() % 5 == 0)
        change(entry.moment.api, values);
    else if (layout && layout->head != Head::definition && values.random()() % 8 == 0)
        change(entry.moment.ticks, values);
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
    change_one_of(
        {&header.index, &header.lane, &header.ordinal, &header.tid, &header.pending_stack,
         &header.pending_api},
        {&header.base_ticks, &header.base_ns, &header.pending_address, &header.pending_ticks},
        values);
}

void change_file_header(FileHeader& header, Values& values)
{
    change_one_of(
        {&header.pid, &header.threads, &header.waited, &header.exec_seen, &header.chunks_begun},
        {&header.start_real_ns, &header.start_ns, &header.start_ticks, &header.latest_ns,
         &header.latest_ticks, &header.exit_began_ticks, &header.snapshot_ticks,
         &header.suballocated, &header.python_ended_ticks, &header.stacks_verified,
         &header.stacks_unwound, &header.verify_mismatches,
         &header.lost[values.random()() % kLostReasons]},
        values);
    if (values.random()() % 4 == 0)
        header.end = static_cast<End>(values.random()() % 6);
}

/// Where its chunks begin; none: it is no log.
std::vector<std::size_t> chunks_of(const Bytes& log, FileHeader& file)
{
    std::vector<std::size_t> chunks;
    if (log.size() < sizeof file)
        return chunks;
    std::memcpy(&file, log.data(), sizeof file);
    const std::size_t size = file.chunk_bytes;
    if (std::memcmp(file.magic, kMagic, sizeof kMagic) == 0 && size > sizeof(ChunkHeader))
        for (std::size_t at = sizeof file; log.size() - at >= size; at += size)
            chunks.push_back(at);
    return chunks;
}

/// `change(header, entries)`, of a chunk that is in use.
template <class Change>
void rewrite_chunk(std::uint8_t* chunk, std::size_t bytes, Change change_it)
{
    ChunkHeader header{};
    const std::size_t room = bytes - sizeof header;
    std::memcpy(&header, chunk, sizeof header);
    if (header.magic != kChunkMagic || header.committed > room)
        return;
    std::vector<Entry> entries = read_entries(chunk + sizeof header, header);
    change_it(header, entries);
    write_chunk(chunk, header, entries, room);
}

} // namespace

void change_fields(std::vector<std::uint8_t>& log, std::mt19937_64& random)
{
    FileHeader file{};
    const std::vector<std::size_t> chunks = chunks_of(log, file);
    if (chunks.empty())
        return;
    std::uint8_t* const chunk = log.data() + chunks[random() % chunks.size()];
    rewrite_chunk(chunk, file.chunk_bytes, [&](ChunkHeader& header, std::vector<Entry>& entries) {
        Values values(random, numbers_in(entries));
        if (random() % 16 == 0) {
            change_file_header(file, values);
            std::memcpy(log.data(), &file, sizeof file);
        }
        if (random() % 16 == 0)
            change_chunk_header(header, values);
        for (std::uint64_t count = 1 + random() % 4; count > 0 && !entries.empty(); --count)
            change_entry(entries[random() % entries.size()], values);
    });
}

void rewrite(std::vector<std::uint8_t>& log)
{
    FileHeader file{};
    for (const std::size_t chunk : chunks_of(log, file))
        rewrite_chunk(log.data() + chunk, file.chunk_bytes,
                      [](const ChunkHeader&, const std::vector<Entry>&) {});
}

} // namespace vramscope::test
