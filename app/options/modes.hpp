// The modes of a program: how it runs, how it connects, what it prints. Each option lists the
// modes that it applies to. The errors about options that exclude each other follow from these
// lists.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// A set of modes, as bits.
using Modes = std::uint32_t;

// Exactly one mode of each kind is active.
namespace mode {

// How a client runs. The terminal decides between the first two.
inline constexpr Modes input = Modes{1} << 0;  // without a screen, from standard input
inline constexpr Modes screen = Modes{1} << 1;
inline constexpr Modes probe = Modes{1} << 2;
inline constexpr Modes generated = Modes{1} << 3;
inline constexpr Modes replay = Modes{1} << 4;
inline constexpr Modes offline = Modes{1} << 5;  // reads files; no run at all
inline constexpr Modes runs = offline - 1;
inline constexpr Modes piped = runs & ~screen;
inline constexpr Modes examine = Modes{1} << 26;  // checks instead of a run

// The kind of connection.
inline constexpr Modes stream = Modes{1} << 6;
inline constexpr Modes path = Modes{1} << 7;
inline constexpr Modes datagrams = Modes{1} << 8;
inline constexpr Modes websocket = Modes{1} << 9;
inline constexpr Modes streams = stream | path | websocket;

inline constexpr Modes plain = Modes{1} << 10;
inline constexpr Modes tls = Modes{1} << 11;

inline constexpr Modes text = Modes{1} << 12;
inline constexpr Modes json = Modes{1} << 13;

inline constexpr Modes framed = Modes{1} << 14;
inline constexpr Modes raw = Modes{1} << 15;

// When messages are sent.
inline constexpr Modes unpaced = Modes{1} << 16;
inline constexpr Modes rate = Modes{1} << 18;

// The source of the server's certificate.
inline constexpr Modes from_file = Modes{1} << 19;
inline constexpr Modes self_signed = Modes{1} << 20;

// Who connects.
inline constexpr Modes connects = Modes{1} << 24;
inline constexpr Modes listens = Modes{1} << 25;

// The expected reply: any that --match accepts, the message itself, or none.
inline constexpr Modes any_reply = Modes{1} << 21;
inline constexpr Modes echo_reply = Modes{1} << 22;
inline constexpr Modes no_reply = Modes{1} << 23;
inline constexpr Modes replies = any_reply | echo_reply;

}  // namespace mode

// Returns true if an option that lists `modes` applies to `mode`. An option that lists no mode
// of a kind applies to all modes of that kind, except `offline`.
bool applies(Modes modes, Modes mode);

// An option on the command line, or the scheme of the target, which acts like one.
struct GivenOption {
    std::string written;
    Modes modes = 0;    // modes to which it applies
    Modes chooses = 0;  // the option chooses one of these modes
    // Its name in the table, or its letter if it has no name. Empty for a scheme.
    std::string name = {};
};

// Returns true if the option with this name was given, however it was written.
bool is_given(const std::vector<GivenOption>& given, std::string_view name);

struct ActiveMode {
    Modes mode;        // several bits: one of these modes, but it is not yet known which
    std::string by{};  // the option that chose it; empty: it is the default
};

// Throws UsageError about the first given option that does not apply to an active mode.
void check_modes(const std::vector<GivenOption>& given, const std::vector<ActiveMode>& active);

// Returns the first given option that chooses one of the modes, as it was written; empty if
// there is none.
std::string chosen_by(const std::vector<GivenOption>& given, Modes modes);

// Returns the mode if an option chooses it, else `otherwise`, the default of its kind.
ActiveMode chosen_or(const std::vector<GivenOption>& given, Modes mode, Modes otherwise);

}  // namespace yodel
