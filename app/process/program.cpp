#include "app/process/program.hpp"

#include "app/text/diagnostics.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/json.hpp"
#include "app/text/system.hpp"
#include "bufio/tls.hpp"

#include <fcntl.h>
#if YODEL_HAS_TIMER_SLACK
#    include <sys/prctl.h>
#endif
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>

namespace yodel {

void prepare_process(const char* program) {
    fill_standard_descriptors();
    diagnostics().set_program(program);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

void ask_for_exact_waits() {
#if YODEL_HAS_TIMER_SLACK
    ::prctl(PR_SET_TIMERSLACK, 1UL);  // nanoseconds
#endif
}

void fill_standard_descriptors() {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
        if (::fcntl(fd, F_GETFD) == -1 && ::open("/dev/null", O_RDONLY) != fd) return;
}

void print(const std::string& text) {
    if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
        throw OutputError("standard output", errno);
}

Failure current_failure(const char* program) {
    try {
        throw;
    } catch (const UsageError& error) {
        return {usage_error,
                std::string(error.what()) + " (" + program + " -h shows the options)"};
    } catch (const FileError& error) {  // about which the options say nothing
        return {usage_error, error.what()};
    } catch (const bufio::TlsError& error) {
        return {exit_status(error.end()), error.what()};
    } catch (const OutputError& error) {
        return {output_failed, error.what()};
    } catch (const std::bad_alloc&) {
        return {cannot_run, "out of memory"};  // short enough to need no memory
    } catch (const std::exception& error) {
        return {cannot_run, error.what()};
    }
}

namespace {

void write_failure(const Failure& failure) {
    if (diagnostics().form() == Diagnostics::Form::text)
        return diagnostics().remark(failure.text);
    diagnostics().line(JsonObject()
                           .text("error", failure.text)
                           .number("status", static_cast<std::uint64_t>(failure.status))
                           .str());
}

}  // namespace

int fail(const Failure& failure) {
    try {
        write_failure(failure);
    } catch (const std::bad_alloc&) {
        diagnostics().show("out of memory\n");  // needs no memory
    }
    return failure.status;
}

}  // namespace yodel
