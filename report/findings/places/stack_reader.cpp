// report/findings/places/stack_reader.cpp — addresses to frames, and the frames that are shown.
#include "report/findings/places/stack_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "report/findings/places/fingerprint.hpp"
#include "report/findings/places/frames.hpp"

namespace vramscope::report {

// Each list of a report has places that others have too. A stack's number is of the modules that
// were loaded when it was taken (tracker/capture/stack_table.hpp), so `ticks` makes no other place.
const CallPlace& StackReader::kept(std::uint64_t api, std::uint64_t stack, std::uint64_t ticks)
{
    constexpr std::size_t kMostFrames = 50'000;
    auto kept = places_.find({api, stack});
    if (kept == places_.end()) {
        CallPlace place = make_place(api, stack, ticks);
        kept_frames_ += place.stack.size();
        if (kept_frames_ > kMostFrames) {
            places_.clear();
            kept_frames_ = place.stack.size();
        }
        kept = places_.emplace(std::pair(api, stack), std::move(place)).first;
    }
    return kept->second;
}

CallPlace StackReader::read(std::uint64_t api, std::uint64_t stack, std::uint64_t ticks)
{
    CallPlace place = kept(api, stack, ticks);
    place.own = wrappers_.own_frame(place);
    return place;
}

CallPlace StackReader::make_place(std::uint64_t api, std::uint64_t stack, std::uint64_t ticks)
{
    constexpr std::size_t kMostKnown = 100'000; // a log may have any number of addresses
    if (known_.size() > kMostKnown)
        known_.clear();
    CallPlace place;
    if (api < tables_.apis().size())
        place.entry_point = tables_.apis()[api].name;
    std::vector<Frame> frames;
    Stack known;
    if (stack == kOtherStacks)
        frames.push_back({.function = std::string(kOthers), .file = {}, .module = {}});
    const LoggedStack* const logged = stack == kOtherStacks ? nullptr : tables_.stack(stack);
    const LoggedStack* const ran = logged && logged->origin ? tables_.stack(logged->inner) : logged;
    if (const LoggedStack* const native = ran && ran->inner ? tables_.stack(ran->inner) : ran) {
        known = this->known(*native, std::max(ticks, logged->known_since_ticks));
        place.stack_truncated = ran->truncated || native->truncated;
        place.cut = cut_of(*native, known, ticks);
        if (ran != native)
            known = with_python(*ran, known);
        add_origins(*logged, known);
        for (const Known* const one : known)
            frames.insert(frames.end(), one->frames.begin(), one->frames.end());
    }
    place.api = user_api(frames, place.entry_point);
    const FrameRange visible = visible_frames(frames);
    place.module = calling_module(frames, visible);
    place.library = library_of(place.module);
    for (auto frame = known.begin(); frame != known.end() && place.library.empty(); ++frame)
        place.library = (*frame)->taken_for;
    fold_around_python(frames, visible);
    place.fingerprint = fingerprint(place.api, named_frames(frames, visible));
    place.suppression = suppression_of(place.api, frames, known, visible.begin);
    const std::size_t own = innermost_own_frame(frames, visible);
    place.own = shown_ == ShownFrames::all       ? own
                : shown_ == ShownFrames::visible ? own - visible.begin
                                                 : 0;
    show_only(frames, visible, shown_);
    place.own = named_frame(frames, place.own);
    place.stack = std::move(frames);
    return place;
}

CallPlace StackReader::read_row(std::uint64_t api, std::uint64_t stack, std::uint64_t ticks)
{
    CallPlace place = read(api, stack, ticks);
    if (is_listed(stack))
        return place;
    CallPlace others;
    others.entry_point = std::move(place.entry_point);
    others.api = std::move(place.api);
    others.suppression = place.suppression;
    others.stack = {Frame{.function = others_, .file = {}, .module = {}}};
    return others;
}

void StackReader::find_wrappers(const std::vector<Site>& sites)
{
    std::vector<const Site*> largest;
    for (const Site& site : sites)
        if (site.stack != 0 && format::class_of(site.memory) != format::MemoryClass::reserved)
            largest.push_back(&site);
    std::stable_sort(largest.begin(), largest.end(), [](const Site* a, const Site* b) {
        return a->allocated_bytes > b->allocated_bytes;
    });
    largest.resize(std::min(largest.size(), kMostLookedAt));
    if (largest.size() < Wrappers::kLeastCallers)
        return;
    for (const Site* const site : largest)
        wrappers_.see(kept(site->api, site->stack, site->first_ticks));
    wrappers_.judge();
}

// Of the API that the user called, then of the frames that led there, innermost first: what lies
// below the API is the same for every program.
std::optional<Suppressions::Rule> StackReader::suppression_of(const std::string& api,
                                                              const std::vector<Frame>& stack,
                                                              const Stack& known,
                                                              std::size_t first_visible) const
{
    if (!suppressions_)
        return std::nullopt;
    if (const auto rule = suppressions_->match(api))
        return rule;
    std::size_t frames = 0;
    for (const Known* const address : known) {
        frames += address->frames.size();
        if (frames > first_visible && address->rule)
            return address->rule;
    }
    if (first_visible < stack.size()) {
        if (const auto rule = suppressions_->match_built_in(stack[first_visible], api))
            return rule;
    }
    for (const Known* const address : known)
        if (address->built_in)
            return address->built_in;
    return std::nullopt;
}

// The recorder wrote down what its unwinder found. Where there is no table that stops, or goes on
// by frame pointers: where the C library has these, straight to the code that begins a program.
StackCut StackReader::cut_of(const LoggedStack& stack, const Stack& known,
                             std::uint64_t ticks) const
{
    std::size_t calls = known.size();
    while (calls > 0 && is_start_up_code(known[calls - 1]->frames.back()))
        --calls;
    if (stack.truncated || calls == 0 || begins_here(known[calls - 1]->frames.back()))
        return StackCut::none;
    if (leaves_go(known[calls - 1]->frames.back()))
        return StackCut::go_stack;
    const std::uint64_t address = stack.addresses()[calls - 1] - 1;
    const Module* const module =
        tables_.module_at(address, std::max(ticks, stack.known_since_ticks));
    if (!module)
        return calls == known.size() ? StackCut::no_module : StackCut::none;
    if (const LoggedFrames* const named = tables_.frames(*module, address - module->load_bias))
        return named->no_unwind_table ? StackCut::no_unwind_table : StackCut::none;
    return symbolizer_.has_unwind_table(module->id, address - module->load_bias).value_or(true)
               ? StackCut::none
               : StackCut::no_unwind_table;
}

StackReader::Stack StackReader::known(const LoggedStack& stack, std::uint64_t ticks)
{
    // A stack's number belongs to one state of the loaded modules, which any later time of its use
    // tells as well.
    ticks = std::max(ticks, stack.known_since_ticks);
    Stack known;
    for (const std::uint64_t address : stack.addresses())
        known.push_back(&at(address - 1, ticks)); // inside the call, not behind it
    return known;
}

// Functions of Python take the place of the native frame that ran them. Where that is not known,
// all come before the interpreter's innermost one.
StackReader::Stack StackReader::with_python(const LoggedStack& stack, const Stack& native)
{
    const auto interpreter = std::find_if(native.begin(), native.end(), [](const Known* known) {
        return is_interpreter(known->frames.back());
    });
    const auto unplaced = static_cast<std::size_t>(interpreter - native.begin());
    const std::vector<format::PythonFrame> python = stack.python();
    Stack merged;
    auto frame = python.begin();
    for (std::size_t at = 0; at <= native.size(); ++at) {
        const bool last = at == native.size();
        const auto first = frame;
        while (frame != python.end() &&
               (last || (stack.placed ? frame->native == at : at == unplaced)))
            merged.push_back(&in_python(*frame++, Role::caller));
        if (!last && (frame == first || !stack.placed))
            merged.push_back(native[at]);
    }
    return merged;
}

// They called nothing here, and come behind those that did. What made this may itself have been
// made by a backward pass.
void StackReader::add_origins(const LoggedStack& stack, Stack& known)
{
    const auto stack_or_null = [this](std::uint64_t id) {
        return id ? tables_.stack(id) : nullptr;
    };
    for (const LoggedStack* origin = stack_or_null(stack.origin); origin;
         origin = stack_or_null(origin->origin)) {
        const LoggedStack* const made = origin->origin ? stack_or_null(origin->inner) : origin;
        if (made && made->leaf)
            known.push_back(&of_leaf_);
        if (made)
            for (const format::PythonFrame& frame : made->python())
                known.push_back(&in_python(frame, Role::origin));
    }
}

const StackReader::Known& StackReader::in_python(const format::PythonFrame& frame, Role role)
{
    const auto [entry, added] = known_python_.try_emplace({frame.code, frame.offset, role});
    if (!added)
        return entry->second;
    const LoggedPythonCode* const code = tables_.python_code(frame.code);
    Frame read = python_frame(code ? *code : LoggedPythonCode{}, frame.offset);
    if (role == Role::origin)
        read.function.insert(0, "backward of ");
    entry->second.frames.push_back(std::move(read));
    judge(entry->second);
    return entry->second;
}

std::vector<Frame> StackReader::in_module(const Module& module, std::uint64_t offset)
{
    const LoggedFrames* const named = tables_.frames(module, offset);
    if (!named)
        return symbolizer_.frames(module.id, offset);
    std::vector<Frame> frames = named->frames;
    for (Frame& frame : frames) {
        frame.module = module.id.path;
        frame.build_id = module.id.build_id;
    }
    return frames;
}

const StackReader::Known& StackReader::at(std::uint64_t address, std::uint64_t ticks)
{
    const Module* const module = tables_.module_at(address, ticks);
    const auto [entry, added] = known_.try_emplace({module, address});
    if (!added)
        return entry->second;
    if (module)
        entry->second.frames = in_module(*module, address - module->load_bias);
    else
        entry->second.frames.push_back(
            {.function = {}, .file = {}, .module = {}, .offset = address});
    for (Frame& frame : entry->second.frames)
        frame.library = is_library(frame);
    judge(entry->second);
    return entry->second;
}

void StackReader::judge(Known& known) const
{
    known.taken_for = library_taken_for(known.frames);
    if (!suppressions_)
        return;
    known.rule = suppressions_->match(known.frames);
    known.built_in = suppressions_->match_built_in_function(known.frames);
}

} // namespace vramscope::report
