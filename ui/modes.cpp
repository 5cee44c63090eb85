#include "ui/modes.hpp"

#include "ui/text.hpp"

namespace ui {

ModeSequences mode_sequences_for(std::string_view cup, std::string_view smcup) {
    const std::string paste_off = "\x1b[?2004l";
    ModeSequences modes;
    if (!cup.starts_with("\x1b[")) return modes;
    modes.enable = "\x1b[?2004h";
    modes.restore = paste_off;
    if (smcup.find("\x1b[?") == smcup.npos) return modes;
    // Ends a truncated sequence.
    const std::string cancel = "\x18";
    // Switches the wheel's mode on before restoring it, because on is the default of terminals
    // that know the mode but can't restore it.
    const std::string wheel_back = "\x1b[?1007h\x1b[?1007r";
    modes.save = "\x1b[?1007s";
    modes.enable += "\x1b[?1007l";
    modes.frame_begin = "\x1b[?2026h";
    modes.frame_end = "\x1b[?2026l";
    modes.restore = cancel + modes.frame_end + wheel_back + paste_off;
    return modes;
}

std::string clipboard_sequence(std::string_view text) {
    if (text.size() > max_clipboard_text) return {};  // printable() never shortens a text
    const std::string shown = printable(text);
    if (shown.size() > max_clipboard_text) return {};
    return "\x1b]52;c;" + base64(shown) + "\x1b\\";
}

}  // namespace ui
