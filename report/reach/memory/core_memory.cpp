// report/reach/memory/core_memory.cpp — CoreMemory on the segments and notes of an ELF file.
#include "report/reach/memory/core_memory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <set>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/reach/memory/glibc_chunks.hpp"

namespace vramscope::report {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostSegments = 1 << 20;
constexpr std::uint64_t kMostNoteBytes = 256 << 20;
constexpr std::uint64_t kNsOfSecond = 1'000'000'000;

std::uint64_t padded(std::uint64_t bytes)
{
    return (bytes + 3) / 4 * 4;
}

bool begins_first(const AddressSpan& one, const AddressSpan& other)
{
    return one.begin < other.begin;
}

// The span that has this address, of some that are sorted; or null.
template <typename Span>
const Span* span_with(const std::vector<Span>& spans, Address address)
{
    const auto behind =
        std::upper_bound(spans.begin(), spans.end(), address,
                         [](Address value, const Span& span) { return value < span.begin; });
    return behind != spans.begin() && address < std::prev(behind)->end ? &*std::prev(behind)
                                                                       : nullptr;
}

} // namespace

CoreMemory::CoreMemory(const fs::path& file)
    : file_(file), descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK))
{
    struct stat status {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0)
        refuse(std::strerror(errno));
    try {
        if (!S_ISREG(status.st_mode))
            refuse("is no regular file");
        size_ = static_cast<std::uint64_t>(status.st_size);
        written_ns_ = static_cast<std::uint64_t>(status.st_mtim.tv_sec) * kNsOfSecond +
                      static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
        read_segments();
        name_mappings();
        find_files();
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
    stopped_ = true;
    own_left_out_ = true;
}

CoreMemory::~CoreMemory()
{
    ::close(descriptor_);
}

void CoreMemory::refuse(const std::string& why) const
{
    throw Error(Exit::bad_input, fmt::format("{}: {}", file_.string(), why));
}

void CoreMemory::read_file(std::uint64_t at, void* to, std::size_t bytes) const
{
    if (at > size_ || bytes > size_ - at ||
        ::pread(descriptor_, to, bytes, static_cast<off_t>(at)) != static_cast<ssize_t>(bytes))
        refuse("is cut off, or is no core file");
}

void CoreMemory::read_segments()
{
    ElfW(Ehdr) header{};
    if (size_ < sizeof header)
        refuse("is no core file");
    read_file(0, &header, sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_CORE)
        refuse("is no core file");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_phentsize != sizeof(ElfW(Phdr)))
        refuse("is a core file of another kind of processor");
    std::uint64_t count = header.e_phnum;
    if (count == PN_XNUM) { // there are more than the field can say
        ElfW(Shdr) first{};
        read_file(header.e_shoff, &first, sizeof first);
        count = first.sh_info;
    }
    if (count > kMostSegments)
        refuse("has more segments than a process has mappings");
    std::uint64_t needed = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        ElfW(Phdr) segment{};
        read_file(header.e_phoff + i * sizeof segment, &segment, sizeof segment);
        const bool fits = segment.p_filesz <= UINT64_MAX - segment.p_offset &&
                          segment.p_memsz <= UINT64_MAX - segment.p_vaddr;
        if (!fits)
            refuse("has a segment beyond all addresses");
        needed = std::max(needed, segment.p_offset + segment.p_filesz);
        if (segment.p_type == PT_NOTE && segment.p_offset + segment.p_filesz <= size_)
            read_notes(segment.p_offset, segment.p_filesz);
        if (segment.p_type != PT_LOAD || segment.p_memsz == 0)
            continue;
        MemoryMapping mapping;
        mapping.begin = segment.p_vaddr;
        mapping.end = segment.p_vaddr + segment.p_memsz;
        mapping.writable = (segment.p_flags & (PF_R | PF_W)) == (PF_R | PF_W);
        mappings_.push_back(mapping);
        if (segment.p_filesz > 0)
            segments_.push_back(
                {{segment.p_vaddr,
                  segment.p_vaddr + std::min<std::uint64_t>(segment.p_filesz, segment.p_memsz)},
                 segment.p_offset});
    }
    if (needed > size_)
        refuse(
            fmt::format("is cut off: it has {} bytes, and would have {} (ulimit -c, a full disk)",
                        size_, needed));
    std::sort(segments_.begin(), segments_.end(), begins_first);
}

