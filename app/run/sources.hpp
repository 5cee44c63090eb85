// Sources supply the messages of a connection or of a whole lane, from an input, a file, a
// generator or a recording.
#pragma once

#include "app/protocol/session.hpp"
#include "app/run/schedule.hpp"
#include "app/stats/recording.hpp"
#include "app/text/exit_status.hpp"
#include "bufio/buffer.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace yodel {

// Limit of the bytes queued for standard output or, if RunOptions::window is unset, from a
// connection's own source for its socket. A higher limit is no faster.
inline constexpr std::size_t pipe_high_water = 64 * 1024;

// Default window in messages. On a connection with its own source, more messages may be in
// flight if they are short, up to the window in bytes. With half the window, a server on
// another processor is sometimes idle; with a larger window, messages no longer fit into the
// caches.
inline constexpr std::size_t default_window = 64;
inline constexpr std::size_t default_window_bytes = 128 * 1024;

// A message to send. Its views are valid until the next call of the source.
struct Outgoing {
    std::string_view payload;
    ev::Time planned_at{};                       // due time; 0 if the message has none
    std::optional<std::string_view> reply = {};  // see Session::send()
    bool is_reserved = false;                    // the payload is in Session::reserve()'s space
    bool is_unterminated = false;                // no newline follows it in the input
};

// The lane calls next() while a connection can send. A source that waits for something calls a
// function `changed` from the loop when next() may return another message, or is_over() has
// become true.
class Source {
public:
    virtual ~Source() = default;

    // Returns the next message if it may be sent now. Call sent() if it was sent. If it was
    // not, the source may return it again or drop it.
    virtual std::optional<Outgoing> next() = 0;
    virtual void sent(const Outgoing&, QueuedIds) {}
    virtual bool is_over() const { return false; }  // no message is left
    virtual Trouble trouble() const { return {}; }

    virtual void left_flight(const Message&) {}  // answered in time, or lost
    // Returns the fate of an unsolicited message. A replay compares the message with those that
    // it expects, and removes the first equal one.
    virtual Fate judge_unsolicited(std::string_view) { return Fate::unsolicited; }
    virtual bool expects(std::string_view /*unsolicited*/) { return false; }
    virtual void stop() {}    // no more messages are wanted
    virtual void closed() {}  // the connection is closed for good
};

using OwnMessages = std::shared_ptr<const std::deque<std::string>>;

// Cuts the bytes of an input into the messages of its lines.
class LineReader {
public:
    struct Options {
        const Framing* framing = find_framing("line");  // the connections' framing
        std::size_t max_frame = 32 * 1024 * 1024;       // limit of a message, in bytes
        bool has_escapes = false;                       // replace \n, \xNN and the like
        // Set if the lines are those of --messages. Then each line must be a single message,
        // and there must be at least one line.
        std::optional<std::string> messages_file = {};  // its name, or "-" for stdin
    };

    // If `is_raw`, messages are the bytes as they are read, not lines.
    explicit LineReader(const Options& options, bool is_raw = false);

    bufio::Buffer& bytes() { return buffer_; }  // append the input to it
    void end() { has_ended_ = true; }           // the input has ended
    // Ends the input because of an error, and discards what is left of it.
    void fail(const std::string& text, int status);

    // Returns none if no message is complete, at the end, and after an error. The message is
    // valid until pop(), which removes it.
    std::optional<Outgoing> next();
    // Returns one message with as many whole lines as fit into `size` bytes, or none if no
    // whole line fits. The framing must be `line`.
    std::optional<Outgoing> next_lines(std::size_t size);
    void pop(const Outgoing& message);
    bool is_over() const { return has_ended_ && buffer_.empty(); }
    Trouble trouble() const;

private:
    std::nullopt_t refuse(const std::string& text);

    const Options options_;
    const bool is_raw_;
    bufio::Buffer buffer_;
    Decoder decoder_;
    std::size_t used_size_ = 0;      // bytes that the message from next() occupies
    std::uint64_t line_number_ = 1;  // number of the next line
    bool has_ended_ = false;
    std::string unescaped_;  // the message from next(), with its escapes replaced
    Trouble trouble_;
};

// Sends each line of standard input, or the bytes of each read, as a message. Reads only if a
// message is wanted and none is left, so that back-pressure slows a fast writer down.
//
// If the session coalesces, many lines are sent together. With `keeps_lines`, sends nothing,
// but reads all lines for the Generator of each connection.
class Lines final : public Source {
public:
    static constexpr std::size_t max_kept_bytes = 256 * 1024 * 1024;  // including overhead

    struct Options {
        LineReader::Options lines = {};
        bool keeps_lines = false;
        // The session of the only connection, whose sending side closes when the input ends;
        // null if several connections may send. With a session and without frames, messages are
        // whole reads.
        Session* session = nullptr;
        // Time after the connection has opened in which the service may send a greeting, and no
        // message is sent. Needs a session.
        ev::Duration greeting_wait = {};
    };

