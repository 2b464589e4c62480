// report/exporters/pprof.cpp — a profile for `go tool pprof` and what else reads profile.proto.
//
// Written at the end of one reading: what is kept is one entry per site. In use is what was never
// freed, whatever became of its context: the totals are those of the report's leaks.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "report/exporters/exported_sums.hpp"
#include "report/exporters/gzip.hpp"
#include "report/exporters/protobuf.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

// Field numbers of profile.proto, message by message.
namespace profile {
enum {
    sample_type = 1,
    sample,
    mapping,
    location,
    function,
    string_table,
    time_nanos = 9,
    duration_nanos,
    period_type,
    period,
    comment,
    default_sample_type
};
}
namespace value_type {
enum { type = 1, unit };
}
namespace sample {
enum { location_id = 1, value, label };
}
namespace label {
enum { key = 1, str };
}
namespace mapping {
enum {
    id = 1,
    memory_start,
    memory_limit,
    file_offset,
    filename,
    build_id,
    has_functions,
    has_filenames,
    has_line_numbers,
    has_inline_frames
};
}
namespace location {
enum { id = 1, mapping_id, address, line };
}
namespace line {
enum { function_id = 1, line };
}
namespace function {
enum { id = 1, name, system_name, filename };
}

class Profile {
public:
    Profile(const Sink& sink, const ExportOptions& options)
        : gzip_(sink), options_(options), symbolizer_(options.symbols)
    {
        number_of_text("");
    }

    void write(const LogFile& file)
    {
        ExportedSums sums(file);
        sums.read(options_.progress);
        write_head(file, sums);
        StackReader stacks(sums.tables(), symbolizer_,
                           options_.all_frames ? ShownFrames::all : ShownFrames::visible);
        sums.for_each_wanted(options_,
                             [&](const SiteUse& use) { write_sample(use, sums, stacks); });
        ProtobufMessage texts;
        for (const std::string* const text : texts_)
            texts.bytes(profile::string_table, *text);
        put(texts);
        gzip_.finish();
        if (options_.unread_files)
            options_.unread_files(symbolizer_.unread_files());
    }

private:
    void put(const ProtobufMessage& part) { gzip_.write(part.encoded()); }

    std::uint64_t number_of_text(std::string_view text) // the text may be no UTF-8
    {
        const auto [entry, added] = text_numbers_.try_emplace(terminal_safe(text), texts_.size());
        if (added)
            texts_.push_back(&entry->first);
        return entry->second;
    }

    ProtobufMessage value_type_of(const char* type, const char* unit)
    {
        return ProtobufMessage()
            .number(value_type::type, number_of_text(type))
            .number(value_type::unit, number_of_text(unit));
    }

    void write_head(const LogFile& file, const ExportedSums& sums)
    {
        ProtobufMessage head;
        for (const auto& [type, unit] : {std::pair{"alloc_objects", "count"},
                                         {"alloc_space", "bytes"},
                                         {"inuse_objects", "count"},
                                         {"inuse_space", "bytes"}})
            head.message(profile::sample_type, value_type_of(type, unit));
        head.number(profile::default_sample_type, number_of_text("inuse_space"));
        head.message(profile::period_type, value_type_of("space", "bytes"));
        head.number(profile::period, 1);
        head.number(profile::time_nanos, file.header().start_real_ns);
        head.number(profile::duration_nanos, sums.duration_ns());
        std::vector<std::uint64_t> comments;
        if (const auto command = sums.tables().info_value("command"); !command.empty())
            comments.push_back(number_of_text(command));
        for (const std::string& doubt : sums.doubts())
            comments.push_back(number_of_text("inconclusive: " + doubt));
        head.numbers(profile::comment, comments);
        put(head);
    }

