// tests/differential/player/relay.hpp — several threads, of which exactly one runs at a time.
//
// The seed determines the order.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace differential {

class Relay {
public:
    ~Relay() { stop(); }

    // Thread 0 is the caller; the others start when they are first given something to do.
    void run(unsigned thread, const std::function<void()>& work)
    {
        if (thread == 0) {
            work();
            return;
        }
        while (runners_.size() < thread)
            start();
        Runner& runner = *runners_[thread - 1];
        std::unique_lock lock(runner.mutex);
        runner.work = &work;
        runner.changed.notify_one();
        runner.changed.wait(lock, [&] { return !runner.work; });
    }
    unsigned threads() const { return static_cast<unsigned>(runners_.size()) + 1; }
    void stop()
    {
        for (auto& runner : runners_) {
            {
                const std::lock_guard lock(runner->mutex);
                runner->stopping = true;
                runner->changed.notify_one();
            }
            runner->thread.join();
        }
        runners_.clear();
    }

private:
    struct Runner {
        std::mutex mutex;
        std::condition_variable changed;
        const std::function<void()>* work = nullptr;
        bool stopping = false;
        std::thread thread;
    };

    void start()
    {
        runners_.push_back(std::make_unique<Runner>());
        Runner& runner = *runners_.back();
        runner.thread = std::thread([&runner] {
            std::unique_lock lock(runner.mutex);
            for (;;) {
                runner.changed.wait(lock, [&] { return runner.work || runner.stopping; });
                if (runner.stopping)
                    return;
                (*runner.work)();
                runner.work = nullptr;
                runner.changed.notify_one();
            }
        });
    }

    std::vector<std::unique_ptr<Runner>> runners_;
};

} // namespace differential
