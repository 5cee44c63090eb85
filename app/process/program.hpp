// The first and last steps of all programs.
#pragma once

#include "app/text/exit_status.hpp"
#include "app/text/output.hpp"
#include "bufio/listen.hpp"
#include "ev/loop.hpp"

#include <csignal>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace yodel {

// Asks the system to end the waits of this thread, and of threads that it starts later, at
// their exact time. By default, Linux ends them up to 50 us later, together with other timers.
// Has no effect on other systems, or if the system refuses. Waits may then end late, and the
// program reports its lateness.
void minimize_timer_slack();

// Runs a program; must be the last call in main(). First opens closed standard descriptors.
// Ignores SIGPIPE and SIGXFSZ, so that a write reports the error instead of ending the process.
// `body` returns the exit status. If a signal is to end the program, `body` also sets `signo`,
// and the signal is raised again. An exception is reported as one sentence, and decides the
// status. `name` is the program's name in diagnostics. With `is_server`, an exception's status
// trust_unusable becomes own_certificate_unusable, and output_failed becomes cannot_run.
int run_program(const char* name, const std::function<int(int& signo)>& body,
                bool is_server = false);

// Writes the text to standard output; blocks until it is written. Returns the exit status
// `success`. Throws FileError.
int print(const std::string& text);

// Writes the trouble to standard error, as {"error":"text","status":1} if diagnostics are JSON.
// Returns its status.
int print_trouble(const Trouble& trouble);

// Throws UsageError if two of these outputs are the same file, or one is the file of standard
// output, because they would overwrite each other. Each output is an option and its file, empty
// if the option is not used. Character devices, such as terminals, may be shared.
void refuse_shared_outputs(const std::vector<std::pair<std::string, std::string>>& outputs);

// Raises the soft limit of descriptors to the hard limit if fewer than `needed` are allowed.
// Returns the resulting limit, or `needed` if the limit already sufficed.
std::size_t raise_descriptor_limit(std::size_t needed);

// Provides `count` descriptors besides those in use. Raises the soft limit to the hard limit if
// necessary. Throws std::runtime_error, with both numbers, if that does not suffice.
void provide_descriptors(std::size_t count);

// Returns the limit on descriptors, or 0 if there is none.
std::size_t descriptor_limit();
// Returns the number of descriptors in use. Looks at the lowest 256 only.
std::size_t used_descriptors();

// A file that contains the server's ports, for the program that started the server.
//
// The file is written under another name and then renamed, so that no program reads an
// incomplete file. It may replace a regular file, but not a link, FIFO, device or folder.
class PortFile {
public:
    // Creates the file, unless the path is empty. Throws FileError, and std::runtime_error if
    // the path exists and is not a regular file.
    PortFile(const std::string& path, const std::string& text);

private:
    bufio::Fd file_;
    bufio::OwnedPath path_;  // removed with this object, unless another server has replaced it
};

// Returns the lines of -V. They do not depend on the time or the place of the build.
std::string version_text(const std::string& program, std::string_view backends);

// Runs a program that parses its options, and prints --help and --version. `run` gets a loop
// that also writes diagnostics.
template <class Options>
int run_program(const char* name, std::string_view backends, int argc, char* argv[],
                Options (*parse)(int, char*[]), std::string (*help)(),
                int (*run)(ev::Loop& loop, Options options, int& signo),
                bool is_server = false) {
    const auto body = [&](int& signo) {
        Options options = parse(argc, argv);
        if (options.line.has("help")) return print(help());
        if (options.line.has("version")) return print(version_text(name, backends));
        ev::Loop loop;
        const DiagnosticsOnLoop on_loop(loop);
        return run(loop, std::move(options), signo);
    };
    return run_program(name, std::ref(body), is_server);  // a reference needs no allocation
}

// Records the first of the signals that end the program. Calls `leave` at each of them, with
// the first as the argument.
class EndingSignals {
public:
    template <class Leave>
    EndingSignals(ev::Loop& loop, Leave leave) {
        for (const int number : {SIGINT, SIGTERM, SIGHUP})
            signals_.emplace_back(loop, number, [this, leave, number] {
                if (signo_ == 0) signo_ = number;
                std::signal(SIGTTOU, SIG_IGN);  // the summary may be written in the background
                leave(signo_);
            });
    }
    int signo() const { return signo_; }

private:
    std::vector<ev::Signal> signals_;
    int signo_ = 0;
};

// Returns the exit status, and sets `signo` to the signal that ended the client.
template <class Client>
int run_client(ev::Loop& loop, const typename Client::Options& options, int& signo) {
    std::optional<Client> client;
    const EndingSignals ending(loop, [&](int number) { client->quit(number); });
    const ev::Signal continued(loop, SIGCONT, [&] { client->continued(); });
    client.emplace(loop, options);  // may set up the terminal, so handle signals first
    while (loop.step()) client->turn_ended();
    signo = ending.signo();
    return client->report();
}

}  // namespace yodel