void CoreMemory::read_notes(std::uint64_t at, std::uint64_t bytes)
{
    const std::uint64_t end = at + std::min(bytes, kMostNoteBytes);
    for (ElfW(Nhdr) head{}; end - at >= sizeof head;) {
        read_file(at, &head, sizeof head);
        const std::uint64_t text = at + sizeof head + padded(head.n_namesz);
        const std::uint64_t next = text + padded(head.n_descsz);
        if (text > end || next > end)
            return;
        std::vector<char> note(head.n_descsz);
        read_file(text, note.data(), note.size());
        if (head.n_type == NT_PRFPREG && !threads_.empty())
            add_vectors(threads_.back(), note.data(), note.size());
        if (head.n_type == NT_PRSTATUS && note.size() == sizeof(prstatus_t)) {
            prstatus_t status;
            std::memcpy(&status, note.data(), sizeof status);
            std::vector<std::uint64_t> registers(sizeof status.pr_reg / sizeof(std::uint64_t));
            std::memcpy(registers.data(), &status.pr_reg, sizeof status.pr_reg);
            threads_.push_back(
                thread_with(static_cast<std::uint32_t>(status.pr_pid), std::move(registers)));
        } else if (head.n_type == NT_PRPSINFO && note.size() == sizeof(prpsinfo_t)) {
            prpsinfo_t info;
            std::memcpy(&info, note.data(), sizeof info);
            pid_ = static_cast<std::uint32_t>(info.pr_pid);
        } else if (head.n_type == NT_FILE) {
            note_file_names(note);
        }
        at = next;
    }
}

// How many there are, the size of a page, then of each its beginning, end, and page in the file;
// then their names.
void CoreMemory::note_file_names(const std::vector<char>& note)
{
    const std::size_t words = note.size() / sizeof(std::uint64_t);
    const auto word = [&](std::size_t index) {
        std::uint64_t value = 0;
        std::memcpy(&value, note.data() + index * sizeof value, sizeof value);
        return value;
    };
    if (words < 2 || word(0) > (words - 2) / 3)
        return;
    const std::size_t count = word(0);
    std::size_t name = (2 + 3 * count) * sizeof(std::uint64_t);
    for (std::size_t i = 0; i < count && name < note.size(); ++i) {
        const std::size_t length = ::strnlen(note.data() + name, note.size() - name);
        MemoryMapping mapping;
        mapping.begin = word(2 + 3 * i);
        mapping.end = word(3 + 3 * i);
        mapping.offset = word(4 + 3 * i) * word(1);
        mapping.inode = 1; // it has one
        mapping.name.assign(note.data() + name, length);
        if (mapping.begin < mapping.end)
            named_.push_back(std::move(mapping));
        name += length + 1;
    }
}

bool CoreMemory::begins_as_heap(Address begin) const
{
    std::array<std::uint64_t, 2> first{};
    return read(begin, first.data(), sizeof first) && first[0] == 0 &&
           std::any_of(std::begin(kFreedLists), std::end(kFreedLists),
                       [&](const FreedLists& lists) {
                           return first[1] == (lists.chunk_bytes | kBeforeIsInUse);
                       });
}

