// report/import/pickle/pickle.hpp — a pickle of protocol 2 to 5, as data; nothing in it is run.
//
// A small machine with the opcodes that build numbers, texts, lists, tuples and dicts; any other,
// as one that calls a function, is an Error that names its offset. The file is hostile: nothing
// recurses, and memory stays below a few times the file's size. So that it stays far below, the
// reader tells the machine what a dict or a list means as soon as it is complete, and it keeps that
// in place of the items.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/import/pickle/pickle_input.hpp"

namespace vramscope::report {

struct PickleValue {
    enum class Kind : std::uint8_t {
        none,
        boolean, // bits: 0 or 1
        integer, // bits: of a signed number, or of an unsigned one above all of these
        real,    // bits: of a double
        pair,    // two numbers below 2^32, the first in the upper half of bits
        text,    // bits: see PickleMachine::text()
        list,    // see PickleMachine::items(), as of the next two
        tuple,
        dict,   // its items are keys and values in turn
        object, // what was made of a dict or a list: `tag` and bits are its reader's
        mark,
    };
    Kind kind = Kind::none;
    std::uint8_t tag = 0;
    std::uint32_t life = 0; // which list, tuple or dict it is: places are used again
    std::uint64_t bits = 0;

    // Where a list, tuple or dict lies, and where it is remembered.
    static constexpr std::uint32_t kNowhere = UINT32_MAX;
    std::uint32_t place() const noexcept { return static_cast<std::uint32_t>(bits); }
    std::uint32_t memo() const noexcept { return static_cast<std::uint32_t>(bits >> 32); }
    void put_at(std::uint32_t place, std::uint32_t memo) noexcept
    {
        bits = std::uint64_t{memo} << 32 | place;
    }
};

// Objects with consecutive bits that were stored in a list, in place of its items.
struct PickleRun {
    std::uint8_t tag = 0;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
};

class PickleMachine {
public:
    using Value = PickleValue;

    explicit PickleMachine(PickleInput& input) : input_(input) {}
    PickleMachine(const PickleMachine&) = delete;
    PickleMachine& operator=(const PickleMachine&) = delete;
    virtual ~PickleMachine() = default;

    // The value that the pickle is of.
    Value run();

    std::uint64_t intern(std::string_view text); // equal texts have one number, from 0 up
    std::string_view text(std::uint64_t number) const { return *texts_[number]; }
    std::span<const Value> items(const Value& container) const { return at(container).items; }
    const PickleRun& run_of(const Value& list) const { return at(list).run; }
    [[noreturn]] void fail(const std::string& what) const { input_.fail(what); }
    void charge(std::uint64_t bytes); // memory that the reader keeps for what it has read

protected:
    // Called when the dict or list is stored elsewhere, and so complete. An object takes its place;
    // any other value leaves it.
    virtual Value complete(const Value& container) = 0;

private:
    struct Container {
        std::vector<Value> items;
        PickleRun run;
        std::uint32_t life = 0;
        std::uint32_t memo = Value::kNowhere;
    };

    bool step(std::uint8_t opcode);
    bool number(std::uint8_t opcode);
    bool string(std::uint8_t opcode);
    bool collection(std::uint8_t opcode);
    bool memory(std::uint8_t opcode);

    Container& at(const Value& value);
    const Container& at(const Value& value) const;
    void push(const Value& value);
    Value pop();
    Value& top();
    std::size_t after_mark();
    void finish_top();
    Value make(Value::Kind kind, std::span<const Value> items);
    Value stored(const Value& value);
    void append(const Value& list, std::span<const Value> items);
    void set(const Value& dict, std::span<const Value> items);
    void put_items(Container& container, const Value& item);
    void make_tuple(std::size_t count);
    void remember(std::uint64_t number);
    void recall(std::uint64_t number);

    PickleInput& input_;
    std::uint64_t charged_ = 0;
    std::vector<Value> stack_;
    std::vector<std::size_t> marks_; // where they lie in the stack
    std::deque<Value> memo_;         // as many as the file has values
    std::vector<Container> containers_;
    std::vector<std::uint32_t> free_; // containers that can be used again
    std::map<std::string, std::uint64_t, std::less<>> numbers_;
    std::vector<const std::string*> texts_;
};

} // namespace vramscope::report
