// tools/options/budget.cpp — reads budgets; a bad value is refused with its place.
#include "tools/options/budget.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "report/decimal.hpp"
#include "report/error.hpp"
#include "report/input_text.hpp"
#include "report/judge/finding_kinds.hpp"
#include "report/rules/read_rules.hpp"
#include "tools/options/usage.hpp"
#include "tools/output/messages.hpp"
#include "tracker/format/size_text.hpp"

namespace vramscope {

const char* const kBudgetHelp =
    R"(Budgets hold for each process by itself. Leaks fail, as --max-leaked 0, unless --fail-on names other things. FILE.json
has the same names: {"max-leaked": 0, "max-peak": "1.5GiB", "max-growth": "1MiB/step", "fail-on": ["leaks", "out-of-memory"]}
)";

namespace {

using report::Budget;
using report::Error;
using report::Exit;
using report::GrowthBudget;

[[noreturn]] void refuse(const std::string& where, const std::string& text, std::string_view wanted)
{
    throw Error(Exit::usage, fmt::format("{} '{}': write {}", where, text.substr(0, 80), wanted));
}

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60; // an exbibyte: more is a slip
constexpr const char* kBytesWanted = "bytes up to 1024PiB: 0, 4096, 64MiB or 1.5GiB";

std::optional<std::uint64_t> read_bytes(std::string_view text)
{
    const std::optional<std::uint64_t> bytes = format::read_size(text);
    return bytes && *bytes <= kMostBytes ? bytes : std::nullopt;
}

std::uint64_t bytes(const std::string& where, const std::string& text)
{
    const auto read = read_bytes(text);
    if (!read)
        refuse(where, text, kBytesWanted);
    return *read;
}

GrowthBudget growth(const std::string& where, const std::string& text)
{
    GrowthBudget budget;
    const std::size_t slash = std::min(text.find('/'), text.size());
    const std::string per = text.substr(std::min(slash + 1, text.size()));
    const auto read = read_bytes(std::string_view(text).substr(0, slash));
    const bool known = slash == text.size() || per == "step" || per == "call" || per == "s";
    if (!read || !known)
        refuse(where, text,
               "bytes and what they are per: 0, 64KiB/step, 1MiB/s or 512/call; a plain number is "
               "per step");
    budget.bytes = static_cast<double>(*read);
    budget.per = per == "s"      ? GrowthBudget::Per::second
                 : per == "call" ? GrowthBudget::Per::call
                                 : GrowthBudget::Per::step;
    return budget;
}

double percent(const std::string& where, const std::string& text)
{
    std::string_view rest = text;
    const auto read = report::take_decimal(rest);
    if (!read || (!rest.empty() && rest != "%") || *read > 100)
        refuse(where, text, "a percentage from 0 to 100");
    return *read;
}

std::uint64_t count(const std::string& where, const std::string& text)
{
    constexpr std::uint64_t kMost = std::uint64_t{1} << 53;
    const auto number = report::whole_number<std::uint64_t>(text);
    if (!number || *number > kMost)
        refuse(where, text, "a number");
    return *number;
}

// The words of --fail-on, but for "none".
std::vector<std::string> finding_words()
{
    std::vector<std::string> words;
    for (const report::FindingKind& kind : report::kFindingKinds)
        if (!kind.with)
            words.emplace_back(kind.word);
    return words;
}

[[noreturn]] void refuse_finding(const std::string& where, std::string_view word)
{
    const std::vector<std::string> words = finding_words();
    refuse(where, std::string(word),
           fmt::format("a list of {} and {}, or none",
                       fmt::join(words.begin(), words.end() - 1, ", "), words.back()));
}

void add_finding(Budget& budget, const std::string& where, std::string_view word)
{
    if (!budget.fail_on)
        budget.fail_on.emplace();
    if (word == "oom") // its name before JSON 1.6
        word = report::kind_of(report::Finding::out_of_memory).word;
    if (word == "none")
        return;
    for (const report::FindingKind& kind : report::kFindingKinds) {
        if (word == kind.word && !kind.with) {
            (*budget.fail_on)[static_cast<std::size_t>(kind.finding)] = true;
            return;
        }
    }
    refuse_finding(where, word);
}

void add_findings(Budget& budget, const std::string& where, std::string_view words)
{
    if (words.starts_with("none,") || words.ends_with(",none") ||
        words.find(",none,") != words.npos)
        refuse_finding(where, words);
    for (bool more = true; more;) {
        const std::size_t comma = words.find(',');
        add_finding(budget, where, words.substr(0, comma));
        more = comma != words.npos;
        words.remove_prefix(more ? comma + 1 : words.size());
    }
}

using ReadLimit = void (*)(Budget&, const std::string& where, const std::string& text);

struct Limit {
    const char* key;
    const char* value; // how --help shows the value
    const char* help;
    ReadLimit read;
};

// clang-format off
constexpr std::array kLimits = {
    Limit{"max-leaked", "BYTES", "what may leak: 0",
          [](Budget& to, const std::string& where, const std::string& text) { to.max_leaked = bytes(where, text); }},
    Limit{"max-growth", "BYTES/step", "how fast memory may grow; also BYTES/s and BYTES/call",
          [](Budget& to, const std::string& where, const std::string& text) { to.max_growth = growth(where, text); }},
    Limit{"max-peak", "BYTES", "what may be allocated on a device at once",
          [](Budget& to, const std::string& where, const std::string& text) { to.max_peak = bytes(where, text); }},
    Limit{"max-reserved", "BYTES", "the same, with what the pool keeps",
          [](Budget& to, const std::string& where, const std::string& text) { to.max_reserved = bytes(where, text); }},
    Limit{"max-fragmentation", "PERCENT", "of reserved memory that may be of no use, at the peak",
          [](Budget& to, const std::string& where, const std::string& text) { to.max_fragmentation = percent(where, text); }},
    Limit{"max-driver-calls", "N", "allocations and frees that may reach the driver",
          [](Budget& to, const std::string& where, const std::string& text) { to.max_driver_calls = count(where, text); }},
    Limit{"max-leaked-objects", "N", "streams, events, graphs, modules and the like that may be left at the end",
          [](Budget& to, const std::string& where, const std::string& text) { to.max_leaked_objects = count(where, text); }},
};
// clang-format on

struct Flag {
    const char* key;
    bool Budget::*member;
};
constexpr std::array kFlags = {
    Flag{"one-device", &Budget::one_device},
    Flag{"allow-inconclusive", &Budget::allow_inconclusive},
};

class BudgetFile {
public:
    explicit BudgetFile(const std::string& path) : path_(path) {}