// Mappings whose bytes are not in the core are known by the note alone, as those of code; the C
// library's heap by its first chunk.
void CoreMemory::name_mappings()
{
    std::sort(mappings_.begin(), mappings_.end(), begins_first);
    std::sort(named_.begin(), named_.end(), begins_first);
    bool has_heap = false;
    for (MemoryMapping& mapping : mappings_) {
        if (const MemoryMapping* const named = span_with(named_, mapping.begin)) {
            mapping.name = named->name;
            mapping.inode = named->inode;
            mapping.offset = named->offset + (mapping.begin - named->begin);
        } else if (!has_heap && mapping.writable && begins_as_heap(mapping.begin)) {
            mapping.name = "[heap]";
            has_heap = true;
        }
    }
    const std::vector<MemoryMapping> in_core = mappings_;
    for (const MemoryMapping& named : named_)
        if (!span_with(in_core, named.begin))
            mappings_.push_back(named);
    std::sort(mappings_.begin(), mappings_.end(), begins_first);
    // A core does not say what was shared. Of a module there are pieces that nobody writes to.
    std::set<std::string> modules;
    for (const MemoryMapping& mapping : mappings_)
        if (!mapping.writable)
            modules.insert(mapping.name);
    for (MemoryMapping& mapping : mappings_)
        mapping.shared = mapping.name.starts_with('/') && !modules.contains(mapping.name);
}

// A file that is not the one that was loaded begins otherwise; where the core has not the
// beginning, a file that was written later is none.
void CoreMemory::find_files()
{
    for (MemoryMapping& mapping : mappings_) {
        struct stat status {};
        if (!mapping.name.starts_with('/') || ::stat(mapping.name.c_str(), &status) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        const auto first =
            std::find_if(mappings_.begin(), mappings_.end(), [&](const MemoryMapping& one) {
                return one.name == mapping.name && one.offset == 0;
            });
        std::array<char, kPageBytes> there{}, here{};
        bool same = static_cast<std::uint64_t>(status.st_mtim.tv_sec) * kNsOfSecond <= written_ns_;
        if (first != mappings_.end() && read(first->begin, there.data(), there.size())) {
            const int file = ::open(mapping.name.c_str(), O_RDONLY | O_CLOEXEC);
            const ssize_t got = file < 0 ? -1 : ::pread(file, here.data(), here.size(), 0);
            if (file >= 0)
                ::close(file);
            same = got > 0 && here == there;
        }
        if (same)
            mapping.file = mapping.name;
    }
}

const CoreMemory::Segment* CoreMemory::find(Address address) const
{
    return span_with(segments_, address);
}

bool CoreMemory::read(Address from, void* to, std::size_t bytes) const
{
    auto* out = static_cast<char*>(to);
    while (bytes > 0) {
        const Segment* const segment = find(from);
        if (!segment)
            return false;
        const std::size_t part = std::min<std::uint64_t>(bytes, segment->end - from);
        const std::uint64_t at = segment->offset + (from - segment->begin);
        if (::pread(descriptor_, out, part, static_cast<off_t>(at)) != static_cast<ssize_t>(part))
            return false;
        out += part;
        from += part;
        bytes -= part;
    }
    return true;
}

// gcore leaves a hole where pages are empty.
void CoreMemory::find_pages(Address from, std::size_t count, std::vector<char>& there) const
{
    there.assign(count, 0);
    for (std::size_t page = 0; page < count;) {
        const Segment* const segment = find(from + page * kPageBytes);
        if (!segment) {
            ++page;
            continue;
        }
        const Address at = from + page * kPageBytes;
        const std::uint64_t offset = segment->offset + (at - segment->begin);
        const off_t data = ::lseek(descriptor_, static_cast<off_t>(offset), SEEK_DATA);
        const std::uint64_t skipped =
            data < 0 ? segment->end - at : static_cast<std::uint64_t>(data) - offset;
        page += std::min<std::uint64_t>(skipped / kPageBytes, count - page);
        const Address end = std::min(segment->end, from + count * kPageBytes);
        // One look for each run of pages: what follows is taken as being there.
        for (; page < count && from + page * kPageBytes < end; ++page)
            there[page] = 1;
    }
}

} // namespace vramscope::report
