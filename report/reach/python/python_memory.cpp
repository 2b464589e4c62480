// report/reach/python/python_memory.cpp — pools, objects and frames of CPython, seen from outside.
#include "report/reach/python/python_memory.hpp"

#include <algorithm>

namespace vramscope::report {
namespace {

using namespace python;

constexpr std::size_t kMostNameBytes = 100;
constexpr std::size_t kMostModules = 20'000;
constexpr std::size_t kMostFrames = 10'000; // of a thread
constexpr std::size_t kMostThreads = 10'000;
constexpr std::size_t kMostChunks = 1'000;

bool is_name(std::string_view name)
{
    return !name.empty() &&
           name.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == name.npos;
}

bool is_inside(const AddressSpan& span, Address address)
{
    return address >= span.begin && address < span.end;
}

struct PoolHead {
    std::uint32_t used = 0, padding = 0;
    Address free = 0, next = 0, before = 0;
    std::uint32_t arena = 0, size_class = 0, next_offset = 0, last_offset = 0;
};
static_assert(sizeof(PoolHead) == kPoolHead);

// Where the blocks of a pool are so large; 0: it is no pool.
std::uint64_t block_bytes(const PoolHead& head)
{
    constexpr std::uint32_t kMostArenas = 1 << 20;
    const std::uint64_t bytes = (head.size_class + std::uint64_t{1}) * kPoolStep;
    const bool sound = head.size_class < kPoolClasses && head.last_offset == kPoolBytes - bytes &&
                       head.used <= (kPoolBytes - kPoolHead) / bytes && head.arena < kMostArenas &&
                       head.next_offset >= kPoolHead && head.next_offset <= kPoolBytes + bytes;
    return sound ? bytes : 0;
}

} // namespace

PythonMemory::PythonMemory(const ProcessMemory& memory, const ModuleNames& modules)
    : memory_(memory)
{
    known_ = prove(modules);
}

// The type of types is of its own type; the first interpreter has a module `__main__`.
bool PythonMemory::prove(const ModuleNames& modules)
{
    const AddressSpan version = modules.python_variable("Py_Version");
    runtime_ = modules.python_variable("_PyRuntime");
    type_type_ = modules.python_variable("PyType_Type").begin;
    if (version.begin == 0 || runtime_.begin == 0 || type_type_ == 0 ||
        !take_layout(word_at(version.begin)) || word_at(type_type_ + kType) != type_type_ ||
        type_name(type_type_) != "type")
        return false;
    std::size_t interpreters = 0;
    for (Address at = word_at(runtime_.begin + layout_.interpreters);
         at != 0 && ++interpreters < 1'000; at = word_at(at + layout_.next_interpreter)) {
        find_modules(at);
        find_frames(at);
    }
    std::sort(frames_.begin(), frames_.end(),
              [](const PythonFrame& a, const PythonFrame& b) { return a.begin < b.begin; });
    return std::any_of(module_names_.begin(), module_names_.end(),
                       [](const auto& module) { return module.second == "__main__"; });
}

// Since 3.13 the runtime begins with a table of its own offsets.
bool PythonMemory::take_layout(std::uint64_t version)
{
    const std::uint64_t minor = version >> 16 & 0xff;
    const auto* const known =
        std::find_if(std::begin(kLayouts), std::end(kLayouts),
                     [minor](const Layout& layout) { return layout.minor == minor; });
    if (version >> 24 != 3 || known == std::end(kLayouts))
        return false;
    layout_ = *known;
    if (minor < kFirstWithTable)
        return true;
    const Address table = runtime_.begin;
    const auto offset = [&](std::uint64_t at) {
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(word_at(table + at), 1 << 24));
    };
    layout_.interpreters = offset(kTableInterpreters);
    layout_.next_interpreter = offset(kTableNextInterpreter);
    layout_.threads = offset(kTableThreads);
    layout_.modules = offset(kTableModules);
    layout_.next_thread = offset(kTableNextThread);
    layout_.thread_frame = offset(kTableFrame);
    layout_.thread_id = offset(kTableThreadId);
    layout_.thread_chunk = offset(kTableChunk);
    return word_at(table) == kTableCookie && word_at(table + kTableFreeThreaded) == 0;
}

bool PythonMemory::is_runtime(Address word) const
{
    return known_ && is_inside(runtime_, word);
}

void PythonMemory::find_modules(Address interpreter)
{
    const Address dict = word_at(interpreter + layout_.modules);
    if (!is_of(dict, "dict") || word_at(dict + kDictValues) != 0)
        return;
    const Address keys = word_at(dict + kDictKeys);
    const bool general = get<std::uint8_t>(keys + kKeysKind) == 0;
    const std::uint64_t used = std::min<std::uint64_t>(word_at(keys + kKeysUsed), kMostModules);
    const Address first = first_entry(keys);
    for (std::uint64_t at = 0; at < used; ++at) {
        const Address entry =
            general ? first + at * kGeneralEntry + sizeof(Address) : first + at * kTextEntry;
        const std::string name = text(word_at(entry));
        const Address module = word_at(entry + sizeof(Address));
        if (name == "?" || !is_of(module, "module"))
            continue;
        module_names_[module] = name;
        if (const Address variables = word_at(module + kModuleDict); is_of(variables, "dict"))
            module_names_[variables] = name;
    }
}

void PythonMemory::find_frames(Address interpreter)
{
    std::size_t threads = 0;
    for (Address thread = word_at(interpreter + layout_.threads);
         thread != 0 && ++threads < kMostThreads; thread = word_at(thread + layout_.next_thread))
        find_frames_of(thread);
}

