// interpose/ending/ending.cpp — libvramscope-ending.so: `run --reach` sees a program's memory once
// its work is done.
//
// A library of its own, which `run --reach` alone puts before a program. When main has returned, or
// exit() is called, and so before C++'s statics are destroyed, it tells the command so and waits
// until the command has looked, at most ten seconds. Python takes its modules down before that: a
// sitecustomize calls us from its `atexit`. It knows nothing of CUDA, allocates nothing, starts
// nothing, and without the command's socket does nothing.
#include "tracker/environment/ending.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

namespace {

using Main = int(int, char**, char**);
using StartMain = int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*);
using Exit = void(int);
using vramscope::log::Ending;

constexpr int kMostPatienceMs = 10'000;

std::atomic<pid_t> told{0}; // the process that has told of its end; a child of it may too
Main* program_main = nullptr;

template <typename Function>
Function* next(const char* name)
{
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

long long now_ms()
{
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1'000'000;
}

// The command may read a program that it did not start itself, where the kernel asks for that.
void let_it_read(int connection)
{
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0)
        ::prctl(PR_SET_PTRACER, static_cast<unsigned long>(peer.pid), 0, 0, 0);
}

// -1: the command does not listen, or not any more.
int connect_to(const char* path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::size_t length = std::strlen(path);
    if (length >= sizeof address.sun_path)
        return -1;
    std::memcpy(address.sun_path, path, length);
    const int connection = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (connection < 0)
        return -1;
    if (::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
        return connection;
    ::close(connection);
    return -1;
}

// The other side closes when it is done, however it ends.
void wait_for_end_of(int connection)
{
    const long long end = now_ms() + kMostPatienceMs;
    char byte = 0;
    for (long long left = kMostPatienceMs; left > 0; left = end - now_ms()) {
        pollfd look{connection, POLLIN, 0};
        const int ready = ::poll(&look, 1, static_cast<int>(left));
        if (ready <= 0)
            continue;
        const ssize_t got = ::recv(connection, &byte, 1, 0);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
            return;
    }
}

void tell(Ending ending)
{
    const int before = errno;
    const char* const path = ::secure_getenv(vramscope::log::kEndingVariable);
    if (path && *path && told.exchange(::getpid()) != ::getpid())
        if (const int connection = connect_to(path); connection >= 0) {
            let_it_read(connection);
            const char word = static_cast<char>(ending);
            if (::send(connection, &word, 1, MSG_NOSIGNAL) == 1)
                wait_for_end_of(connection);
            ::close(connection);
        }
    errno = before;
}

// An interpreter that was there and has ended took with it what its variables held.
void work_is_done()
{
    const auto is_alive = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "Py_IsInitialized"));
    tell(is_alive && is_alive() == 0 ? Ending::interpreter_gone : Ending::work_done);
}

int main_and_then(int count, char** arguments, char** environment)
{
    const int status = program_main(count, arguments, environment);
    work_is_done();
    return status;
}

} // namespace

extern "C" {

[[gnu::visibility("default")]] void vramscope_work_is_done()
{
    tell(Ending::work_done);
}

[[gnu::visibility("default")]] int __libc_start_main(Main* main, int count, char** arguments,
                                                     void (*init)(), void (*fini)(),
                                                     void (*loader_fini)(), void* stack_end)
{
    program_main = main;
    return next<StartMain>("__libc_start_main")(&main_and_then, count, arguments, init, fini,
                                                loader_fini, stack_end);
}

[[noreturn, gnu::visibility("default")]] void exit(int status)
{
    work_is_done();
    next<Exit>("exit")(status);
    __builtin_unreachable();
}
}
