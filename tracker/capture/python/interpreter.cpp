// tracker/capture/python/interpreter.cpp — names looked up in every loaded object.
#include "tracker/capture/python/interpreter.hpp"

#include <charconv>
#include <cstring>
#include <link.h>

#include "tracker/capture/careful_read.hpp"
#include "tracker/capture/loaded_objects.hpp"
#include "tracker/capture/loader.hpp"
#include "tracker/capture/python/identity.hpp"

namespace vramscope::capture::python {
namespace {

struct Search {
    Interpreter& found;
    std::uintptr_t runtime = 0;
    const char* (*version)() = nullptr;
};

// "3.13.0 (main, …)" or "3.13.0rc1+ …" to 0x030d00…, as PY_VERSION_HEX without its last byte.
std::uint32_t version_of(const char* text) noexcept
{
    std::uint32_t version = 0;
    const char* const end = text + std::strlen(text);
    for (int shift = 24; shift >= 8; shift -= 8) {
        std::uint8_t part = 0;
        text = std::from_chars(text, end, part).ptr;
        version |= std::uint32_t{part} << shift;
        text += text != end && *text == '.';
    }
    return version;
}

int look_into(dl_phdr_info* info, std::size_t, void* data)
{
    auto& search = *static_cast<Search*>(data);
    const ElfW(Dyn)* const dynamic = dynamic_of(*info);
    const auto find = [&](const char* name) {
        return object_symbol(info->dlpi_addr, dynamic, name);
    };
    void* const runtime = dynamic ? find("_PyRuntime") : nullptr;
    if (!runtime)
        return 0;
    const auto number = [&](const char* name) {
        return reinterpret_cast<std::uintptr_t>(find(name));
    };
    Interpreter& found = search.found;
    search.runtime = reinterpret_cast<std::uintptr_t>(runtime);
    search.version = reinterpret_cast<const char* (*)()>(find("Py_GetVersion"));
    found.code_type = number("PyCode_Type");
    found.text_type = number("PyUnicode_Type");
    found.bytes_type = number("PyBytes_Type");
    found.loop = number("_PyEval_EvalFrameDefault");
    found.is_initialized = reinterpret_cast<int (*)()>(find("Py_IsInitialized"));
    void* const ending = find("Py_IsFinalizing");
    found.is_ending = reinterpret_cast<int (*)()>(ending ? ending : find("_Py_IsFinalizing"));
    found.own_state = reinterpret_cast<void* (*)()>(find("PyGILState_GetThisThreadState"));
    void* const attached = find("PyThreadState_GetUnchecked");
    found.attached_state =
        reinterpret_cast<void* (*)()>(attached ? attached : find("_PyThreadState_UncheckedGet"));
    const bool whole = search.version && found.code_type && found.text_type && found.bytes_type &&
                       found.is_initialized && found.own_state;
    if (whole)
        found.base = search.runtime;
    constexpr std::uintptr_t kFree = 48; // tp_dealloc, in every version
    const std::uintptr_t place = found.code_type + kFree;
    if (whole && is_writable(*info, place) && holds(*info, pointer(place)))
        found.code_free = place;
    return whole;
}

} // namespace

bool find_interpreter(Interpreter& out) noexcept
{
    out = {};
    Search search{out};
    if (!each_object(&look_into, &search))
        return false;
    const char* const text = search.version();
    out.version = version_of(text);
    std::strncpy(out.version_text, text,
                 std::strcspn(text, " (") < sizeof out.version_text ? std::strcspn(text, " (")
                                                                    : sizeof out.version_text - 1);
    constexpr std::uint32_t kStatesAreThreadLocal = 0x030c0000;
    if (out.version < kStatesAreThreadLocal)
        out.attached_state = nullptr; // it is the state of whichever thread holds the GIL
    return true;
}

bool is_loaded(const Interpreter& interpreter) noexcept
{
    std::uintptr_t base = interpreter.base;
    const auto holds_it = [](dl_phdr_info* info, std::size_t, void* data) {
        return static_cast<int>(holds(*info, *static_cast<std::uintptr_t*>(data)));
    };
    return each_object(holds_it, &base) != 0;
}

bool find_layout(const Interpreter& interpreter, Layout& out, const char*& why_not) noexcept
{
    constexpr std::uint32_t kFirstWithOffsets = 0x030d0000;
    if (interpreter.version < kFirstWithOffsets) {
        const Layout* const known = known_layout(interpreter.version);
        why_not = known ? nullptr : "this version is not known";
        if (known)
            out = *known;
    } else {
        why_not = read_offsets(interpreter.base, interpreter.version, out);
    }
    return !why_not;
}

} // namespace vramscope::capture::python