    void read(Budget& budget)
    {
        const nlohmann::json document = parse();
        if (!document.is_object())
            fail("is no JSON object of budgets");
        for (const auto& [key, value] : document.items())
            take(budget, key, value);
    }

private:
    [[noreturn]] void fail(const std::string& what) const
    {
        throw Error(Exit::usage, fmt::format("{}: {}", path_, what));
    }

    std::string text() const
    {
        constexpr std::size_t kMostBytesOfFile = 1 << 20;
        return report::read_input_text(path_, "the budget", kMostBytesOfFile);
    }

    nlohmann::json parse() const
    {
        std::set<std::string> seen;
        std::string twice;
        const auto note = [&](int depth, nlohmann::json::parse_event_t event,
                              const nlohmann::json& parsed) {
            if (depth == 1 && event == nlohmann::json::parse_event_t::key &&
                !seen.insert(parsed.get<std::string>()).second)
                twice = parsed.get<std::string>();
            return true;
        };
        nlohmann::json document;
        try {
            document = nlohmann::json::parse(text(), note);
        } catch (const nlohmann::json::parse_error& error) {
            fail(fmt::format("is no JSON, at byte {}", error.byte));
        }
        if (!twice.empty())
            fail(fmt::format("'{}' is there twice", twice));
        return document;
    }

    void take(Budget& budget, const std::string& key, const nlohmann::json& value) const
    {
        const std::string where = path_ + ": " + key;
        for (const Limit& limit : kLimits) {
            if (key == limit.key)
                return limit.read(budget, where, as_text(value));
        }
        if (key == "fail-on")
            return take_findings(budget, where, value);
        for (const Flag& flag : kFlags) {
            if (key != flag.key)
                continue;
            if (!value.is_boolean())
                refuse(where, as_text(value), "true or false");
            budget.*flag.member = value.get<bool>();
            return;
        }
        std::string keys;
        for (const Limit& limit : kLimits)
            keys += limit.key + std::string(", ");
        fail(fmt::format("there is no budget '{}': there are {}one-device, fail-on and "
                         "allow-inconclusive",
                         key.substr(0, 80), keys));
    }

