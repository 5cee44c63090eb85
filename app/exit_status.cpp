#include "app/exit_status.hpp"

#include "app/command_line.hpp"
#include "bufio/tls.hpp"
#include "ui/text.hpp"

#include <cerrno>
#include <cstdio>
#include <new>
#include <system_error>

namespace yodel {

using bufio::Reason;

int exit_status(const bufio::End& end) {
    switch (end.reason) {
    case Reason::none:
    case Reason::clean:
    case Reason::aborted: return 0;
    case Reason::lookup: return 6;
    case Reason::connect: return 7;
    case Reason::output: return 23;
    case Reason::timeout: return 28;
    case Reason::tls:
    case Reason::cut_handshake: return 35;
    case Reason::send: return 55;
    case Reason::receive:
    case Reason::truncated:
    case Reason::closed_early:
    case Reason::limit: return 56;
    case Reason::own_certificate: return 58;
    case Reason::certificate: return 60;
    case Reason::trust: return 77;
    case Reason::pin: return 90;
    }
    return reply_wrong_or_lost;
}

namespace {

// Trusting its authority helps where nothing else is wrong. An owner of a server that does not
// send its intermediate should mend that, rather than have each client trust more.
std::string ways_to_accept(const bufio::TlsFacts& tls) {
    std::string text;
    if (tls.incomplete) text += "; an intermediate is for the server to send";
    text += "; to accept it: ";
    if (tls.untrusted && tls.faults == 1) text += "--cacert FILE, ";
    return text + "--pinnedpubkey " + tls.pin + ", or -k";
}

}  // namespace

std::string explain(const bufio::End& end, const bufio::TlsFacts* tls) {
    switch (end.reason) {
    case Reason::certificate: return tls ? end.text + ways_to_accept(*tls) : end.text;
    case Reason::own_certificate:
        return tls && !tls->subject.empty() ? end.text + "; --cert FILE and --key FILE name it"
                                            : end.text;
    default: return end.text;
    }
}

void print(const std::string& text) {
    if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
        throw std::system_error(errno, std::generic_category(), "standard output");
}

void complain(const char* program, const std::string& text) {
    const std::string line = std::string(program) + ": " + ui::printable(text) + "\n";
    std::fputs(line.c_str(), stderr);
}

int fail(const char* program) {
    try {
        throw;
    } catch (const UsageError& error) {
        complain(program,
                 std::string(error.what()) + " (" + program + " -h shows the options)");
        return usage_error;
    } catch (const bufio::TlsError& error) {
        complain(program, error.what());
        return exit_status(error.end());
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "%s: out of memory\n", program);  // which takes none
        return cannot_run;
    } catch (const std::exception& error) {
        complain(program, error.what());
        return cannot_run;
    }
}

}  // namespace yodel
