// Runs programs for a test: to their end, collecting output, or in the background.
//
// Every wait is for a condition. Its time limit only turns a hang into a failure.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace test {

class Process {
public:
    static constexpr std::chrono::seconds patience{20};

    // Starts arguments[0], found by PATH. Its three standard descriptors are pipes.
    explicit Process(const std::vector<std::string>& arguments);
    ~Process();  // kills and reaps the program if it still runs
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    void write(std::string bytes);  // in the background, while the program reads
    void close_input();             // after everything is written
    void kill(int signal) const;

    // Reads until the output, or the errors, contain the text. False: the program ended
    // without it, or timed out.
    bool wait_for_output(const std::string& text);
    bool wait_for_errors(const std::string& text);
    // Returns the exit status, or 128 plus the signal that ended it; -1: it did not end in
    // time.
    int wait_exit();

    pid_t pid() const { return pid_; }
    const std::string& output() const { return output_; }
    const std::string& errors() const { return errors_; }

private:
    bool exchange();
    bool wait_for(const std::string& where, const std::string& text);

    pid_t pid_ = -1;
    int input_fd_ = -1;
    int output_fd_ = -1;
    int errors_fd_ = -1;
    std::string input_;
    std::size_t input_sent_ = 0;
    bool input_ends_ = false;
    std::string output_;
    std::string errors_;
    std::chrono::steady_clock::time_point deadline_;
};

struct Outcome {
    int status;
    std::string output;
    std::string errors;
};

// Runs a program to its end with the given input.
Outcome run(const std::vector<std::string>& arguments, const std::string& input = "");

// A temporary folder, removed with the object.
class Folder {
public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string path(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

}  // namespace test
