// tools/commands/top_keys.cpp — choosing, sorting, and typing a text.
#include "tools/commands/top_keys.hpp"

#include <algorithm>
#include <cstddef>

#include "tools/output/screen.hpp"

namespace vramscope {
namespace {

std::size_t moved(std::size_t at, int by, std::size_t size)
{
    const bool back = by < 0;
    return back ? at - std::min<std::size_t>(at, 1) : std::min(at + 1, size - 1);
}

void choose_program(int by, const std::vector<report::LiveProgram>& programs,
                    report::LiveView& view)
{
    const std::size_t at = moved(chosen_program(programs, view), by, programs.size());
    if (programs[at].state.pid == view.program)
        return;
    view.program = programs[at].state.pid;
    view.stack.clear();
}

void choose_stack(int by, const report::LiveProgram& program, report::LiveView& view)
{
    const std::vector<std::size_t> shown = shown_stacks(program, view);
    if (shown.empty())
        return;
    const std::size_t at = moved(chosen_stack(program, shown, view), by, shown.size());
    view.stack = live_key(program.state.stacks[shown[at]]);
}

// The last character of UTF-8, which may be several bytes.
void erase_last(std::string& text)
{
    while (!text.empty()) {
        const auto byte = static_cast<unsigned char>(text.back());
        text.pop_back();
        if ((byte & 0xc0) != 0x80)
            return;
    }
}

void type(int key, report::LiveView& view)
{
    if (key == key::kEscape)
        view.match.clear();
    if (key == key::kEnter || key == key::kEscape)
        view.typing = false;
    else if (key == key::kBackspace)
        erase_last(view.match);
    else if (key >= ' ' && key < key::kUp)
        view.match += static_cast<char>(key);
}

report::LiveOrder after(report::LiveOrder order)
{
    using enum report::LiveOrder;
    return order == bytes ? growth : order == growth ? rate : bytes;
}

} // namespace

bool take_key(int key, const std::vector<report::LiveProgram>& programs, report::LiveView& view)
{
    if (view.typing) {
        type(key, view);
        return true;
    }
    switch (key) {
    case 'q':
    case 'Q':
        return false;
    case '?':
        view.help = !view.help;
        break;
    case 's':
        view.order = after(view.order);
        break;
    case '/':
        view.typing = true;
        view.match.clear();
        break;
    case key::kEscape:
        view.match.clear();
        view.help = false;
        break;
    case key::kEnter:
        view.stack_open = !view.stack_open;
        break;
    case key::kUp:
    case key::kDown:
        choose_stack(key == key::kUp ? -1 : 1, programs[chosen_program(programs, view)], view);
        break;
    case key::kLeft:
    case key::kRight:
        choose_program(key == key::kLeft ? -1 : 1, programs, view);
        break;
    default:
        break;
    }
    return true;
}

} // namespace vramscope
