// report/symbols/debuginfod.cpp — three functions of libdebuginfod.so.1.
#include "report/symbols/debuginfod.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

namespace vramscope::report {
namespace {

class Library final : public Debuginfod {
public:
    Library() : library_(::dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL))
    {
        if (library_ == nullptr)
            return;
        find(begin_, "debuginfod_begin");
        find(ask_, "debuginfod_find_debuginfo");
        find(end_, "debuginfod_end");
        if (begin_ && ask_ && end_)
            client_ = begin_();
    }
    ~Library() override
    {
        if (client_ != nullptr)
            end_(client_);
        // What it brought along, a library for the network, is not made to be unloaded.
    }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    bool usable() const { return client_ != nullptr; }

    std::string debug_file(const std::string& build_id) override
    {
        char* place = nullptr;
        const int descriptor =
            ask_(client_, reinterpret_cast<const unsigned char*>(build_id.data()),
                 static_cast<int>(build_id.size()), &place);
        if (descriptor < 0)
            return {};
        ::close(descriptor);
        std::string path = place != nullptr ? place : "";
        std::free(place);
        return path;
    }

private:
    template <typename Function>
    void find(Function*& function, const char* name)
    {
        function = reinterpret_cast<Function*>(::dlsym(library_, name));
    }

    void* library_;
    void* (*begin_)() = nullptr;
    int (*ask_)(void* client, const unsigned char* build_id, int bytes, char** path) = nullptr;
    void (*end_)(void* client) = nullptr;
    void* client_ = nullptr;
};

} // namespace

std::unique_ptr<Debuginfod> Debuginfod::open(std::string& why_not)
{
    const char* const servers = std::getenv("DEBUGINFOD_URLS");
    if (servers == nullptr || *servers == '\0') {
        why_not = "DEBUGINFOD_URLS names no server";
        return nullptr;
    }
    auto library = std::make_unique<Library>();
    if (!library->usable()) {
        why_not = "libdebuginfod.so.1 of elfutils is not installed (Debian 12: libdebuginfod1; 13: "
                  "libdebuginfod1t64)";
        return nullptr;
    }
    return library;
}

} // namespace vramscope::report
