// tests/simgpu/share/ipc_event_test.cpp — events that several processes record and wait for.
#include <csignal>
#include <unistd.h>

#include "tests/simgpu/driver.hpp"
#include "tests/simgpu/pipe.hpp"

using namespace simgpu::test;

namespace {

CUevent create_shared_event()
{
    CUevent event = nullptr;
    EXPECT_CU(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    return event;
}

CUstream create_stream()
{
    CUstream stream = nullptr;
    EXPECT_CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

// Runs a test with a context and the event that comes through the pipe.
template <class Body>
pid_t start_importer(const Pipe& handles, Body body)
{
    return vramscope::test::start_child([&] {
        ASSERT_CU(cuInit(0));
        create_context();
        CUevent event = nullptr;
        ASSERT_CU(cuIpcOpenEventHandle(&event, handles.receive<CUipcEventHandle>()));
        body(event);
    });
}

// The importer is forked first, as a child of a process that uses CUDA cannot use it.
template <class Importer, class Exporter>
void with_two_processes(Importer importer, Exporter exporter)
{
    const Pipe handles;
    before_init({}, [&] {
        const pid_t child = start_importer(handles, importer);
        ASSERT_CU(cuInit(0));
        create_context();
        exporter(create_shared_event(), handles, child);
    });
}

void send_handle(const Pipe& handles, CUevent event)
{
    CUipcEventHandle handle{};
    ASSERT_CU(cuIpcGetEventHandle(&handle, event));
    handles.send(handle);
}

} // namespace

TEST(IpcEvent, IsNotReadyElsewhereUntilItIsReached)
{
    const Pipe to_importer;
    const Pipe to_exporter;
    with_two_processes(
        [&](CUevent event) {
            EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
            to_exporter.send('q');
            EXPECT_EQ(to_importer.receive<char>(), 'd');
            EXPECT_CU(cuEventQuery(event));
            EXPECT_CU(cuEventSynchronize(event));
            to_exporter.send('e');
        },
        [&](CUevent event, const Pipe& handles, pid_t child) {
            const CUdeviceptr address = allocate(64);
            const CUstream stream = create_stream();
            ASSERT_CU(cuMemsetD8Async(address, 1, 64, stream));
            ASSERT_CU(cuEventRecord(event, stream));
            send_handle(handles, event);
            EXPECT_EQ(to_exporter.receive<char>(), 'q');
            ASSERT_CU(cuStreamSynchronize(stream));
            to_importer.send('d');
            EXPECT_EQ(to_exporter.receive<char>(), 'e');
            EXPECT_EQ(vramscope::test::wait_for(child), 0);
        });
}

TEST(IpcEvent, ARecordOfTheImporterIsWaitedForByItsMaker)
{
    const Pipe to_importer;
    const Pipe to_exporter;
    with_two_processes(
        [&](CUevent event) {
            const CUdeviceptr address = allocate(64);
            const CUstream stream = create_stream();
            ASSERT_CU(cuMemsetD8Async(address, 1, 64, stream));
            ASSERT_CU(cuEventRecord(event, stream));
            to_exporter.send('r');
            EXPECT_EQ(to_importer.receive<char>(), 'w');
            ASSERT_CU(cuStreamSynchronize(stream));
            EXPECT_EQ(to_importer.receive<char>(), 'e');
        },
        [&](CUevent event, const Pipe& handles, pid_t child) {
            const CUdeviceptr address = allocate(64);
            const CUstream stream = create_stream();
            EXPECT_CU(cuEventQuery(event)); // it was never recorded
            send_handle(handles, event);
            EXPECT_EQ(to_exporter.receive<char>(), 'r');
            EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
            ASSERT_CU(cuStreamWaitEvent(stream, event, 0));
            ASSERT_CU(cuMemsetD8Async(address, 2, 64, stream));
            EXPECT_EQ(peek(address), 0);
            to_importer.send('w');
            ASSERT_CU(cuStreamSynchronize(stream)); // returns once the other process has done it
            EXPECT_EQ(peek(address), 2);
            EXPECT_CU(cuEventQuery(event));
            to_importer.send('e');
            EXPECT_EQ(vramscope::test::wait_for(child), 0);
        });
}

TEST(IpcEvent, NobodyWaitsForAProcessThatHasEnded)
{
    const Pipe to_exporter;
    with_two_processes(
        [&](CUevent event) {
            const CUdeviceptr address = allocate(64);
            const CUstream stream = create_stream();
            ASSERT_CU(cuMemsetD8Async(address, 1, 64, stream));
            ASSERT_CU(cuEventRecord(event, stream));
            to_exporter.send('r');
            ::raise(SIGKILL); // the work is never done
        },
        [&](CUevent event, const Pipe& handles, pid_t child) {
            send_handle(handles, event);
            EXPECT_EQ(to_exporter.receive<char>(), 'r');
            EXPECT_CU(cuEventSynchronize(event));
            EXPECT_NE(vramscope::test::wait_for(child), 0);
        });
}

TEST(IpcEvent, OnlyAnEventMadeForItHasAHandle)
{
    with_context([] {
        CUevent plain = nullptr;
        ASSERT_CU(cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING));
        CUipcEventHandle handle{};
        EXPECT_EQ(cuIpcGetEventHandle(&handle, plain), CUDA_ERROR_INVALID_VALUE);
        CUevent opened = plain;
        EXPECT_EQ(cuIpcOpenEventHandle(&opened, handle), CUDA_ERROR_INVALID_VALUE);
        const CUevent shared = create_shared_event();
        ASSERT_CU(cuIpcGetEventHandle(&handle, shared));
        EXPECT_EQ(cuIpcOpenEventHandle(&opened, handle),
                  CUDA_ERROR_INVALID_CONTEXT); // this process made it
        EXPECT_EQ(opened, plain);
        ASSERT_CU(cuEventDestroy(shared));
        EXPECT_EQ(cuIpcGetEventHandle(&handle, shared), CUDA_ERROR_INVALID_HANDLE);
    });
}
