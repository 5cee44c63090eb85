// The lines that open a new connection before its messages: STARTTLS, which asks a service in
// its own protocol to continue with TLS, and --on-connect. The connect timeout applies to both,
// and the lines are neither counted nor recorded.
#pragma once

#include "app/protocol/framing.hpp"
#include "bufio/transport.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace yodel {

struct Starttls;  // a row of the table of services

// Returns the names of the services and their static rows.
std::vector<std::pair<std::string, const Starttls*>> starttls_services();

// Returns the framing of the service's answers: smtp or crlf.
const Framing* framing_of(const Starttls& service);

// Decides which lines to send, and examines the answers. It does no input or output. What the
// service says is added, line by line, to `notes`, which must outlive the dialogue.
class Dialogue {
public:
    // Asks the service for TLS. Each failure has Reason::tls. Plaintext after the last answer
    // is a failure.
    Dialogue(const Starttls& service, std::vector<std::string>& notes);
    // Sends the lines. With framings whose replies cannot be echoes (resp, smtp), each line
    // waits for the reply to the previous line, and an error reply is a failure with
    // Reason::refused. With any other framing the lines are sent together, and their replies
    // are unsolicited. With `is_greeted`, the service's greeting was received earlier, as with
    // STARTTLS. The notes also contain the lines, without their arguments.
    Dialogue(const Framing& framing, bool is_greeted, const std::vector<std::string>& lines,
             std::vector<std::string>& notes);

    // Removes answers from the front of `received`, which contains all bytes that were not yet
    // removed. Returns the bytes to send now, if there are any.
    std::string advance(std::string_view& received);
    bool is_done() const { return !awaits_answer_ && begun_steps_ == steps_.size(); }
    const bufio::End& failure() const { return failure_; }
    bufio::End early_end() const;  // the end to report if the service closes early

private:
    struct Step {
        std::string frame;            // to send; empty if the service speaks first
        std::string name;             // of the command or the option, for error texts
        std::string note;             // precedes the answer in the notes
        std::string_view right = {};  // with STARTTLS, the beginning of the right answer
    };

    const Step& step() const { return steps_[begun_steps_ - 1]; }
    std::string answered_text() const;
    void refuse(std::string detail);
    bool take_answer(std::string_view& received);

    const Starttls* const service_ = nullptr;  // null for the lines of --on-connect
    const Framing& framing_;
    Decoder decoder_;
    std::vector<Step> steps_;
    std::vector<std::string>& notes_;
    std::size_t begun_steps_ = 0;
    std::size_t consumed_ = 0;  // bytes of the answers
    bool awaits_answer_ = false;
    bufio::End failure_;
};

}  // namespace yodel
