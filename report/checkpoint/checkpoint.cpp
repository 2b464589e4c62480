// report/checkpoint/checkpoint.cpp — its head, which says of what log it is, and its body.
#include "report/checkpoint/checkpoint.hpp"

#include <array>
#include <cstring>

#include <fmt/format.h>

#include "report/checkpoint/archive.hpp"
#include "report/error.hpp"

namespace vramscope::report {
namespace {

struct CheckpointHead {
    std::array<char, 8> magic{};
    std::array<char, 24> version{}; // of vramscope: what a replay consists of changes
    std::array<std::uint64_t, 5> log{};
    std::uint64_t bytes = 0;
    std::uint64_t checksum = 0; // of the body
};
static_assert(sizeof(CheckpointHead) == 88);

// FNV-1a: it tells damage, and is no proof against an attack.
std::uint64_t checksum_of(std::string_view bytes) noexcept
{
    std::uint64_t sum = 0xcbf29ce484222325u;
    for (const char byte : bytes)
        sum = (sum ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3u;
    return sum;
}

// What no other log has.
CheckpointHead head_of(const format::FileHeader& log, std::string_view body)
{
    CheckpointHead head;
    constexpr std::string_view kMagic = "VRAMCKPT";
    constexpr std::string_view kVersion = VRAMSCOPE_VERSION;
    kMagic.copy(head.magic.data(), head.magic.size());
    kVersion.copy(head.version.data(), head.version.size());
    head.log = {log.pid, log.process_start, log.start_real_ns, log.start_ns, log.start_ticks};
    head.bytes = body.size();
    head.checksum = checksum_of(body);
    return head;
}

[[noreturn]] void refuse(const Reading& reading, std::string_view why)
{
    throw Error(Exit::bad_input,
                fmt::format("the checkpoint of {}: {}", reading.file().path().string(), why));
}

std::string_view body_of(std::string_view checkpoint, const Reading& reading)
{
    CheckpointHead head;
    if (checkpoint.size() < sizeof head)
        refuse(reading, "it is cut");
    std::memcpy(&head, checkpoint.data(), sizeof head);
    const std::string_view body = checkpoint.substr(sizeof head);
    const CheckpointHead expected = head_of(reading.file().header(), body);
    if (head.magic != expected.magic)
        refuse(reading, "it is none");
    if (head.version != expected.version)
        refuse(reading, "another version of vramscope wrote it, which can read it");
    if (head.log != expected.log)
        refuse(reading, "it is of another log");
    if (head.bytes != expected.bytes)
        refuse(reading, "it is cut");
    if (head.checksum != expected.checksum)
        refuse(reading, "it is damaged");
    return body;
}

} // namespace

std::string checkpoint_of(Reading& reading, Replays& replays)
{
    ArchiveWriter body;
    transfer(body, reading);
    transfer(body, replays);
    const CheckpointHead head = head_of(reading.file().header(), body.bytes());
    std::string checkpoint(reinterpret_cast<const char*>(&head), sizeof head);
    return checkpoint += body.bytes();
}

void restore_checkpoint(std::string_view checkpoint, Reading& reading, Replays& replays)
{
    ArchiveReader body(body_of(checkpoint, reading));
    transfer(body, reading);
    transfer(body, replays);
    if (!body.good() || !body.at_end())
        refuse(reading, "it is damaged");
}

} // namespace vramscope::report
