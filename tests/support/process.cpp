#include "tests/support/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace test {

namespace {

using std::chrono::steady_clock;

void open_pipe(int& read_end, int& write_end) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    read_end = ends[0];
    write_end = ends[1];
}

void close_fd(int& fd) {
    if (fd >= 0) ::close(std::exchange(fd, -1));
}

std::vector<char*> pointers(const std::vector<std::string>& arguments) {
    std::vector<char*> list;
    for (const std::string& argument : arguments)
        list.push_back(const_cast<char*>(argument.c_str()));
    list.push_back(nullptr);
    return list;
}

// Reads once. Closes the descriptor at its end.
void drain(int& fd, std::string& to) {
    char bytes[65536];
    const ssize_t count = ::read(fd, bytes, sizeof bytes);
    if (count > 0) to.append(bytes, static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) close_fd(fd);
}

}  // namespace

Process::Process(const std::vector<std::string>& arguments)
    : deadline_(steady_clock::now() + patience) {
    std::signal(SIGPIPE, SIG_IGN);
    int child_in = -1;
    int child_out = -1;
    int child_err = -1;
    open_pipe(child_in, input_fd_);
    open_pipe(output_fd_, child_out);
    open_pipe(errors_fd_, child_err);
    ::fcntl(input_fd_, F_SETFL, O_NONBLOCK);
    const std::vector<char*> list = pointers(arguments);
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ == 0) {
        std::signal(SIGPIPE, SIG_DFL);
        ::dup2(child_in, 0);
        ::dup2(child_out, 1);
        ::dup2(child_err, 2);
        ::execvp(list[0], list.data());
        ::_exit(127);
    }
    close_fd(child_in);
    close_fd(child_out);
    close_fd(child_err);
}

Process::~Process() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    close_fd(input_fd_);
    close_fd(output_fd_);
    close_fd(errors_fd_);
}

void Process::write(std::string bytes) {
    input_.erase(0, std::exchange(input_sent_, 0));
    input_ += bytes;
}

void Process::close_input() { input_ends_ = true; }

void Process::kill(int signal) const {
    if (pid_ > 0) ::kill(pid_, signal);
}

bool Process::wait_for_output(const std::string& text) { return wait_for(output_, text); }

bool Process::wait_for_errors(const std::string& text) { return wait_for(errors_, text); }

bool Process::wait_for(const std::string& where, const std::string& text) {
    deadline_ = steady_clock::now() + patience;
    while (where.find(text) == std::string::npos)
        if (!exchange()) return where.find(text) != std::string::npos;
    return true;
}

int Process::wait_exit() {
    deadline_ = steady_clock::now() + patience;
    while (exchange()) {
    }
    int status = 0;
    while (::waitpid(pid_, &status, WNOHANG) == 0) {
        if (steady_clock::now() > deadline_) return -1;
        ::poll(nullptr, 0, 1 /* ms */);
    }
    pid_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Moves bytes in all three directions. Returns false if there is nothing more to read, or time
// is up.
bool Process::exchange() {
    const std::size_t unsent = input_.size() - input_sent_;
    if (unsent == 0 && input_ends_) close_fd(input_fd_);
    pollfd polled[] = {{output_fd_, POLLIN, 0},
                       {errors_fd_, POLLIN, 0},
                       {unsent == 0 ? -1 : input_fd_, POLLOUT, 0}};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - steady_clock::now());
    if (left.count() <= 0 || (output_fd_ < 0 && errors_fd_ < 0)) return false;
    if (::poll(polled, 3, static_cast<int>(left.count())) <= 0) return false;
    if (polled[0].revents != 0) drain(output_fd_, output_);
    if (polled[1].revents != 0) drain(errors_fd_, errors_);
    if (polled[2].revents == 0) return true;
    const ssize_t count = ::write(input_fd_, input_.data() + input_sent_, unsent);
    if (count > 0) input_sent_ += static_cast<std::size_t>(count);
    if (count < 0 && errno != EAGAIN && errno != EINTR) input_sent_ = input_.size();
    return true;
}

Outcome run(const std::vector<std::string>& arguments, const std::string& input) {
    Process process(arguments);
    process.write(input);
    process.close_input();
    const int status = process.wait_exit();
    return {status, process.output(), process.errors()};
}

Folder::Folder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "yodel-test-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp");
    path_ = pattern;
}

Folder::~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace test
