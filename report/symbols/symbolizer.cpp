// report/symbols/symbolizer.cpp — finds the file of a module, joins DWARF and symbol table.
#include "report/symbols/symbolizer.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "report/symbols/debuginfod.hpp"
#include "report/symbols/elf_file.hpp"
#include "report/symbols/known_names.hpp"
#include "report/symbols/symbol_index.hpp"
#include "report/symbols/symbolizer_dwarf.hpp"
#include "report/symbols/unwind_table.hpp"

namespace vramscope::report {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDeleted = " (deleted)"; // as /proc/self/maps marks a removed file

std::string hex(std::string_view bytes)
{
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

struct OpenModule {
    std::unique_ptr<ElfFile> binary;      // null if missing or not the traced one
    std::unique_ptr<ElfFile> debug_file;  // separate debug information
    std::unique_ptr<DwarfIndex> dwarf;    // made from the binary or the debug file
    std::unique_ptr<SymbolIndex> symbols; // made when first needed, as the next
    std::unique_ptr<UnwindTable> unwind_table;

    const char* symbol(std::uint64_t vaddr)
    {
        const auto& source = debug_file && debug_file->has_symtab() ? debug_file : binary;
        if (!symbols && source)
            symbols = std::make_unique<SymbolIndex>(*source);
        return symbols ? symbols->find(vaddr) : nullptr;
    }
};

} // namespace

class Symbolizer::Impl {
public:
    explicit Impl(SymbolizerOptions options)
        : fold(std::move(options.fold)), debug_dirs_(std::move(options.debug_dirs)),
          places_(options.sysroot, std::move(options.path_maps)), store_(std::move(options.names))
    {
        if (debug_dirs_.empty())
            debug_dirs_.emplace_back("/usr/lib/debug");
        std::string why_not;
        if (options.debuginfod)
            servers_ = Debuginfod::open(why_not);
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl();

    const std::vector<std::string> fold;

    std::vector<Frame> frames(const ModuleId& id, std::uint64_t vaddr);
    std::optional<bool> has_unwind_table(const ModuleId& id, std::uint64_t vaddr);
    const std::vector<UnreadFile>& unread_files() const { return unread_files_; }
    std::vector<std::string> notices() const;

private:
    OpenModule& module(const ModuleId& id);
    OpenModule load(const ModuleId& id);
    std::unique_ptr<ElfFile> open_binary(const ModuleId& id, UnreadFile& unread) const;
    std::unique_ptr<ElfFile> open_debug_file(const std::string& build_id,
                                             const ElfFile* binary) const;
    std::vector<fs::path> debug_file_places(const std::string& build_id, const std::string& link,
                                            const fs::path& folder) const;
    KnownNames* known_names(const ModuleId& id);
    bool can_be_better(const KnownNames& known, const ModuleId& id) const;
    std::vector<Frame> find_frames(OpenModule& from, std::uint64_t vaddr);
    void name_from_symbol_table(OpenModule& from, std::uint64_t vaddr, Frame& frame);
    const std::string& function_name(const std::string& symbol);
    const std::string& file_name(const char* file);

    std::vector<fs::path> debug_dirs_;
    FilePlaces places_;
    std::unique_ptr<Debuginfod> servers_; // null: none is asked
    std::map<std::pair<std::string, std::string>, OpenModule> modules_;
    std::unordered_map<std::string, std::string> function_names_; // demangled, keyed by symbol
    // By libdw's string, which outlives it.
    std::unordered_map<const char*, std::string> file_names_;
    std::vector<UnreadFile> unread_files_;
    std::vector<std::string> notices_;
    std::shared_ptr<NameStore> store_;
    std::unordered_map<std::string, KnownNames> known_; // by build-id
};

// What cannot be kept is found again.
Symbolizer::Impl::~Impl()
{
    try {
        for (const auto& [build_id, known] : known_)
            if (known.changed())
                store_->keep(build_id, known.bytes());
    } catch (const std::exception&) {
    }
}

std::unique_ptr<ElfFile> Symbolizer::Impl::open_binary(const ModuleId& id, UnreadFile& unread) const
{
    if (id.path.ends_with(kDeleted)) {
        unread.why = "the file was deleted";
        return nullptr;
    }
    const fs::path place = places_.of(id.path);
    auto binary = ElfFile::open(place, ElfKind::linked, unread.why);
    if (place != id.path)
        unread.looked_at = place.string();
    if (binary && !id.build_id.empty() && binary->build_id() != id.build_id) {
        unread.why = "the file is not the one that was traced (its build-id differs)";
        unread.looked_at += (unread.looked_at.empty() ? "build-id " : ": build-id ") +
                            hex(binary->build_id()) + ", traced was " + hex(id.build_id);
        return nullptr;
    }
    return binary;
}

// In the order in which they are tried. `folder`: that of the binary.
std::vector<fs::path> Symbolizer::Impl::debug_file_places(const std::string& build_id,
                                                          const std::string& link,
                                                          const fs::path& folder) const
{
    if (build_id.size() < 2)
        return {};
    const auto by_id =
        fs::path(".build-id") / hex(build_id.substr(0, 1)) / (hex(build_id.substr(1)) + ".debug");
    std::vector<fs::path> candidates;
    for (const auto& dir : debug_dirs_) {
        const fs::path here = dir / by_id;
        if (const fs::path place = places_.of(here); place != here)
            candidates.push_back(place);
        candidates.push_back(here);
    }
    if (!link.empty() && link.find('/') == std::string::npos) {
        candidates.push_back(places_.confined(folder / link));
        candidates.push_back(places_.confined(folder / ".debug" / link));
    }
    return candidates;
}

// Only a file with the same build-id is accepted, wherever it was found.
std::unique_ptr<ElfFile> Symbolizer::Impl::open_debug_file(const std::string& build_id,
                                                           const ElfFile* binary) const
{
    if (build_id.size() < 2)
        return nullptr;
    const auto link = binary != nullptr ? binary->debug_link() : std::string();
    const fs::path folder = binary != nullptr ? binary->path().parent_path() : fs::path();
    const auto open_if_same = [&](const fs::path& candidate) {
        std::string why_not;
        auto file = ElfFile::open(candidate, ElfKind::linked, why_not);
        return file && file->build_id() == build_id ? std::move(file) : nullptr;
    };
    for (const auto& candidate : debug_file_places(build_id, link, folder))
        if (auto file = open_if_same(candidate))
            return file;
    return servers_ ? open_if_same(servers_->debug_file(build_id)) : nullptr;
}

OpenModule Symbolizer::Impl::load(const ModuleId& id)
{
    OpenModule module;
    if (!fs::path(id.path).is_absolute())
        return module; // [vdso] and the like: no file to read
    UnreadFile unread{.path = id.path, .why = {}, .looked_at = {}};
    module.binary = open_binary(id, unread);
    if (module.binary)
        module.dwarf = DwarfIndex::open(*module.binary, places_);
    if (!module.dwarf) {
        const auto build_id =
            id.build_id.empty() && module.binary ? module.binary->build_id() : id.build_id;
        module.debug_file = open_debug_file(build_id, module.binary.get());
        if (module.debug_file)
            module.dwarf = DwarfIndex::open(*module.debug_file, places_);
    }
    if (!module.binary && !module.debug_file)
        unread_files_.push_back(std::move(unread));
    else if (id.build_id.empty())
        notices_.push_back(
            id.path +
            ": has no build-id in the log, so the names are those of the file that is there now; "
            "link with -Wl,--build-id to have this checked");
    return module;
}

OpenModule& Symbolizer::Impl::module(const ModuleId& id)
{
    const auto key = std::pair(id.path, id.build_id);
    const auto known = modules_.find(key);
    return known != modules_.end() ? known->second : modules_.emplace(key, load(id)).first->second;
}

const std::string& Symbolizer::Impl::function_name(const std::string& symbol)
{
    const auto known = function_names_.find(symbol);
    return known != function_names_.end()
               ? known->second
               : function_names_.emplace(symbol, demangle(symbol)).first->second;
}

const std::string& Symbolizer::Impl::file_name(const char* file)
{
    const auto [entry, is_new] = file_names_.try_emplace(file);
    if (is_new)
        entry->second = fs::path(file).lexically_normal().string();
    return entry->second;
}

// The symbol table knows the function that the code belongs to where DWARF names it only in short
// (in an anonymous namespace) or not at all.
void Symbolizer::Impl::name_from_symbol_table(OpenModule& from, std::uint64_t vaddr, Frame& frame)
{
    const char* const symbol = from.symbol(vaddr);
    if (symbol != nullptr &&
        (frame.function.empty() || std::string_view(symbol).starts_with("_Z"))) {
        frame.function = function_name(symbol);
        frame.short_name.clear();
    }
}

// Of names without debug information: there is some by now, or a server may have it.
bool Symbolizer::Impl::can_be_better(const KnownNames& known, const ModuleId& id) const
{
    if (!known.from_symbols_alone)
        return false;
    const fs::path folder = places_.of(id.path).parent_path();
    const std::vector<fs::path> places = debug_file_places(id.build_id, known.debug_link, folder);
    const auto is_there = [](const fs::path& place) {
        std::error_code unknown;
        return fs::exists(place, unknown);
    };
    return servers_ || std::any_of(places.begin(), places.end(), is_there);
}

// nullptr: nothing is kept of it.
KnownNames* Symbolizer::Impl::known_names(const ModuleId& id)
{
    if (!store_ || id.build_id.empty())
        return nullptr;
    const auto [known, is_new] = known_.try_emplace(id.build_id);
    if (is_new) {
        std::optional<KnownNames> kept = KnownNames::read(store_->find(id.build_id));
        if (kept && !can_be_better(*kept, id))
            known->second = std::move(*kept);
    }
    return &known->second;
}

std::vector<Frame> Symbolizer::Impl::frames(const ModuleId& id, std::uint64_t vaddr)
{
    KnownNames* const known = known_names(id);
    const std::vector<Frame>* const kept = known ? known->find(vaddr) : nullptr;
    std::vector<Frame> frames;
    if (kept) {
        frames = *kept;
    } else {
        OpenModule& from = module(id);
        frames = find_frames(from, vaddr);
        const bool whole = from.dwarf ? !from.dwarf->split_file_missing() : from.binary != nullptr;
        if (known && whole) {
            known->from_symbols_alone = !from.dwarf;
            known->debug_link = from.binary ? from.binary->debug_link() : std::string();
            known->add(vaddr, frames);
        }
    }
    for (auto& frame : frames) {
        frame.module = id.path;
        frame.build_id = id.build_id;
        frame.offset = vaddr;
    }
    return frames;
}

std::vector<Frame> Symbolizer::Impl::find_frames(OpenModule& from, std::uint64_t vaddr)
{
    std::vector<Frame> frames;
    bool outermost_is_qualified = false;
    if (from.dwarf) {
        for (const auto& call : from.dwarf->calls(vaddr)) {
            Frame& frame = frames.emplace_back();
            if (call.mangled_name != nullptr)
                frame.function = function_name(call.mangled_name);
            else if (call.name != nullptr)
                frame.function = call.name;
            if (call.full_name != nullptr && *call.full_name != '\0')
                frame.short_name = std::exchange(frame.function, call.full_name);
            if (call.file != nullptr)
                frame.file = file_name(call.file);
            frame.line = call.line;
            frame.function_line = call.function_line;
            frame.inlined = call.inlined;
            outermost_is_qualified = call.mangled_name != nullptr;
        }
    }
    if (frames.empty())
        frames.emplace_back();
    if (!outermost_is_qualified)
        name_from_symbol_table(from, vaddr, frames.back());
    return frames;
}

std::optional<bool> Symbolizer::Impl::has_unwind_table(const ModuleId& id, std::uint64_t vaddr)
{
    OpenModule& from = module(id);
    if (!from.binary)
        return std::nullopt;
    if (!from.unwind_table)
        from.unwind_table = std::make_unique<UnwindTable>(*from.binary);
    return from.unwind_table->covers(vaddr);
}

std::vector<std::string> Symbolizer::Impl::notices() const
{
    std::vector<std::string> all = notices_;
    for (const auto& [id, module] : modules_)
        if (module.dwarf && module.dwarf->split_file_missing())
            all.push_back(id.first +
                          ": was compiled with -gsplit-dwarf, and .dwo files of it are not there: "
                          "calls that were inlined are missing in stacks; keep them where the "
                          "program was compiled, or beside it");
    return all;
}

Symbolizer::Symbolizer(SymbolizerOptions options)
    : impl_(std::make_unique<Impl>(std::move(options)))
{
}

Symbolizer::~Symbolizer() = default;

const std::vector<std::string>& Symbolizer::fold() const
{
    return impl_->fold;
}

std::vector<Frame> Symbolizer::frames(const ModuleId& module, std::uint64_t vaddr)
{
    return impl_->frames(module, vaddr);
}

std::optional<bool> Symbolizer::has_unwind_table(const ModuleId& module, std::uint64_t vaddr)
{
    return impl_->has_unwind_table(module, vaddr);
}

const std::vector<UnreadFile>& Symbolizer::unread_files() const
{
    return impl_->unread_files();
}

std::vector<std::string> Symbolizer::notices() const
{
    return impl_->notices();
}

} // namespace vramscope::report
