// report/import/pickle.cpp — opcodes to values; what is complete makes room.
#include "report/import/pickle.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/log/file_bytes.hpp"

namespace vramscope::report {
namespace {

using Kind = PickleValue::Kind;

constexpr std::size_t kPickleWindow = 256 * 1024;
constexpr std::uint64_t kLeastMemory = 32 << 20; // that may be taken whatever the file's size
constexpr std::uint64_t kMemoryPerByte = 8;

struct Refused {
    std::uint8_t opcode;
    const char* name;
};
// Those that would call what the file names, or need objects from outside of it.
constexpr Refused kRefused[] = {
    {'c', "GLOBAL"},      {'R', "REDUCE"},        {'b', "BUILD"},
    {'i', "INST"},        {'o', "OBJ"},           {0x81, "NEWOBJ"},
    {0x92, "NEWOBJ_EX"},  {0x93, "STACK_GLOBAL"}, {0x82, "EXT1"},
    {0x83, "EXT2"},       {0x84, "EXT4"},         {'P', "PERSID"},
    {'Q', "BINPERSID"},   {0x97, "NEXT_BUFFER"},  {0x98, "READONLY_BUFFER"},
    {0x96, "BYTEARRAY8"}, {0x8f, "EMPTY_SET"},    {0x90, "ADDITEMS"},
    {0x91, "FROZENSET"},  {'2', "DUP"},           {'0', "POP"},
    {'1', "POP_MARK"},    {'I', "INT"},           {'L', "LONG"},
    {'F', "FLOAT"},       {'S', "STRING"},        {'V', "UNICODE"},
    {'p', "PUT"},         {'g', "GET"},
};

PickleValue integer(std::uint64_t bits)
{
    return {Kind::integer, 0, 0, bits};
}

bool is_half(const PickleValue& value)
{
    return value.kind == Kind::integer && value.bits <= UINT32_MAX;
}

bool has_items(const PickleValue& value)
{
    return value.kind == Kind::list || value.kind == Kind::dict || value.kind == Kind::tuple;
}

} // namespace

PickleInput::PickleInput(int descriptor, std::string name)
    : descriptor_(descriptor), name_(std::move(name)), file_bytes_(bytes_of_file(descriptor))
{
}

void PickleInput::fail(const std::string& what) const
{
    throw Error(Exit::bad_input, fmt::format("{}: at byte {}: {}", name_, offset(), what));
}

std::string_view PickleInput::bytes(std::uint64_t count)
{
    if (count > window_.size() - at_) {
        const std::size_t left = window_.size() - at_;
        if (count - left > file_bytes_ - std::min(offset_, file_bytes_))
            fail("it ends in the middle: the file is cut");
        window_.erase(0, at_);
        at_ = 0;
        window_.resize(std::max<std::size_t>(count, kPickleWindow));
        const std::size_t got =
            read_file(descriptor_, offset_, window_.data() + left, window_.size() - left);
        window_.resize(left + got);
        offset_ += got;
        if (window_.size() < count)
            fail("it ends in the middle: the file is cut");
    }
    at_ += count;
    return std::string_view(window_).substr(at_ - count, count);
}

std::uint64_t PickleInput::number(std::size_t count)
{
    const std::string_view read = bytes(count);
    std::uint64_t value = 0;
    for (std::size_t at = count; at > 0; --at)
        value = value << 8 | static_cast<std::uint8_t>(read[at - 1]);
    return value;
}

void PickleMachine::charge(std::uint64_t bytes)
{
    charged_ += bytes;
    if (charged_ > kLeastMemory + kMemoryPerByte * input_.file_bytes())
        fail("it would need many times the memory that its size explains: no data is like this");
}

std::uint64_t PickleMachine::intern(std::string_view text)
{
    const auto known = numbers_.find(text);
    if (known != numbers_.end())
        return known->second;
    charge(text.size() + 100); // a node of the map, and its number
    const auto added = numbers_.emplace(text, texts_.size()).first;
    texts_.push_back(&added->first);
    return added->second;
}

PickleMachine::Value PickleMachine::run()
{
    constexpr std::uint8_t kProto = 0x80;
    constexpr std::uint8_t kStop = '.';
    if (input_.byte() != kProto)
        fail("it does not begin as a pickle of protocol 2 or later does");
    if (const std::uint8_t protocol = input_.byte(); protocol < 2 || protocol > 5)
        fail(fmt::format("it is a pickle of protocol {}, and 2 to 5 are known", protocol));
    for (std::uint8_t opcode = input_.byte(); opcode != kStop; opcode = input_.byte()) {
        if (step(opcode))
            continue;
        const auto* const known =
            std::find_if(std::begin(kRefused), std::end(kRefused),
                         [&](const Refused& r) { return r.opcode == opcode; });
        if (known == std::end(kRefused))
            fail(fmt::format("{:#04x} is no opcode of pickles", opcode));
        fail(fmt::format("{} ({:#04x}) is refused: only plain data is read, and nothing is run",
                         known->name, opcode));
    }
    if (stack_.size() != 1 || !marks_.empty())
        fail("it does not end with one value");
    return stored(stack_.front());
}

bool PickleMachine::step(std::uint8_t opcode)
{
    constexpr std::uint8_t kFrame = 0x95;
    if (opcode == kFrame) {
        input_.number(8);
        return true;
    }
    return memory(opcode) || string(opcode) || number(opcode) || collection(opcode);
}

bool PickleMachine::number(std::uint8_t opcode)
{
    switch (opcode) {
    case 'N':
        return push({}), true;
    case 0x88: // NEWTRUE
    case 0x89: // NEWFALSE
        return push({Kind::boolean, 0, 0, opcode == 0x88}), true;
    case 'J': // BININT
        return push(integer(static_cast<std::uint64_t>(
                   static_cast<std::int32_t>(static_cast<std::uint32_t>(input_.number(4)))))),
               true;
    case 0x4b: // BININT1
        return push(integer(input_.number(1))), true;
    case 'M': // BININT2
        return push(integer(input_.number(2))), true;
    case 0x8a:   // LONG1
    case 0x8b: { // LONG4
        const std::uint64_t count = input_.number(opcode == 0x8a ? 1 : 4);
        std::uint64_t bits = count == 0 ? 0 : input_.number(std::min<std::uint64_t>(count, 8));
        if (count > 9 || (count == 9 && input_.byte() != 0)) // a ninth of 0: it has no sign
            fail("a number has more than 64 bits");
        if (count > 0 && count < 8 && (bits >> (8 * count - 1) & 1) != 0)
            bits |= UINT64_MAX << 8 * count;
        return push(integer(bits)), true;
    }
    case 'G': { // BINFLOAT, big-endian
        std::uint64_t bits = 0;
        for (const char byte : input_.bytes(8))
            bits = bits << 8 | static_cast<std::uint8_t>(byte);
        return push({Kind::real, 0, 0, bits}), true;
    }
    default:
        return false;
    }
}

bool PickleMachine::string(std::uint8_t opcode)
{
    std::size_t length = 0; // bytes of the text's length
    switch (opcode) {
    case 0x8c: // SHORT_BINUNICODE
    case 'C':  // SHORT_BINBYTES
    case 'U':  // SHORT_BINSTRING
        length = 1;
        break;
    case 'X': // BINUNICODE
    case 'B': // BINBYTES
    case 'T': // BINSTRING
        length = 4;
        break;
    case 0x8d: // BINUNICODE8
    case 0x8e: // BINBYTES8
        length = 8;
        break;
    default:
        return false;
    }
    const std::uint64_t bytes = input_.number(length);
    push({Kind::text, 0, 0, intern(input_.bytes(bytes))});
    return true;
}

bool PickleMachine::memory(std::uint8_t opcode)
{
    switch (opcode) {
    case 0x94: // MEMOIZE
        return remember(memo_.size()), true;
    case 'q': // BINPUT
        return remember(input_.number(1)), true;
    case 'r': // LONG_BINPUT
        return remember(input_.number(4)), true;
    case 'h': // BINGET
        return recall(input_.number(1)), true;
    case 'j': // LONG_BINGET
        return recall(input_.number(4)), true;
    default:
        return false;
    }
}

// Whoever writes pickles numbers what they remember without a gap.
void PickleMachine::remember(std::uint64_t number)
{
    if (number > memo_.size())
        fail(fmt::format("it remembers {} before {}", number, memo_.size()));
    if (number == memo_.size()) {
        charge(sizeof(Value));
        memo_.emplace_back();
    }
    if (has_items(top())) {
        at(top()).memo = static_cast<std::uint32_t>(number);
        top().put_at(top().place(), static_cast<std::uint32_t>(number));
    }
    memo_[number] = top();
}

void PickleMachine::recall(std::uint64_t number)
{
    if (number >= memo_.size())
        fail(fmt::format("it asks for {}, which was never remembered", number));
    push(memo_[number]);
}

bool PickleMachine::collection(std::uint8_t opcode)
{
    switch (opcode) {
    case '(': // MARK
        marks_.push_back(stack_.size());
        charge(sizeof marks_[0]);
        return true;
    case '}': // EMPTY_DICT
    case ']': // EMPTY_LIST
    case ')': // EMPTY_TUPLE
        push(make(opcode == '}' ? Kind::dict : opcode == ']' ? Kind::list : Kind::tuple, {}));
        return true;
    case 0x85: // TUPLE1
    case 0x86: // TUPLE2
    case 0x87: // TUPLE3
        return make_tuple(opcode - 0x84u), true;
    case 't': // TUPLE
        return make_tuple(stack_.size() - after_mark()), true;
    case 'l': // LIST
    case 'd': // DICT
    case 'a': // APPEND
    case 'e': // APPENDS
    case 's': // SETITEM
    case 'u': // SETITEMS
        break;
    default:
        return false;
    }
    const bool list = opcode == 'l' || opcode == 'a' || opcode == 'e';
    const bool fresh = opcode == 'l' || opcode == 'd';
    const std::size_t alone = opcode == 'a' ? 1 : opcode == 's' ? 2 : 0;
    if (alone > stack_.size())
        fail("it takes more than there is");
    const std::size_t begin = alone != 0 ? stack_.size() - alone : after_mark();
    const std::vector<Value> taken(stack_.begin() + static_cast<std::ptrdiff_t>(begin),
                                   stack_.end());
    stack_.resize(begin);
    if (fresh)
        push(make(list ? Kind::list : Kind::dict, {}));
    if (top().kind != (list ? Kind::list : Kind::dict))
        fail(list ? "it appends to what is no list" : "it sets items of what is no dict");
    const Value target = top();
    list ? append(target, taken) : set(target, taken);
    return true;
}

void PickleMachine::make_tuple(std::size_t count)
{
    if (count > stack_.size())
        fail("it takes more than there is");
    const std::vector<Value> taken(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    if (count == 2 && is_half(taken[0]) && is_half(taken[1]))
        push({Kind::pair, 0, 0, taken[0].bits << 32 | taken[1].bits});
    else
        push(make(Kind::tuple, taken));
}

// The index of the first value behind the last mark, which is taken away.
std::size_t PickleMachine::after_mark()
{
    if (marks_.empty())
        fail("it takes what lies behind a mark, and there is none");
    const std::size_t begin = marks_.back();
    marks_.pop_back();
    if (begin > stack_.size())
        fail("it takes more than there is");
    return begin;
}

PickleMachine::Value PickleMachine::make(Value::Kind kind, std::span<const Value> items)
{
    if (free_.empty()) {
        charge(sizeof(Container));
        free_.push_back(static_cast<std::uint32_t>(containers_.size()));
        containers_.emplace_back();
    }
    const std::uint32_t place = free_.back();
    free_.pop_back();
    Container& made = containers_[place];
    Value value{kind, 0, made.life};
    value.put_at(place, Value::kNowhere);
    for (const Value& item : items) {
        const Value done = stored(item);
        put_items(containers_[place], done);
    }
    return value;
}

PickleMachine::Container& PickleMachine::at(const Value& value)
{
    return const_cast<Container&>(std::as_const(*this).at(value));
}

const PickleMachine::Container& PickleMachine::at(const Value& value) const
{
    const Container& found = containers_[value.place()];
    if (found.life != value.life)
        fail("it uses a list or dict again that was read already");
    return found;
}

void PickleMachine::push(const Value& value)
{
    if (stack_.size() == stack_.capacity())
        charge(stack_.capacity() * sizeof value);
    stack_.push_back(value);
}

PickleMachine::Value& PickleMachine::top()
{
    if (stack_.empty() || (!marks_.empty() && marks_.back() == stack_.size()))
        fail("it takes more than there is");
    return stack_.back();
}

void PickleMachine::put_items(Container& container, const Value& item)
{
    if (container.items.size() == container.items.capacity())
        charge((container.items.capacity() + 1) * sizeof item);
    container.items.push_back(item);
}

// What is stored is complete: its meaning takes its place.
PickleMachine::Value PickleMachine::stored(const Value& value)
{
    if (value.kind != Kind::list && value.kind != Kind::dict)
        return value;
    // In a list, the same may be there twice.
    if (value.memo() < memo_.size() && memo_[value.memo()].kind == Kind::object)
        return memo_[value.memo()];
    at(value); // it is there
    const Value meaning = complete(value);
    if (meaning.kind != Kind::object)
        return value;
    Container& done = at(value);
    if (done.memo < memo_.size())
        memo_[done.memo] = meaning;
    done.items.clear();
    done.run = {};
    done.memo = Value::kNowhere;
    ++done.life;
    free_.push_back(value.place());
    return meaning;
}

void PickleMachine::append(const Value& list, std::span<const Value> items)
{
    for (const Value& item : items) {
        const Value done = stored(item);
        Container& into = at(list);
        const bool begins = into.run.count == 0;
        if (done.kind == Kind::object && into.items.empty() &&
            (begins ||
             (into.run.tag == done.tag && into.run.first + into.run.count == done.bits))) {
            if (begins)
                into.run = {done.tag, done.bits, 0};
            ++into.run.count;
        } else {
            const PickleRun run = std::exchange(into.run, {});
            for (std::uint64_t at = 0; at < run.count; ++at)
                put_items(into, {Kind::object, run.tag, 0, run.first + at});
            put_items(into, done);
        }
    }
}

void PickleMachine::set(const Value& dict, std::span<const Value> items)
{
    if (items.size() % 2 != 0)
        fail("it sets a key without a value");
    for (std::size_t at = 0; at < items.size(); at += 2) {
        const Value value = stored(items[at + 1]);
        put_items(this->at(dict), items[at]);
        put_items(this->at(dict), value);
    }
}

} // namespace vramscope::report
