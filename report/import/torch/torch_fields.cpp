// report/import/torch/torch_fields.cpp — the keys that are looked for, and what may lie there.
#include "report/import/torch/torch_fields.hpp"

#include <bit>

#include <fmt/format.h>

namespace vramscope::report {
namespace {

using Kind = PickleValue::Kind;

constexpr std::string_view kKeyTexts[kTorchKeys] = {"action",
                                                    "active_allocated",
                                                    "addr",
                                                    "address",
                                                    "external_annotations",
                                                    "blocks",
                                                    "device",
                                                    "device_free",
                                                    "filename",
                                                    "frames",
                                                    "history",
                                                    "is_expandable",
                                                    "line",
                                                    "name",
                                                    "active_pending_free",
                                                    "pool_id",
                                                    "real_size",
                                                    "requested_size",
                                                    "segment_pool_id",
                                                    "segments",
                                                    "segment_type",
                                                    "allocator_settings",
                                                    "size",
                                                    "small",
                                                    "stage",
                                                    "START",
                                                    "state",
                                                    "stream",
                                                    "time_us",
                                                    "total_size",
                                                    "device_traces",
                                                    "user_metadata"};

} // namespace

TorchFields::TorchFields(PickleInput& input) : PickleMachine(input)
{
    for (const std::string_view text : kKeyTexts)
        intern(text);
}

std::string TorchFields::words_of(const Value& value) const
{
    switch (value.kind) {
    case Kind::boolean:
        return value.bits != 0 ? "True" : "False";
    case Kind::integer:
        return std::to_string(static_cast<std::int64_t>(value.bits));
    case Kind::real:
        return fmt::format("{:#}", std::bit_cast<double>(value.bits));
    case Kind::text:
        return std::string(text(value.bits));
    case Kind::dict:
        return words_of_dict(value);
    default:
        return {};
    }
}

// "1:0,2:0": one level.
std::string TorchFields::words_of_dict(const Value& dict) const
{
    std::string words;
    const auto all = items(dict);
    for (std::size_t at = 0; at + 1 < all.size(); at += 2)
        if (all[at].kind == Kind::text && all[at + 1].kind != Kind::dict)
            words += (words.empty() ? "" : ",") + std::string(text(all[at].bits)) + ":" +
                     words_of(all[at + 1]);
    return words;
}

const PickleValue* TorchFields::find(const Value& dict, std::uint64_t key) const
{
    const auto all = items(dict);
    for (std::size_t at = 0; at + 1 < all.size(); at += 2)
        if (all[at].kind == Kind::text && all[at].bits == key)
            return &all[at + 1];
    return nullptr;
}

// What is there and is not a number is an Error.
std::uint64_t TorchFields::number_or(const Value& dict, TorchKey key, std::uint64_t otherwise) const
{
    const Value* const value = find(dict, key);
    if (!value || value->kind == Kind::none)
        return otherwise;
    if (value->kind == Kind::integer || value->kind == Kind::boolean)
        return value->bits;
    if (value->kind == Kind::real) {
        const double real = std::bit_cast<double>(value->bits);
        if (real >= 0 && real < 9e18)
            return static_cast<std::uint64_t>(real);
    }
    fail(fmt::format("'{}' is no number", kKeyTexts[key]));
}

std::uint64_t TorchFields::text_number(const Value& dict, TorchKey key)
{
    const Value* const value = find(dict, key);
    if (!value || value->kind == Kind::none)
        return intern({});
    if (value->kind != Kind::text)
        fail(fmt::format("'{}' is no text", kKeyTexts[key]));
    return value->bits;
}

} // namespace vramscope::report
