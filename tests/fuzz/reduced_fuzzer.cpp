// tests/fuzz/reduced_fuzzer.cpp — any bytes are a reduced table or an Error of one line.
//
// What is one can be joined and told, and is rows with as many values as their tables have columns.
// The corpus is tables of our own; most changes leave them JSON, so that they reach what reads it.
#include <algorithm>
#include <cctype>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "report/error.hpp"
#include "report/exporters/reduced.hpp"
#include "report/findings/make_report.hpp"
#include "report/job/job.hpp"
#include "report/job/joined_table.hpp"
#include "report/job/tables.hpp"
#include "report/json/json.hpp"
#include "report/text/views.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/log_builder.hpp"
#include "tests/support/reduced_end.hpp"

using namespace vramscope;
using test::Bytes;
using test::LogBuilder;
using namespace test; // sizes

namespace {

std::string table_of(const std::string& rank, std::uint64_t places)
{
    LogBuilder log;
    log.info("program", "train").info("rank", rank).info("world_size", "4").info("job", "7");
    log.place({.context = 1, .device = 0});
    for (std::uint64_t place = 1; place <= places; ++place) {
        log.stack(place, {0x400000 + place, 0x500000, 0x600000 + place % 3});
        log.alloc(place << 20, place * 1_KiB, place).alloc(place << 21 | 1 << 20, 1_MiB, place);
        if (place % 2 == 0)
            log.free(place << 20);
    }
    const TempFile file(log.build());
    report::Options options;
    options.all_sites = true;
    std::ostringstream text;
    report::write_reduced(text, report::make_report({file.path()}, options));
    return text.str();
}

Bytes bytes_of(std::string_view text)
{
    return {text.begin(), text.end()};
}

// A number becomes another, a text a longer one, or a line is lost or there twice. The end mostly
// counts what is there then: else nothing that lacks a line would be read as a table.
void change_json(Bytes& input, std::mt19937_64& random)
{
    const bool counted = random() % 4 > 0;
    constexpr std::string_view kNumbers[] = {
        "0", "1", "-1", "null", "4294967296", "18446744073709551615", "1e99", "\"\\u001b[\"", "[]"};
    std::string text(input.begin(), input.end());
    if (counted)
        text = without_end(text);
    std::size_t at = text.empty() ? 0 : random() % text.size();
    if (random() % 4 == 0) {
        const std::size_t begin = text.rfind('\n', at) + 1;
        const std::size_t bytes = std::min(text.find('\n', at), text.size() - 1) + 1 - begin;
        const std::string line = text.substr(begin, bytes);
        random() % 2 == 0 ? text.erase(begin, bytes) : text.insert(begin, line);
    } else {
        while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) == 0)
            ++at;
        std::size_t end = at;
        while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0)
            ++end;
        text.replace(at, end - at, kNumbers[random() % std::size(kNumbers)]);
    }
    if (counted)
        text = with_end(text);
    input.assign(text.begin(), text.end());
}

class CountingSink : public report::TableSink {
public:
    void row(report::TableId table, const std::vector<report::TableValue>& values) override
    {
        if (values.size() != report::description_of(table).columns.size())
            throw std::logic_error("a row is not as long as its table is wide");
        const std::string line = report::csv_row(values);
        if (std::any_of(line.begin(), line.end() - 1, [](char c) { return c == '\n' || c == 27; }))
            throw std::logic_error("a row is more than one line");
    }
};

} // namespace

const FuzzTarget fuzz_target = {"reduced_fuzzer", 33, change_json}; // the first line

std::vector<Bytes> fuzz_corpus()
{
    const std::string second = table_of("2", 3);
    const std::string processes =
        without_end(table_of("1", 40)) + without_end(second.substr(second.find('\n') + 1));
    return {bytes_of(table_of("0", 1)), bytes_of(table_of("3", 12)), bytes_of(with_end(processes))};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string text(data, data + size);
    try {
        std::istringstream table(text);
        report::JobJoin join;
        report::read_reduced(table, "fuzz",
                             [&join](const report::ReducedProcess& process) { join.add(process); });
        const report::Job job = join.finish();
        std::ostringstream told;
        report::write_job(told, job, {}, true);
        report::write_job_json(told, job);
        std::istringstream again(text);
        report::JoinedTable joined;
        joined.add(again, "fuzz");
        again = std::istringstream(text);
        CountingSink sink;
        report::TableWriter(sink).add(again, "fuzz");
    } catch (const report::Error& error) {
        if (std::string_view(error.what()).find('\n') != std::string_view::npos)
            throw std::logic_error("an error has more than one line");
    }
    return 0;
}
