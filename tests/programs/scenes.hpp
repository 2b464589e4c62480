// tests/programs/scenes.hpp — for programs of many scenes, of which one is played.
//
// Some print what the driver answered, so that runs with and without vramscope can be compared.
#pragma once

#include <cstring>

#include "tests/programs/driver_program.hpp"

struct Scene {
    const char* name;
    void (*play)();
};

template <std::size_t kCount>
int play_scene(const Scene (&scenes)[kCount], int argc, char** argv)
{
    for (const Scene& scene : scenes)
        if (argc == 2 && std::strcmp(scene.name, argv[1]) == 0) {
            scene.play();
            return 0;
        }
    return 2;
}

inline void tell(const char* what, CUresult result)
{
    std::printf("%s %d\n", what, static_cast<int>(result));
}

inline constexpr std::size_t kMiB = std::size_t{1} << 20;
// A multiple of 2 MiB, 10 MiB or more: an allocation of its own with VRAMSCOPE_POOL=split too.
inline constexpr std::size_t kWhole = 12 * kMiB;
// Less: with VRAMSCOPE_POOL=split a part of a larger one.
inline constexpr std::size_t kPart = 4 * kMiB;
