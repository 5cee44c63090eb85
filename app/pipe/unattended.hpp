// A generator of messages, sent at an interval, as ping does, to any echo service.
//
// A message is sent when it is due, whether or not replies have come, and its round trip counts
// from its planned time, so that a service that stalls is seen to stall. The planned times are
// whole intervals after the first message, however late the client is with one of them; how
// late it was is recorded. A message that is due while there is no connection, or while the
// peer takes nothing, or while 8 MiB await their replies, is lost. With no interval messages
// are sent as fast as the window allows.
//
// The option `max_time` of the session is the length of the run, from the first message on:
// then the replies are awaited and the connection is closed in order. A connection that is not
// open by then has failed.
#pragma once

#include "app/pipe/generated_text.hpp"
#include "app/pipe/pipe_mode.hpp"
#include "app/pipe/progress_line.hpp"
#include "app/pipe/schedule.hpp"
#include "ev/loop.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace yodel {

class Unattended final : public PipeMode {
public:
    struct Options {
        AnySession::Options session;
        Reporter::Options report = {};
        std::uint64_t count = 0;  // messages; 0: until it is ended from outside
        ev::Duration interval = std::chrono::seconds(1);
        std::size_t size = 64;  // bytes of a message
        // With no interval: messages in flight at once; none: 64, while the server answers.
        std::optional<unsigned> window = {};
    };

    // Throws std::system_error: the log.
    Unattended(ev::Loop& loop, Options options);

    void continued() override;

private:
    void send() override;
    void connected() override;
    void disconnected() override;
    ev::Duration overdue(ev::Time planned, ev::Time sent) const override;
    void before_report() override;
    bool out_of_time() const override { return out_of_time_; }
    std::string limit_text() const override;

    bool scheduled() const { return options_.interval > ev::Duration::zero(); }
    bool has_space() const;
    bool peer_takes() const;
    void send_due();
    void begin();
    void send_scheduled(ev::Time planned);
    bool send_one(ev::Time planned);
    bool all_sent() const;
    ev::Duration limit() const;
    void time_up();
    void give_up();
    void leave_now();
    void finish_if_done();
    void show_progress();

    ev::Loop& loop_;
    Options options_;
    const std::optional<ev::Duration> length_;
    GeneratedText text_;
    std::optional<Schedule> schedule_;  // from the first message on
    bool over_ = false;                 // nothing more is sent
    bool out_of_time_ = false;
    ev::Time resumed_at_{};  // when the program was last stopped for a while
    bool progress_;          // is shown, on the terminal that standard error is
    ProgressLine line_;
    ev::Timer due_;      // the next message
    ev::Timer time_up_;  // the end of the length
    ev::Timer limit_;    // that of all that may come after it
    ev::Timer progress_due_;
};

}  // namespace yodel
