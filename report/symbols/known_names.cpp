// report/symbols/known_names.cpp — numbers of 8 bytes, texts by their number in a list of texts.
#include "report/symbols/known_names.hpp"

#include <map>
#include <utility>

#include "report/fnv1a.hpp"

namespace vramscope::report {
namespace {

constexpr std::string_view kMagic = "VSNAMES1";
constexpr std::size_t kNumber = 8;
constexpr std::uint64_t kMostFrames = 1000; // of one address

std::string as_bytes(std::uint64_t number)
{
    std::string bytes(kNumber, '\0');
    for (char& byte : bytes) {
        byte = static_cast<char>(number & 0xff);
        number >>= 8;
    }
    return bytes;
}

std::uint64_t sum_of(std::string_view bytes)
{
    Fnv1a sum;
    sum.add_words(bytes);
    return sum.value();
}

class Writer {
public:
    void number(std::uint64_t value) { rows_ += as_bytes(value); }
    void text(const std::string& text)
    {
        const auto [known, added] = numbers_.try_emplace(text, numbers_.size());
        if (added)
            texts_ += as_bytes(text.size()) + text;
        number(known->second);
    }

    std::string finish() const
    {
        const std::string body = as_bytes(numbers_.size()) + texts_ + rows_;
        return std::string(kMagic) + as_bytes(sum_of(body)) + body;
    }

private:
    std::map<std::string, std::size_t> numbers_;
    std::string texts_;
    std::string rows_;
};

// Beyond the end everything is 0 and empty, and is_bad().
class Reader {
public:
    explicit Reader(std::string_view body) : rest_(body)
    {
        for (std::uint64_t left = number(); left > 0 && !is_bad_; --left)
            texts_.emplace_back(piece(number()));
    }

    std::uint64_t number()
    {
        std::uint64_t value = 0;
        const std::string_view bytes = piece(kNumber);
        for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte)
            value = value << 8 | static_cast<unsigned char>(*byte);
        return value;
    }
    std::string text()
    {
        const std::uint64_t at = number();
        is_bad_ = is_bad_ || at >= texts_.size();
        return is_bad_ ? std::string() : std::string(texts_[at]);
    }
    int small()
    {
        const std::uint64_t value = number();
        is_bad_ = is_bad_ || value > INT32_MAX;
        return is_bad_ ? 0 : static_cast<int>(value);
    }

    bool is_bad() const noexcept { return is_bad_; }
    bool at_end() const noexcept { return rest_.empty(); }

private:
    std::string_view piece(std::uint64_t size)
    {
        is_bad_ = is_bad_ || size > rest_.size();
        if (is_bad_)
            return {};
        const std::string_view bytes = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return bytes;
    }

    std::string_view rest_;
    std::vector<std::string_view> texts_;
    bool is_bad_ = false;
};

} // namespace

std::string KnownNames::bytes() const
{
    Writer out;
    out.number(from_symbols_alone);
    out.text(debug_link);
    for (const auto& [vaddr, frames] : places_) {
        out.number(vaddr);
        out.number(frames.size());
        for (const Frame& frame : frames) {
            out.text(frame.function);
            out.text(frame.short_name);
            out.text(frame.file);
            out.number(static_cast<std::uint64_t>(frame.line));
            out.number(static_cast<std::uint64_t>(frame.function_line));
            out.number(frame.inlined);
        }
    }
    return out.finish();
}

std::optional<KnownNames> KnownNames::read(std::string_view bytes)
{
    const std::size_t head = kMagic.size() + kNumber;
    if (bytes.size() < head || !bytes.starts_with(kMagic))
        return std::nullopt;
    const std::string_view body = bytes.substr(head);
    if (bytes.substr(kMagic.size(), kNumber) != as_bytes(sum_of(body)))
        return std::nullopt;
    Reader in(body);
    KnownNames names;
    names.from_symbols_alone = in.number() != 0;
    names.debug_link = in.text();
    while (!in.at_end() && !in.is_bad()) {
        std::vector<Frame>& frames = names.places_[in.number()];
        std::uint64_t left = in.number();
        if (left > kMostFrames)
            return std::nullopt;
        for (; left > 0 && !in.is_bad(); --left) {
            Frame& frame = frames.emplace_back();
            frame.function = in.text();
            frame.short_name = in.text();
            frame.file = in.text();
            frame.line = in.small();
            frame.function_line = in.small();
            frame.inlined = in.number() != 0;
        }
    }
    return in.is_bad() ? std::nullopt : std::optional(std::move(names));
}

const std::vector<Frame>* KnownNames::find(std::uint64_t vaddr) const
{
    const auto found = places_.find(vaddr);
    return found == places_.end() || found->second.empty() ? nullptr : &found->second;
}

void KnownNames::add(std::uint64_t vaddr, const std::vector<Frame>& frames)
{
    if (frames.size() > kMostFrames || places_.size() >= kMostPlaces)
        return;
    std::vector<Frame>& kept = places_[vaddr];
    kept = frames;
    for (Frame& frame : kept) { // the same in all
        frame.module.clear();
        frame.build_id.clear();
        frame.offset = 0;
    }
    changed_ = true;
}

} // namespace vramscope::report