    // A number or a string, as an option would have it; what is neither is refused by its reader.
    // Programs that write JSON make 4096.0 of a whole number.
    static std::string as_text(const nlohmann::json& value)
    {
        if (value.is_number_float())
            if (const double number = value;
                number >= 0 && number < 0x1p63 && number == std::trunc(number))
                return std::to_string(static_cast<std::uint64_t>(number));
        return value.is_string()
                   ? value.get<std::string>()
                   : value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    }

    static void take_findings(Budget& budget, const std::string& where, const nlohmann::json& value)
    {
        if (!value.is_array())
            return add_findings(budget, where, as_text(value));
        if (value.empty())
            refuse_finding(where, "[]");
        budget.fail_on.emplace();
        for (const nlohmann::json& word : value) {
            if (word == "none" && value.size() > 1)
                refuse_finding(where, value.dump());
            add_finding(budget, where, as_text(word));
        }
    }

    std::string path_;
};

} // namespace

void add_budget_options(CLI::App& command, BudgetOptions& options, CLI::Option* needs)
{
    const auto add = [&](CLI::Option* option, const char* value) {
        if (value)
            option->option_text(value);
        if (needs)
            option->needs(needs)->group("With --check");
    };
    add(command.add_option("--budget", options.file, "budgets in a file, by these names"),
        "FILE.json");
    for (const Limit& limit : kLimits)
        add(command.add_option("--" + std::string(limit.key), options.limits[limit.key],
                               limit.help),
            limit.value);
    add(command.add_flag("--one-device", options.one_device,
                         "each process may have contexts on one device alone"),
        nullptr);
    std::vector<std::string> findings = finding_words();
    CLI::Option* const fail_on =
        command.add_option("--fail-on", options.fail_on,
                           fmt::format("what may not be there at all, with commas: {}; none",
                                       fmt::join(findings, ", ")));
    add(fail_on, "LIST");
    findings.insert(findings.begin(), "none");
    offer(fail_on, findings);
    add(command.add_flag("--allow-inconclusive", options.allow_inconclusive,
                         "end 0 where the log does not show whether budgets are kept"),
        nullptr);
    add(command
            .add_option(
                "--rules", options.rules,
                "rules, a line each, such as steady: forbid driver-alloc in range \"step*\"; "
                "may be repeated")
            ->allow_extra_args(false),
        "FILE");
    add(command
            .add_option("--forbid", options.forbid,
                        "one such rule, as it follows forbid; may be repeated")
            ->allow_extra_args(false),
        "RULE");
    add(command.add_flag("--allow-unapplied", options.allow_unapplied,
                         "a rule is kept if what it speaks of never was"),
        nullptr);
}

Budget read_budget(const BudgetOptions& options)
{
    Budget budget;
    if (!options.file.empty()) {
        detail(fmt::format("reads the budget {}", options.file));
        BudgetFile(options.file).read(budget);
    }
    for (const Limit& limit : kLimits) {
        const auto given = options.limits.find(limit.key);
        if (given != options.limits.end() && !given->second.empty())
            limit.read(budget, "--" + std::string(limit.key), given->second);
    }
    if (!options.fail_on.empty()) {
        budget.fail_on.reset();
        add_findings(budget, "--fail-on", options.fail_on);
    }
    budget.one_device = budget.one_device || options.one_device;
    budget.allow_inconclusive = budget.allow_inconclusive || options.allow_inconclusive;
    budget.allow_unapplied = options.allow_unapplied;
    return budget;
}

std::vector<std::string> files_of(const BudgetOptions& options)
{
    std::vector<std::string> files = options.rules;
    files.push_back(options.file);
    return files;
}

report::Rules read_rules(const BudgetOptions& options)
{
    report::Rules rules;
    for (const std::string& file : options.rules) {
        detail(fmt::format("reads the rules {}", file));
        report::add_rules_file(rules, file);
    }
    for (const std::string& rule : options.forbid)
        report::add_forbidden(rules, rule);
    return rules;
}

} // namespace vramscope