    Lines(ev::Loop& loop, const Options& options, const std::function<void()>& changed);

    std::optional<Outgoing> next() override;
    void sent(const Outgoing& message, QueuedIds queued) override;
    bool is_over() const override { return reader_.is_over() && reserved_bytes_.empty(); }
    Trouble trouble() const override { return reader_.trouble(); }
    void stop() override { watch_.want(ev::none); }
    OwnMessages kept() const { return kept_; }  // grows until the end

private:
    void read();
    void keep();

    ev::Loop& loop_;
    const Options options_;
    LineReader reader_;
    std::string_view reserved_bytes_;  // bytes read into the session's queue, not yet sent
    const std::shared_ptr<std::deque<std::string>> kept_;  // null without `keeps_lines`
    std::size_t kept_bytes_ = 0;
    ev::Watch watch_;
    ev::Timer greeting_timer_;
};

// Sends generated messages, numbered from 1, or messages that are kept: the user's own over and
// over, or each line of an input once. The connections of one thread share a source, except for
// the lines of an input, which each connection sends, even if it opens late.
//
// A generated text is printable, contains no delimiter of any framing, and differs from the
// previous text if its size allows. It consists of a number, letters, and two check letters.
// Two such texts differ in at least three bytes, so a text with one damaged byte is still
// closest to the original. If the check letters do not fit, they are omitted, and damage may
// turn one text into another.
class Generator final : public Source {
public:
    // Holds any number and the check letters.
    static constexpr std::size_t min_checked_size = 22;

    explicit Generator(std::size_t size) : text_(size, ' ') { fill(0, size); }  // size in bytes
    // Own message n of the run is line n modulo the number of lines.
    Generator(OwnMessages messages, const Share& share)
        : messages_(std::move(messages)), share_(share), next_number_(share.thread) {}
    // The input reports its trouble once, not for each connection.
    explicit Generator(const Lines& input) : messages_(input.kept()), input_(&input) {}

    // Returns the text for a number: its last digits, letters, and the check letters. The view
    // is valid until the next call. Does not allocate.
    std::string_view text(std::uint64_t number);

    std::optional<Outgoing> next() override;
    bool is_over() const override {
        return input_ && input_->is_over() && next_number_ == messages_->size();
    }

private:
    void fill(std::size_t begin, std::size_t end);

    std::string text_;
    std::size_t digit_count_ = 0;  // at the front of the text
    const OwnMessages messages_;   // null if messages are generated
    const Lines* const input_ = nullptr;
    const Share share_;
    std::uint64_t next_number_ = 0;  // number of the next message, from 0
};

// Sends the messages of a recording at their recorded times, or as soon as replies arrive, and
// expects the recorded unsolicited messages.
//
// Times count from the first message, which waits for everything recorded before it, such as a
// greeting.
class Replay final : public Source {
public:
    // The recording must have no trouble. With `is_fast`, each message is sent as soon as all
    // replies and unsolicited messages recorded before it have arrived or are overdue. Calls
    // `missed` with each recorded unsolicited message that did not arrive.
    Replay(ev::Loop& loop, std::shared_ptr<const Recording> recording, bool is_fast,
           Session& session, const std::function<void()>& changed,
           std::function<void(std::string_view payload)> missed);

    std::optional<Outgoing> next() override;
    void sent(const Outgoing& message, QueuedIds queued) override;
    bool is_over() const override;
    void left_flight(const Message& message) override;
    Fate judge_unsolicited(std::string_view payload) override;
    bool expects(std::string_view unsolicited) override {
        return find_outstanding(unsolicited) != outstanding_.end();
    }
    void stop() override;
    void closed() override;

private:
    struct Unsolicited {
        std::string text;        // without the masked parts
        ev::Time deadline = {};  // missing after this time; set by set_deadline()
    };
    using Outstanding = std::map<std::size_t, Unsolicited>;

    void set_deadline(const Event& event);
    Outstanding::iterator find_outstanding(std::string_view payload);
    std::string masked_text(std::string_view payload) const;
    bool waits() const { return !outstanding_.empty() && outstanding_.begin()->first < next_; }
    void report_missing(ev::Time deadline);

    ev::Loop& loop_;
    const std::shared_ptr<const Recording> recording_;
    const bool is_fast_;
    Session& session_;
    const std::function<void(std::string_view payload)> missed_;
    std::size_t next_ = 0;             // place of the next event in the recording
    std::optional<ev::Time> zero_at_;  // time 0 of the recording, once the first message is due
    bool is_stopped_ = false;
    // New ids, by recorded ids, of the messages in flight that expect a reply.
    std::map<std::uint64_t, std::uint64_t> awaited_;
    Outstanding outstanding_;  // unsolicited messages neither arrived nor missing yet, by place
    ev::Timer timer_;          // due with the next message or at the first deadline
};

}  // namespace yodel
