// tests/differential/player/entry.cpp — the hook table, seen from the program's side.
#include "tests/differential/player/entry.hpp"

#include <cstdio>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <string_view>
#include <unordered_map>

namespace differential {
namespace {

struct Row {
    const char* symbol;
    const char* base;
    int since;
    bool per_thread;
};

constexpr bool legacy = false;
constexpr bool per_thread = true;
const Row kRows[] = {
#define VRAMSCOPE_HOOK(symbol, base, since, streams, ...) {#symbol, #base, since, streams},
#include "interpose/hooks/hook_table.def"
};

const Row* row_of(const char* name)
{
    for (const Row& row : kRows)
        if (std::strcmp(row.symbol, name) == 0)
            return &row;
    return nullptr;
}

std::deque<Entry>& entries()
{
    static auto* all = new std::deque<Entry>;
    return *all;
}

void* library_of(const char* name)
{
    static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    static void* const runtime = dlopen(VRAMSCOPE_CUDART, RTLD_NOW);
    return std::strncmp(name, "cuda", 4) == 0 ? runtime : driver;
}

void* ask_driver(const Row& row)
{
    void* found = nullptr;
    const cuuint64_t flags = row.per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                            : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    const auto ask = reinterpret_cast<CUresult (*)(const char*, void**, int, cuuint64_t)>(
        dlsym(library_of("cu"), "cuGetProcAddress"));
    if (!ask || ask(row.base, &found, row.since, flags) != CUDA_SUCCESS)
        return nullptr;
    // A signature that the driver has under this name, but not of this version, is another one's.
    const char* name = name_of_function(found);
    return name && std::strcmp(name, row.symbol) == 0 ? found : nullptr;
}

} // namespace

Entry& entry_of(const char* name, void* linked)
{
    static auto* by_name = new std::unordered_map<std::string_view, Entry*>;
    if (const auto found = by_name->find(name); found != by_name->end()) {
        if (linked)
            found->second->address[0] = linked;
        return *found->second;
    }
    Entry& made = entries().emplace_back();
    const Row* row = row_of(name);
    made.name = name;
    made.hooked = row != nullptr;
    made.runtime = std::strncmp(name, "cuda", 4) == 0;
    void* const exported = dlsym(library_of(name), name);
    made.address[0] = linked ? linked : exported;
    made.address[1] = exported ? exported : linked;
    void* const asked = row ? ask_driver(*row) : nullptr;
    made.address[2] = asked ? asked : made.address[1];
    by_name->emplace(name, &made);
    return made;
}

void look_up_rows()
{
    for (const Row& row : kRows)
        entry_of(row.symbol, nullptr);
}

const char* name_of_function(void* address)
{
    static const auto* names = [] {
        auto* made = new std::unordered_map<void*, const char*>;
        for (const Row& row : kRows)
            if (void* const at = dlsym(library_of("cu"), row.symbol))
                made->emplace(at, row.symbol);
        return made;
    }();
    const auto found = names->find(address);
    if (found != names->end())
        return found->second;
    Dl_info info{};
    return dladdr(address, &info) && info.dli_sname ? info.dli_sname : nullptr;
}

void write_row_counts(std::FILE* out)
{
    std::fprintf(out, "{");
    for (const Row& row : kRows) {
        if (row.since > CUDA_VERSION) // the driver is as old as the toolkit
            continue;
        Entry& entry = entry_of(row.symbol, nullptr);
        std::fprintf(out, "%s\"%s\": [", &row == kRows ? "" : ", ", row.symbol);
        for (const std::uint64_t calls : entry.calls)
            std::fprintf(out, "%llu, ", static_cast<unsigned long long>(calls));
        std::fprintf(out, "%llu]", static_cast<unsigned long long>(entry.successes));
    }
    std::fprintf(out, "}");
}

} // namespace differential
