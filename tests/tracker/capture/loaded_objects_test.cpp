// tests/tracker/capture/loaded_objects_test.cpp — what is loaded can be listed.
//
// A child of a fork records, whichever thread held the loader's lock.
#include "tracker/capture/loaded_objects.hpp"

#include <algorithm>
#include <cstdint>
#include <semaphore>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tracker/fixture/recording.hpp"

using namespace vramscope;
using format::Tag;
using test::alloc_many;
using test::RecordedLog;
using test::Recording;

namespace {

// Runs `body` while another thread is inside the loader's walk, and holds its lock.
template <class Body>
void while_the_loader_is_held(Body body)
{
    struct Meeting {
        std::binary_semaphore held{0}, release{0};
    } meeting;
    std::thread holder([&meeting] {
        ::dl_iterate_phdr(
            [](dl_phdr_info*, std::size_t, void* data) {
                auto& with = *static_cast<Meeting*>(data);
                with.held.release();
                with.release.acquire();
                return 1;
            },
            &meeting);
    });
    meeting.held.acquire();
    body();
    meeting.release.release();
    holder.join();
}

template <class Body>
void in_child_with_the_loader_held(Body body)
{
    while_the_loader_is_held([&body] {
        test::run_in_child([&body] {
            ::alarm(60); // rather than wait for ever
            body();
        });
    });
}

struct Object {
    std::string name;
    std::uintptr_t bias;
    std::vector<std::uintptr_t> segments;
    bool operator==(const Object&) const = default;
};

std::vector<Object> loaded_objects()
{
    std::vector<Object> objects;
    capture::each_object(
        [](dl_phdr_info* info, std::size_t, void* data) {
            Object object{info->dlpi_name, info->dlpi_addr, {}};
            for (int i = 0; i < info->dlpi_phnum; ++i)
                object.segments.push_back(info->dlpi_phdr[i].p_vaddr);
            static_cast<std::vector<Object>*>(data)->push_back(object);
            return 0;
        },
        &objects);
    return objects;
}

void child_records_while_the_loader_is_held(bool parent_records)
{
    const Recording recording;
    Recording named;
    named.setting("VRAMSCOPE_LOG", recording.dir().file("%p.vsl"));
    EXPECT_EQ(test::wait_for(named.start([&] {
                  if (parent_records)
                      alloc_many(1, 100);
                  in_child_with_the_loader_held([] { alloc_many(1000, 5000); });
                  if (parent_records)
                      alloc_many(101, 100);
              })),
              0);
    std::vector<std::size_t> counts;
    for (const std::string& name : recording.dir().names()) {
        const RecordedLog log = test::read_recorded_log(recording.dir().file(name));
        counts.push_back(log.count(Tag::alloc));
        EXPECT_GT(log.count(Tag::module_loaded), 2u);
    }
    std::sort(counts.begin(), counts.end());
    EXPECT_EQ(counts, parent_records ? (std::vector<std::size_t>{200, 5000})
                                     : std::vector<std::size_t>{5000});
}

} // namespace

TEST(LoadedObjects, AreLockedForEverOnlyInAChildForkedWhileAThreadHeldThem)
{
    EXPECT_FALSE(capture::objects_locked_for_ever());
    while_the_loader_is_held([] { EXPECT_FALSE(capture::objects_locked_for_ever()); });
    test::run_in_child([] { EXPECT_FALSE(capture::objects_locked_for_ever()); });
    in_child_with_the_loader_held([] { EXPECT_TRUE(capture::objects_locked_for_ever()); });
}

TEST(LoadedObjects, AreTheSameWithoutTheLock)
{
    const std::vector<Object> known = loaded_objects();
    EXPECT_GT(known.size(), 3u);
    in_child_with_the_loader_held([&known] { EXPECT_EQ(loaded_objects() == known, true); });
}

TEST(LoadedObjects, HeldAtAForkLetTheChildRecord)
{
    child_records_while_the_loader_is_held(true);
}

TEST(LoadedObjects, HeldAtAForkLetTheChildOpenTheFirstLog)
{
    child_records_while_the_loader_is_held(false);
}
