// interpose/doors/lookup.cpp — what dlsym, dlvsym and cuGetProcAddress answer.
//
// A look-up gets our wrapper only where its own answer is the driver's address of a hooked entry
// point, and the asker is not the driver. Every other look-up goes on to the next dlsym by a jump,
// so that libc sees the caller.
#include "interpose/doors/lookup.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <link.h>

#include "interpose/doors/deepbound.hpp"
#include "interpose/hooks/classified_names.hpp"
#include "interpose/hooks/unknown_names.hpp"
#include "tracker/capture/loaded_objects.hpp"
#include "tracker/capture/loader.hpp"

extern "C" {
// lookup_stub.S jumps through these. They are set before the filter returns for the first time.
[[gnu::visibility("hidden")]] std::atomic<void*> vramscope_next_dlsym{nullptr};
[[gnu::visibility("hidden")]] std::atomic<void*> vramscope_next_dlvsym{nullptr};
[[gnu::visibility("hidden")]] std::atomic<void*> vramscope_next_dlopen{nullptr};
[[gnu::visibility("hidden")]] int vramscope_filter_lookup(void* handle, const char* name,
                                                          const char* version, void* caller,
                                                          void** result);
[[gnu::visibility("hidden")]] void vramscope_note_dlopen(const char* path, int flags);
}

namespace vramscope::hooks {
namespace {

using Dlsym = void* (*)(void*, const char*);
using Dlvsym = void* (*)(void*, const char*, const char*);

// The next definition after ours, as the program would have got it: libc's, or another preload's.
void find_next() noexcept
{
    if (vramscope_next_dlsym.load(std::memory_order_acquire))
        return;
    const auto find = [](std::atomic<void*>& into, const char* name) {
        void* const own = capture::libc_symbol(name); // musl has no dlvsym: to ask would be told
        void* const next = own ? capture::loader_dlsym(RTLD_NEXT, name) : nullptr;
        into.store(next ? next : own, std::memory_order_release);
    };
    find(vramscope_next_dlopen, "dlopen");
    find(vramscope_next_dlvsym, "dlvsym");
    find(vramscope_next_dlsym, "dlsym");
}

void* ask_next(void* handle, const char* name, const char* version) noexcept
{
    if (version)
        return reinterpret_cast<Dlvsym>(vramscope_next_dlvsym.load())(handle, name, version);
    return reinterpret_cast<Dlsym>(vramscope_next_dlsym.load())(handle, name);
}

bool is_loader_name(const char* name) noexcept
{
    return std::strcmp(name, "dlsym") == 0 || std::strcmp(name, "dlvsym") == 0;
}

// A cheap test: it runs for every dlsym of the program.
bool is_driver_name(const char* name) noexcept
{
    return name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

// The look-up itself goes on untouched, and leaves dlerror as it should be.
void remember_if_unknown(const char* name, const void* caller) noexcept
{
    if (!is_unknown_memory_name(name))
        return;
    const int program_errno = errno;
    const Driver* driver = Driver::find();
    if (driver && driver->exports(name) && !driver->contains(caller))
        remember_unknown_name(name, 0);
    errno = program_errno;
}

void* wrapper_for(const Driver& driver, const HookInfo& hook, void* found) noexcept
{
    if (!found || found != driver.own_address(id_of(hook)))
        return found;
    set_real_function(id_of(hook), found);
    return wrapper_of(id_of(hook));
}

// What the global scope holds after us. As the last question to the loader it leaves dlerror as it
// should be.
void* next_after_us(const char* name, const char* version) noexcept
{
    if (!version)
        return capture::loader_dlsym(RTLD_NEXT, name);
    const auto libc_dlvsym = reinterpret_cast<Dlvsym>(capture::libc_symbol("dlvsym"));
    return libc_dlvsym ? libc_dlvsym(RTLD_NEXT, name, version) : nullptr;
}

// RTLD_DEFAULT also means the libraries that the caller brought along, which only a look-up in its
// own handle sees.
void* find_in_scope_of(const void* caller, const char* name, const char* version) noexcept
{
    Dl_info object;
    if (!::dladdr(caller, &object) || !object.dli_fname)
        return nullptr;
    void* handle = capture::loader_dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) // the main program: it brought nothing
        return next_after_us(name, version);
    ::dlclose(handle); // the caller is there, so it stays; and dlerror is to tell of the look-up
    return ask_next(handle, name, version);
}

struct OrderSearch {
    const void* caller;
    bool caller_is_first;
};

// Objects come in the order in which they were loaded, which is the order of the global scope.
int find_first_of_caller_and_us(dl_phdr_info* info, std::size_t, void* data)
{
    auto& search = *static_cast<OrderSearch*>(data);
    const auto holds = [info](const void* address) {
        return capture::holds(*info, reinterpret_cast<std::uintptr_t>(address));
    };
    search.caller_is_first = holds(search.caller);
    return search.caller_is_first || holds(&vramscope_next_dlsym);
}

bool stands_before_us(const void* caller) noexcept
{
    OrderSearch search{caller, false};
    capture::each_object(&find_first_of_caller_and_us, &search);
    return search.caller_is_first;
}

// Our exports are in the global scope, where the driver need not be: a look-up that met one of them
// is answered with what it would have met without us. RTLD_NEXT of a caller that comes after us
// does not meet them, and is libc's to answer.
bool look_past_us(void* handle, const HookInfo& hook, const char* version, const void* caller,
                  void** found) noexcept
{
    const char* name = hook.symbol();
    if (handle == RTLD_NEXT) {
        if (!stands_before_us(caller))
            return false;
        *found = next_after_us(name, version);
    } else if (handle == RTLD_DEFAULT) {
        if (capture::loader_dlsym(RTLD_DEFAULT, name) != wrapper_of(id_of(hook)))
            return false; // the program's own, before every library's
        *found = next_after_us(name, version);
        if (!*found)
            *found = find_in_scope_of(caller, name, version);
    } else {
        *found = ask_next(handle, name, version);
        if (*found == wrapper_of(id_of(hook)))
            *found = next_after_us(name, version);
    }
    return true;
}

// A driver may answer with other addresses than it exports: then what was asked tells what they
// are. But a function that is exported as a version that we do not know, or may be one, has other
// parameters than our wrapper.
const HookInfo* hook_by_name(const char* base, int version, Streams streams,
                             const void* function) noexcept
{
    const HookInfo* hook = find_hook(base, version, streams);
    if (!hook || version > kNewestKnownVersion)
        return nullptr;
    Dl_info found;
    const bool has_name =
        ::dladdr(function, &found) && found.dli_saddr == function && found.dli_sname;
    const std::size_t length = std::strlen(base);
    if (has_name && std::strncmp(found.dli_sname, base, length) == 0 &&
        (!found.dli_sname[length] || found.dli_sname[length] == '_'))
        return find_hook(found.dli_sname);
    return hook;
}

} // namespace

void LooksUp::substitute(const Driver& driver) const noexcept
{
    constexpr cuuint64_t kPerThreadStream = 2; // CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
    if (!symbol || !out || !*out)
        return;
    const HookInfo* hook = driver.hook_at(*out);
    if (!hook)
        hook = hook_by_name(symbol, version,
                            flags & kPerThreadStream ? Streams::per_thread : Streams::legacy, *out);
    if (hook) {
        set_real_function(id_of(*hook), *out);
        *out = wrapper_of(id_of(*hook));
    } else if (driver.contains(*out) && is_unknown_memory_name(symbol)) {
        remember_unknown_name(symbol, version);
    }
}

} // namespace vramscope::hooks