void PythonMemory::find_frames_of(Address thread)
{
    std::size_t count = 0;
    for (Address chunk = word_at(thread + layout_.thread_chunk);
         chunk != 0 && ++count < kMostChunks; chunk = word_at(chunk + kChunkBefore))
        chunks_.push_back({chunk, chunk + word_at(chunk + kChunkBytes)});
    const auto tid = static_cast<std::uint32_t>(word_at(thread + layout_.thread_id));
    const Address first = word_at(thread + layout_.thread_frame);
    const Address innermost =
        layout_.in_call < 0 ? first : word_at(first + static_cast<Address>(layout_.in_call));
    count = 0;
    for (Address frame = innermost; frame != 0 && ++count < kMostFrames;
         frame = word_at(frame + layout_.frame_before)) {
        const Address code = word_at(frame + layout_.frame_code);
        if (!is_of(code, "code"))
            continue;
        const std::uint64_t words = std::uint64_t{get<std::uint32_t>(code + layout_.code_locals)} +
                                    get<std::uint32_t>(code + layout_.code_stack_words);
        PythonFrame row;
        row.begin = frame;
        row.locals = frame + kFrameLocals;
        row.temporaries =
            row.locals +
            std::uint64_t{get<std::uint32_t>(code + layout_.code_locals)} * sizeof(Address);
        row.end = row.locals + std::min<std::uint64_t>(words, 1 << 16) * sizeof(Address);
        row.code = code;
        row.tid = tid;
        frames_.push_back(row);
    }
}

const PythonFrame* PythonMemory::frame_at(Address word) const
{
    const auto behind = std::upper_bound(
        frames_.begin(), frames_.end(), word,
        [](Address value, const PythonFrame& frame) { return value < frame.begin; });
    return behind != frames_.begin() && word < std::prev(behind)->end ? &*std::prev(behind)
                                                                      : nullptr;
}

bool PythonMemory::is_frames_memory(Address word) const
{
    return std::any_of(chunks_.begin(), chunks_.end(),
                       [word](const AddressSpan& chunk) { return is_inside(chunk, word); });
}

std::optional<InterpreterBlock> PythonMemory::pool_block(const AddressSpan& region,
                                                         Address address) const
{
    const Address pool = address / kPoolBytes * kPoolBytes;
    PoolHead head;
    if (!known_ || pool < region.begin || pool + kPoolBytes > region.end ||
        !memory_.read(pool, &head, sizeof head))
        return std::nullopt;
    const std::uint64_t bytes = block_bytes(head);
    if (bytes == 0)
        return std::nullopt;
    if (head.used == 0)
        return InterpreterBlock{{pool, pool + kPoolBytes}, true};
    if (address < pool + kPoolHead)
        return InterpreterBlock{{pool, pool + kPoolHead}, true};
    const std::uint64_t number = (address - pool - kPoolHead) / bytes;
    const Address begin = pool + kPoolHead + number * bytes;
    InterpreterBlock block{{begin, begin + bytes}, begin >= pool + head.next_offset};
    const auto [known, added] = pools_.try_emplace(pool);
    if (added)
        for (Address at = head.free; at >= pool + kPoolHead && at < pool + kPoolBytes;
             at = word_at(at)) {
            const std::uint64_t nth = (at - pool - kPoolHead) / bytes;
            if (known->second.test(nth))
                break;
            known->second.set(nth);
        }
    block.free = block.free || known->second.test(number);
    return block;
}

bool PythonMemory::is_type(Address address) const
{
    if (address == 0 || address % sizeof(Address) != 0)
        return false;
    const auto [known, added] = types_.try_emplace(address);
    if (added) {
        const Address meta = word_at(address + kType);
        if (meta != 0 && (meta == type_type_ || word_at(meta + kType) == type_type_))
            if (std::string name = characters(word_at(address + kTypeName), kMostNameBytes);
                is_name(name))
                known->second = std::move(name);
    }
    return !known->second.empty();
}

Address PythonMemory::object_in(const AddressSpan& block) const
{
    struct Head {
        std::int64_t references;
        Address type;
    };
    constexpr std::int64_t kMostReferences = std::int64_t{1} << 40;
    if (!known_)
        return 0;
    for (const std::uint64_t before :
         {std::uint64_t{0}, kCollectorBytes, kCollectorBytes + kAttributeBytes}) {
        const Address object = block.begin + before;
        if (object + sizeof(Head) > block.end)
            return 0;
        const Head head = get<Head>(object);
        if (head.references > 0 && head.references < kMostReferences && is_type(head.type))
            return object;
    }
    return 0;
}

bool PythonMemory::is_no_holder(Address object, Address word) const
{
    if (word < object)
        return word + kCollectorBytes >= object;
    const bool is_weak = is_of(object, "weakref.ReferenceType") || is_of(object, "weakref") ||
                         is_of(object, "weakref.ProxyType") || is_of(object, "weakproxy") ||
                         is_of(object, "weakcallableproxy") || is_of(object, "weakref.KeyedRef") ||
                         is_of(object, "KeyedRef");
    return is_weak && word != object + kWeakCallback && word != object + kType;
}

std::uint64_t PythonMemory::references(Address object) const
{
    return word_at(object);
}

const std::string* PythonMemory::module_of(Address object) const
{
    const auto known = module_names_.find(object);
    return known == module_names_.end() ? nullptr : &known->second;
}

} // namespace vramscope::report