    void write_sample(const SiteUse& use, const ExportedSums& sums, StackReader& stacks)
    {
        const Site& site = use.site;
        const CallPlace place = read_site(stacks, site);
        std::vector<std::uint64_t> locations;
        for (const std::span<const Frame> frames : code_places(place.stack))
            locations.push_back(location_of(frames, sums.tables()));
        ProtobufMessage row;
        row.numbers(sample::location_id, locations);
        row.numbers(sample::value, std::array{site.allocations, site.allocated_bytes,
                                              use.never_freed_blocks, use.never_freed_bytes});
        add_label(row, "api", place.api);
        add_label(row, "memory", name(site.memory));
        if (site.device >= 0)
            add_label(row, "device", std::to_string(site.device));
        const std::string phase = sums.heap().phases().kind_name(site.phase);
        if (!phase.empty())
            add_label(row, "phase", phase);
        put(ProtobufMessage().message(profile::sample, row));
    }

    void add_label(ProtobufMessage& row, const char* key, const std::string& text)
    {
        row.message(sample::label, ProtobufMessage()
                                       .number(label::key, number_of_text(key))
                                       .number(label::str, number_of_text(text)));
    }

    // The same address may be there with fewer inlined calls, where only the outer ones are shown.
    std::uint64_t location_of(std::span<const Frame> frames, const LogTables& tables)
    {
        const Frame& own = frames.back();
        std::string key;
        for (const Frame& frame : frames)
            append_place(key, frame);
        key += std::to_string(own.offset);
        const auto [entry, added] = locations_.try_emplace(key, locations_.size() + 1);
        if (!added)
            return entry->second;
        const Module* const module = tables.module_with_path(own.module);
        ProtobufMessage row;
        row.number(location::id, entry->second);
        if (module)
            row.number(location::mapping_id, mapping_of(*module));
        row.number(location::address, own.offset + (module ? module->load_bias : 0));
        for (const Frame& frame : frames)
            row.message(location::line,
                        ProtobufMessage()
                            .number(line::function_id, number_of_function(frame))
                            .number(line::line, static_cast<std::uint64_t>(frame.line)));
        put(ProtobufMessage().message(profile::location, row));
        return entry->second;
    }

    // With the name that reports have for it: nothing is left for a reader to look up.
    std::uint64_t number_of_function(const Frame& frame)
    {
        const std::uint64_t name = number_of_text(function_of(frame));
        const std::uint64_t file = number_of_text(frame.file);
        const auto [entry, added] = functions_.try_emplace({name, file}, functions_.size() + 1);
        if (added)
            put(ProtobufMessage().message(profile::function,
                                          ProtobufMessage()
                                              .number(function::id, entry->second)
                                              .number(function::name, name)
                                              .number(function::system_name, name)
                                              .number(function::filename, file)));
        return entry->second;
    }

    std::uint64_t mapping_of(const Module& module)
    {
        const auto [entry, added] = mappings_.try_emplace(&module, mappings_.size() + 1);
        if (added)
            put(ProtobufMessage().message(
                profile::mapping,
                ProtobufMessage()
                    .number(mapping::id, entry->second)
                    .number(mapping::memory_start, module.first)
                    .number(mapping::memory_limit, module.end)
                    .number(mapping::filename, number_of_text(module.id.path))
                    .number(mapping::build_id, number_of_text(hex_digits(module.id.build_id)))
                    .number(mapping::has_functions, 1)
                    .number(mapping::has_filenames, 1)
                    .number(mapping::has_line_numbers, 1)
                    .number(mapping::has_inline_frames, 1)));
        return entry->second;
    }

    GzipSink gzip_;
    const ExportOptions& options_;
    Symbolizer symbolizer_;
    std::map<std::string, std::uint64_t> text_numbers_;
    std::vector<const std::string*> texts_; // indexed by number
    std::map<std::string, std::uint64_t> locations_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> functions_; // name, file
    std::map<const Module*, std::uint64_t> mappings_;
};

} // namespace

void export_pprof(const std::filesystem::path& log, const Sink& sink, const ExportOptions& options)
{
    const LogFile file = LogFile::open(log, LogFile::Collected::taken);
    Profile(sink, options).write(file);
}

} // namespace vramscope::report