// Returns 1 with the answer in *result, or 0: jump on.
int vramscope_filter_lookup(void* handle, const char* name, const char* version, void* caller,
                            void** result)
{
    using namespace vramscope;
    using namespace vramscope::hooks;
    find_next();
    if (!name)
        return 0;
    const HookInfo* hook = is_driver_name(name) ? find_hook(name) : nullptr;
    if (!hook) {
        if (is_driver_name(name))
            remember_if_unknown(name, caller);
        if (handle == RTLD_NEXT || handle == RTLD_DEFAULT || !is_loader_name(name))
            return 0;
        void* found = ask_next(handle, name, version);
        if (found == vramscope_next_dlsym.load())
            found = reinterpret_cast<void*>(&::dlsym);
        else if (found == vramscope_next_dlvsym.load())
            found = reinterpret_cast<void*>(&::dlvsym);
        *result = found;
        return 1;
    }
    const Driver* driver = Driver::find(); // first: it asks the loader too
    if (!look_past_us(handle, *hook, version, caller, result))
        return 0;
    if (driver && !driver->contains(caller))
        *result = wrapper_for(*driver, *hook, *result);
    return 1;
}

void vramscope_note_dlopen(const char* path, int flags)
{
    const int program_errno = errno;
    vramscope::hooks::find_next();
    if (flags & RTLD_DEEPBIND)
        vramscope::hooks::remember_deepbound(path);
    errno = program_errno;
}
