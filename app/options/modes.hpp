// The modes of a program: how it runs, how it connects, what it prints. Each option lists the
// modes that it applies to. The errors about options that exclude each other follow from these
// lists.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace yodel {

// A set of modes, as bits.
using Modes = std::uint32_t;

// Exactly one mode of each kind is active.
namespace mode {

// How the client runs. The terminal decides between the first two.
inline constexpr Modes input = 1U << 0;  // without a screen, from standard input
inline constexpr Modes screen = 1U << 1;
inline constexpr Modes probe = 1U << 2;
inline constexpr Modes generated = 1U << 3;  // on one connection
inline constexpr Modes load = 1U << 4;
inline constexpr Modes search = 1U << 5;  // for the highest rate
inline constexpr Modes replay = 1U << 6;
inline constexpr Modes replay_load = 1U << 7;  // on several connections
inline constexpr Modes merge = 1U << 8;        // no run at all
inline constexpr Modes replays = replay | replay_load;
inline constexpr Modes probe_load = 1U << 31;  // on several connections
inline constexpr Modes runs = (merge - 1) | probe_load;
inline constexpr Modes piped = runs & ~screen;

// The kind of connection. A target tcp:// chooses `tcp`.
inline constexpr Modes stream = 1U << 9;
inline constexpr Modes tcp = 1U << 10;
inline constexpr Modes path = 1U << 11;
inline constexpr Modes datagrams = 1U << 12;
inline constexpr Modes streams = stream | tcp | path;

inline constexpr Modes v4 = 1U << 25;  // or both
inline constexpr Modes v6 = 1U << 26;

inline constexpr Modes plain = 1U << 13;
inline constexpr Modes tls = 1U << 14;

inline constexpr Modes text = 1U << 15;
inline constexpr Modes json = 1U << 16;

inline constexpr Modes framed = 1U << 17;
inline constexpr Modes raw = 1U << 18;

// When messages go; `recorded`: at the times of a recording.
inline constexpr Modes unpaced = 1U << 19;
inline constexpr Modes interval = 1U << 20;
inline constexpr Modes rate = 1U << 21;
inline constexpr Modes recorded = 1U << 22;

// The source of the server's certificate.
inline constexpr Modes from_file = 1U << 23;
inline constexpr Modes self_signed = 1U << 24;

// Whether any reply is accepted, unless --match refuses it.
inline constexpr Modes any_reply = 1U << 29;
inline constexpr Modes other_reply = 1U << 30;

inline constexpr Modes single = 1U << 27;  // connection
inline constexpr Modes several = 1U << 28;

}  // namespace mode

// Returns true if an option with these modes applies to the mode. Of a kind that has none among
// them all apply, but of runs not `merge`.
bool applies(Modes modes, Modes mode);

// An option, or the scheme of a target, that was given.
struct Given {
    std::string written;
    Modes modes = 0;    // modes to which it applies
    Modes chooses = 0;  // one of these
};

struct ActiveMode {
    Modes mode;        // several bits: not known yet which one
    std::string by{};  // the option that chose it; empty: it is the default
};

// Throws UsageError about the first given option that does not apply to an active mode.
void check_modes(const std::vector<Given>& given, const std::vector<ActiveMode>& active);

// Returns the first given option that chooses one of the modes, as it was written; empty if
// there is none.
std::string chosen_by(const std::vector<Given>& given, Modes modes);

// Returns the mode if an option chooses it, else the default one of its kind.
ActiveMode chosen(const std::vector<Given>& given, Modes mode, Modes otherwise);

}  // namespace yodel
