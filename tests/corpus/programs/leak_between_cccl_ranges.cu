// tests/corpus/programs/leak_between_cccl_ranges.cu — the program names no steps of its own: those
// that Thrust and CUB put around their algorithms are none.
// truth: verdict leaks
// truth: leak function=remember memory=device blocks=90 bytes=90*1500 class=growing per=call slope=1500
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

// As CCCL has it.
struct LibraryRange {
    static nvtxDomainHandle_t domain()
    {
        static const nvtxDomainHandle_t created = nvtxDomainCreateA("CCCL");
        return created;
    }
    explicit LibraryRange(const char* name)
    {
        nvtxEventAttributes_t event{};
        event.version = NVTX_VERSION;
        event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
        event.messageType = NVTX_MESSAGE_TYPE_ASCII;
        event.message.ascii = name;
        nvtxDomainRangePushEx(domain(), &event);
    }
    ~LibraryRange() { nvtxDomainRangePop(domain()); }
};

__attribute__((noinline)) void remember()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 1500));
}

int main()
{
    for (int round = 0; round < 90; ++round) {
        void* scratch = nullptr;
        {
            const LibraryRange range("cub::DeviceReduce::Sum");
            check(cudaMalloc(&scratch, 64_KiB));
        }
        {
            const LibraryRange range("merge path");
            remember();
        }
        check(cudaFree(scratch));
    }
}
