// report/checkpoint/checkpoint.cpp — its head, which says of what log it is, and its body.
#include "report/checkpoint/checkpoint.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include <fmt/format.h>

#include "report/checkpoint/body.hpp"
#include "report/error.hpp"
#include "report/fnv1a.hpp"

namespace vramscope::report {
namespace {

struct CheckpointHead {
    std::array<char, 8> magic{};
    std::array<char, 24> version{}; // of vramscope: what a replay consists of changes
    std::array<std::uint64_t, 5> log{};
    std::uint64_t bytes = 0;
    std::uint64_t checksum = 0; // of all behind it
    std::uint64_t until_ticks = 0;
    std::array<std::uint64_t, 2> ends{}; // as the log's header had them
    std::uint8_t site_peaks = 0;         // 1: it has them
    std::uint8_t segments_known = 0; // 1: what is cut was known from the first on, or there is none
    std::uint8_t wrong_frees = 0;    // 1: it has them
    std::array<std::uint8_t, 5> zeros{};
};
static_assert(sizeof(CheckpointHead) == 120);
constexpr std::size_t kChecked = offsetof(CheckpointHead, until_ticks);

// Where events behind it count otherwise: that of Python, and that of the program. 0: not yet.
std::array<std::uint64_t, 2> ends_of(const format::FileHeader& log)
{
    return {log.python_ended_ticks, log.exit_began_ticks};
}

std::uint64_t checksum_of(std::string_view bytes) noexcept
{
    Fnv1a sum;
    sum.add_words(bytes);
    return sum.value();
}

// What no other log has.
CheckpointHead head_of(const format::FileHeader& log, std::size_t bytes)
{
    CheckpointHead head;
    constexpr std::string_view kMagic = "VRAMCKPT";
    constexpr std::string_view kVersion = VRAMSCOPE_VERSION;
    kMagic.copy(head.magic.data(), head.magic.size());
    kVersion.copy(head.version.data(), head.version.size());
    head.log = {log.pid, log.process_start, log.start_real_ns, log.start_ns, log.start_ticks};
    head.bytes = bytes;
    return head;
}

[[noreturn]] void refuse(const Reading& reading, std::string_view why)
{
    throw Error(Exit::bad_input,
                fmt::format("the checkpoint of {}: {}", reading.file().path().string(), why));
}

// What was replayed must be what this reading would have replayed up to there.
void check_moment(const CheckpointHead& head, const Reading& reading, const Replays& replays,
                  const WrongFrees* wrong_frees)
{
    if (head.until_ticks > reading.until_ticks())
        refuse(reading, "it is of a later moment");
    const std::array<std::uint64_t, 2> ends = ends_of(reading.file().header());
    for (std::size_t at = 0; at < ends.size(); ++at)
        if (ends[at] != head.ends[at] && (head.ends[at] != 0 || ends[at] <= head.until_ticks))
            refuse(reading, "the program had begun to end, which it does not know");
    if ((head.site_peaks != 0) != replays.wants_site_peaks() ||
        (head.wrong_frees != 0) != (wrong_frees != nullptr))
        refuse(reading, "it was made for another purpose");
    if (head.segments_known == 0 && !reading.follows() && !reading.file().collected())
        refuse(reading, "it does not know what the program's allocator cuts");
}

CheckpointHead head_in(std::string_view checkpoint)
{
    CheckpointHead head;
    std::memcpy(&head, checkpoint.data(), std::min(checkpoint.size(), sizeof head));
    return head;
}

std::string_view body_of(std::string_view checkpoint, const Reading& reading,
                         const Replays& replays, const WrongFrees* wrong_frees)
{
    const CheckpointHead head = head_in(checkpoint);
    if (checkpoint.size() < sizeof head)
        refuse(reading, "it is cut");
    const std::string_view body = checkpoint.substr(sizeof head);
    const CheckpointHead expected = head_of(reading.file().header(), body.size());
    if (head.magic != expected.magic)
        refuse(reading, "it is none");
    if (head.version != expected.version)
        refuse(reading, "another version of vramscope wrote it, which can read it");
    if (head.log != expected.log)
        refuse(reading, "it is of another log");
    if (head.bytes != expected.bytes)
        refuse(reading, "it is cut");
    if (head.checksum != checksum_of(checkpoint.substr(kChecked)))
        refuse(reading, "it is damaged");
    check_moment(head, reading, replays, wrong_frees);
    return body;
}

} // namespace

bool knows_segments(const Reading& reading, const Replays& replays)
{
    return reading.knows_segments() || !replays.heap.is_cut();
}

std::uint64_t moment_of(std::string_view checkpoint)
{
    return head_in(checkpoint).until_ticks;
}

std::string checkpoint_of(Reading& reading, Replays& replays, WrongFrees* wrong_frees)
{
    const std::string body = write_body(reading, replays, wrong_frees);
    const format::FileHeader& log = reading.file().header();
    CheckpointHead head = head_of(log, body.size());
    head.until_ticks = reading.until_ticks();
    head.ends = ends_of(log);
    head.site_peaks = replays.wants_site_peaks();
    head.wrong_frees = wrong_frees != nullptr;
    head.segments_known = knows_segments(reading, replays);
    std::string checkpoint(reinterpret_cast<const char*>(&head), sizeof head);
    checkpoint += body;
    head.checksum = checksum_of(std::string_view(checkpoint).substr(kChecked));
    std::memcpy(checkpoint.data(), &head, sizeof head);
    return checkpoint;
}

void restore_checkpoint(std::string_view checkpoint, Reading& reading, Replays& replays,
                        WrongFrees* wrong_frees)
{
    const std::string_view body = body_of(checkpoint, reading, replays, wrong_frees);
    if (!reading.follows() && head_in(checkpoint).segments_known == 0)
        reading.finds_segments_late();
    if (!read_body(body, reading, replays, wrong_frees))
        refuse(reading, "it is damaged");
}

} // namespace vramscope::report
