// report/import/pickle/pickle_values.cpp — lists and dicts; what is complete makes room.
#include <utility>

#include "report/import/pickle/pickle.hpp"

namespace vramscope::report {
namespace {

using Kind = PickleValue::Kind;

constexpr std::uint64_t kLeastMemory = 32 << 20; // that may be taken whatever the file's size
constexpr std::uint64_t kMemoryPerByte = 8;

} // namespace

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
