// report/import/pickle/pickle.cpp — opcodes to values.
#include "report/import/pickle/pickle.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>

namespace vramscope::report {
namespace {

using Kind = PickleValue::Kind;

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
    constexpr std::uint64_t kMostTextBytes = 16 << 20; // a hole of the file is as long as it likes
    const std::uint64_t bytes = input_.number(length);
    if (bytes > kMostTextBytes)
        fail("it has a text of more than 16 MiB: no name is like this");
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
        finish_top();
        [[fallthrough]];
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

// A dict cannot be a key: one right below another gets no more items. So the events of a list that
// is written at once, without batches, do not wait for its end.
void PickleMachine::finish_top()
{
    const bool below_mark = !marks_.empty() && marks_.back() == stack_.size();
    if (!stack_.empty() && !below_mark && stack_.back().kind == Kind::dict)
        stack_.back() = stored(stack_.back());
}

// The index of the first value after the last mark, which is taken away.
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

} // namespace vramscope::report
