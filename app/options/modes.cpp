#include "app/options/modes.hpp"

#include "app/text/exit_status.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace yodel {

namespace {

constexpr Modes kinds[] = {
    mode::runs | mode::examine | mode::offline,
    mode::streams | mode::datagrams,
    mode::plain | mode::tls,
    mode::text | mode::json,
    mode::framed | mode::raw,
    mode::unpaced | mode::rate,
    mode::from_file | mode::self_signed,
    mode::replies | mode::no_reply,
    mode::connects | mode::listens,
};

// The option or other name that stands for a mode in errors.
constexpr struct {
    Modes modes;
    const char* name;
} names[] = {
    {mode::input, "pipe mode (--no-tui)"},
    {mode::screen, "full-screen mode"},
    {mode::replay, "--replay"},
    {mode::datagrams, "-u"},
    {mode::websocket, "a ws:// or wss:// target"},
    {mode::tls, "--tls"},
    {mode::json, "--json"},
    {mode::rate, "--rate"},
    {mode::framed, "a framing with messages, such as -f line"},
};

Modes kind_of(Modes mode) {
    return *std::find_if(std::begin(kinds), std::end(kinds),
                         [&](Modes kind) { return (kind & mode) != 0; });
}

std::string refusal(const GivenOption& option, const ActiveMode& active,
                    const std::vector<GivenOption>& given) {
    if (!active.by.empty()) return option.written + " cannot be combined with " + active.by;
    const Modes wanted = option.modes & kind_of(active.mode);
    const auto* const found =
        std::find_if(std::begin(names), std::end(names),
                     [&](const auto& each) { return (each.modes & wanted) != 0; });
    assert(found != std::end(names));
    if (found->modes == mode::tls && chosen_by(given, mode::websocket) == "ws://")
        return option.written + " needs a wss:// target";
    return option.written + " needs " + found->name;
}

}  // namespace

bool applies(Modes modes, Modes mode) {
    const Modes listed = modes & kind_of(mode);
    return listed == 0 ? (mode & mode::offline) == 0 : (listed & mode) != 0;
}

void check_modes(const std::vector<GivenOption>& given, const std::vector<ActiveMode>& active) {
    for (const ActiveMode& each : active)
        for (const GivenOption& option : given)
            if (!applies(option.modes, each.mode))
                throw UsageError(refusal(option, each, given));
}

bool is_given(const std::vector<GivenOption>& given, std::string_view name) {
    return std::any_of(given.begin(), given.end(),
                       [&](const GivenOption& each) { return each.name == name; });
}

std::string chosen_by(const std::vector<GivenOption>& given, Modes modes) {
    const auto found = std::find_if(given.begin(), given.end(), [&](const GivenOption& each) {
        return (each.chooses & modes) != 0;
    });
    return found == given.end() ? "" : found->written;
}

ActiveMode chosen_or(const std::vector<GivenOption>& given, Modes mode, Modes otherwise) {
    const std::string by = chosen_by(given, mode);
    return {by.empty() ? otherwise : mode, by};
}

}  // namespace yodel
