// tests/programs/training_demo.cu — a small training-like program with two planted leaks.
//
// scripts/demo runs it. Much of what it holds is no leak: weights that live to the end, a workspace
// cache that is reused in the loop, activations that come and go in each step. Two things are never
// freed, each marked LEAK where it is allocated: the labels, once, and a small loss buffer, in
// every step. Usage: training_demo [STEPS_PER_EPOCH]
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

constexpr int kEpochs = 2;
constexpr int kLayers = 4;
constexpr size_t kLayerWeights = 4 << 20;
constexpr size_t kLabels = 3000000;
constexpr size_t kLossBytes = 64 << 10;
constexpr size_t kBatchSizes[] = {32, 64, 48}; // as when sequences differ in length
constexpr size_t kBytesPerSample = 96 << 10;

void check(cudaError_t status)
{
    if (status == cudaSuccess)
        return;
    std::fprintf(stderr, "training_demo: %s\n", cudaGetErrorString(status));
    std::exit(1);
}

__global__ void forward(const float* weights, const float* input, float* output, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        output[i] = weights[i % kLayerWeights] * input[i];
}

__global__ void update(float* weights, const float* gradients, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        weights[i] -= 0.01f * gradients[i];
}

// Keeps one buffer for each size that was ever asked for. It grows at first and then stays: a
// cache, no leak.
class WorkspaceCache {
public:
    ~WorkspaceCache()
    {
        for (const auto& [bytes, buffer] : buffers_)
            check(cudaFree(buffer));
    }
    float* get(size_t bytes)
    {
        float*& buffer = buffers_[bytes];
        if (buffer == nullptr)
            check(cudaMalloc(&buffer, bytes));
        return buffer;
    }

private:
    std::map<size_t, float*> buffers_;
};

class Model {
public:
    Model()
    {
        for (float*& layer : layers_)
            check(cudaMalloc(&layer, kLayerWeights * sizeof(float)));
    }
    ~Model()
    {
        for (float* layer : layers_)
            check(cudaFree(layer));
    }
    float* layer(int index) const { return layers_[index]; }

private:
    float* layers_[kLayers] = {};
};

// Two pinned buffers, so that one is filled while the other is copied.
class Staging {
public:
    Staging()
    {
        for (Slot& slot : slots_) {
            check(cudaMallocHost(&slot.buffer, kBatchSizes[1] * kBytesPerSample));
            check(cudaEventCreateWithFlags(&slot.copied, cudaEventDisableTiming));
        }
    }
    ~Staging()
    {
        for (Slot& slot : slots_) {
            check(cudaFreeHost(slot.buffer));
            check(cudaEventDestroy(slot.copied));
        }
    }
    void copy_to(float* device, size_t bytes, int step, cudaStream_t copies, cudaStream_t compute)
    {
        Slot& slot = slots_[step % 2];
        check(cudaEventSynchronize(slot.copied));
        slot.buffer[0] = static_cast<float>(step);
        check(cudaMemcpyAsync(device, slot.buffer, bytes, cudaMemcpyHostToDevice, copies));
        check(cudaEventRecord(slot.copied, copies));
        check(cudaStreamWaitEvent(compute, slot.copied, 0));
    }

private:
    struct Slot {
        float* buffer = nullptr;
        cudaEvent_t copied = nullptr;
    };
    Slot slots_[2];
};

int* load_labels()
{
    int* labels = nullptr;
    check(cudaMalloc(&labels, kLabels * sizeof(int))); // LEAK once: nobody frees the labels
    check(cudaMemset(labels, 0, kLabels * sizeof(int)));
    return labels;
}

void log_loss(std::vector<float*>& history, cudaStream_t compute)
{
    float* loss = nullptr;
    check(cudaMalloc(&loss, kLossBytes)); // LEAK in every step: the history is never emptied
    check(cudaMemsetAsync(loss, 0, kLossBytes, compute));
    history.push_back(loss);
}

void backward(const Model& model, cudaStream_t compute)
{
    float* gradients = nullptr;
    check(cudaMallocAsync(&gradients, kLayerWeights * sizeof(float), compute));
    for (int layer = kLayers - 1; layer >= 0; --layer)
        update<<<kLayerWeights / 256, 256, 0, compute>>>(model.layer(layer), gradients,
                                                         kLayerWeights);
    check(cudaFreeAsync(gradients, compute));
}

void train(int steps_per_epoch)
{
    cudaStream_t copies, compute;
    check(cudaStreamCreate(&copies));
    check(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
    const Model model;
    Staging staging;
    WorkspaceCache workspaces;
    std::vector<float*> loss_history;
    load_labels();

    for (int epoch = 0; epoch < kEpochs; ++epoch) {
        nvtxRangePushA("epoch");
        for (int step = 0; step < steps_per_epoch; ++step) {
            nvtxRangePushA("step");
            const size_t bytes = kBatchSizes[step % 3] * kBytesPerSample;
            const int count = static_cast<int>(bytes / sizeof(float));
            float* input = workspaces.get(bytes);
            staging.copy_to(input, bytes, step, copies, compute);

            float* activations = nullptr;
            check(cudaMalloc(&activations, bytes));
            for (int layer = 0; layer < kLayers; ++layer)
                forward<<<count / 256, 256, 0, compute>>>(model.layer(layer), input, activations,
                                                          count);
            backward(model, compute);
            log_loss(loss_history, compute);
            check(cudaGetLastError());
            check(cudaStreamSynchronize(compute));
            check(cudaFree(activations));
            nvtxRangePop();
        }
        nvtxRangePop();
    }
    check(cudaStreamDestroy(copies));
    check(cudaStreamDestroy(compute));
}

int main(int argc, char** argv)
{
    const int steps_per_epoch = argc > 1 ? std::atoi(argv[1]) : 50;
    train(steps_per_epoch);
    std::printf("trained %d epochs of %d steps\n", kEpochs, steps_per_epoch);
    return 0;
}
