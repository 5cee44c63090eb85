// Scripts (see tests/support/script.hpp) about a session and its peer. Tests of classes that
// contain a session also derive from Script, and call add_peer_verbs() and add_session_verbs().
//
//     -W 20ms; send a; peer answers b; disconnect; reports bad@0 a=b; closed aborted
//
// The peer:
//     peer got X           waits for exactly X since the last `peer got`
//     peer got nothing     has received nothing, and is about to receive nothing
//     peer got the end     waits for the end of the client's side; `peer got no end`
//     peer sends X         `peer answers X` adds a line end; `peer sends in two X` sends the
//                          bytes from `cut` on separately
//     peer echoes          sends back the bytes that no `peer got` has mentioned
//     peer ends            closes its side; `peer resets` aborts the connection
//     peer stops reading, peer reads
//     peer leaves          refuses connections; `peer comes back` accepts them again
//     peer connects        waits for another connection
//
// The session:
//     open                 waits for the state; also idle, dialing, handshaking, finishing
//     closed REASON "T"    waits for the state. The reason and the text T of the end may be
//     waiting REASON "T"   missing. T contains PORT for the port of the peer, and may
//                          end with ... for any rest.
//     end REASON "T"       the present end; `end none` if there is none
//     connect, disconnect, finish, flush, pause, resume, void round trips
//     in flight N          waits until N messages are in flight
//
// SessionScript has the verbs send, queue (send without a flush) and refuse (send returns no
// ids), and settings with the names of the options: -f len1, -W 20ms, --retry forever. More
// settings:
//     to nobody            connects to a port without a listener
//     to a TLS server      connects to a server whose certificate nobody trusts
//     over datagrams       the peer uses datagrams
//     no retry after answers   see SessionOptions
//     listening            the peer is a client, which `peer connects` connects
//     unconnected          leaves connect() to the script; otherwise the session begins open
//
// Its reports:
//     right a=b            b is the right reply to the message a. Appends `in 5ms` for a
//                          round trip above 0, `untimed` without one, `late` after late
//     bad@3 a=b            the reply differs at byte 3
//     lost a, late a       no reply will come; none came in time
//     unsolicited b, stale b, duplicate b
//     beginning "SENTENCE"   only if `cut` is 0
//     pong in 5ms
#pragma once

#include "app/protocol/session.hpp"
#include "tests/app/fixture.hpp"
#include "tests/support/script.hpp"

namespace test {

// Returns the peer through a function, because a setting may replace it.
inline void add_peer_verbs(Script& script, std::function<Peer&()> peer) {
    const auto stream = [&script, peer]() -> bufio::Stream& {
        script.await([&] { return peer().connected(); });
        return *peer().stream;
    };
    const auto send = [&script, peer](const std::string& bytes) {
        script.await([&] { return peer().connected(); });
        peer().send(bytes);
    };
    script.on("peer got", [&script, peer](const std::string& text) {
        const std::string expected = bytes(text);
        script.await([&] { return peer().got.size() >= expected.size(); });
        REQUIRE(shown(std::exchange(peer().got, {})) == shown(expected));
    });
    script.on("peer got nothing", [&script, peer](const std::string&) {
        script.loop.settle();
        REQUIRE(shown(peer().got) == "");
    });
    script.on("peer got the end", [&script, stream](const std::string&) {
        bufio::Stream& client = stream();
        script.await([&] { return client.input_ended(); });
    });
    script.on("peer got no end", [&script, stream](const std::string&) {
        script.loop.settle();
        REQUIRE_FALSE(stream().input_ended());
    });
    script.on("peer sends", [send](const std::string& text) { send(bytes(text)); });
    script.on("peer answers", [send](const std::string& text) { send(bytes(text) + "\n"); });
    script.on("peer echoes", [&script, peer, send](const std::string&) {
        script.await([&] { return !peer().got.empty(); });
        send(std::exchange(peer().got, {}));
    });
    script.on("peer ends", [stream](const std::string&) { stream().finish(); });
    script.on("peer resets", [stream, peer](const std::string&) {
        stream();
        peer().reset();
    });
    script.on("peer stops reading",
              [stream](const std::string&) { stream().pause_reading(true); });
    script.on("peer reads", [stream](const std::string&) { stream().pause_reading(false); });
    script.on("peer leaves", [peer](const std::string&) { peer().leave(); });
    script.on("peer comes back", [peer](const std::string&) { peer().come_back(); });
    script.on("peer connects", [&script, peer](const std::string&) {
        const auto* const last = peer().stream.get();
        peer().connect();
        script.await([&] { return peer().stream && peer().stream.get() != last; });
    });
}

inline void require_end(const bufio::End& end, const std::string& expected, int port) {
    static const char* const names[] = {"none",        "clean",        "unclosed",
                                        "aborted",     "lookup",       "connect",
                                        "timeout",     "tls",          "handshake_interrupted",
                                        "certificate", "pin",          "own_certificate",
                                        "trust",       "send",         "receive",
                                        "truncated",   "closed_early", "limit",
                                        "output"};
    const std::size_t quote = expected.find('"');
    const std::string reason = expected.substr(0, expected.find(' '));
    if (reason != "") REQUIRE(names[static_cast<int>(end.reason)] == reason);
    if (quote == std::string::npos) return;
    std::string text = "\"" + end.text + "\"";
    const std::string number = ":" + std::to_string(port);
    for (std::size_t at = 0; (at = text.find(number, at)) != std::string::npos;)
        text.replace(at, number.size(), ":PORT");
    std::string wanted = expected.substr(quote);
    if (wanted.ends_with("...\"")) {
        wanted.resize(wanted.size() - 4);
        text.resize(std::min(text.size(), wanted.size()));
    }
    REQUIRE(text == wanted);
}

inline void add_session_verbs(Script& script, std::function<yodel::Session&()> session,
                              std::function<Peer&()> peer) {
    using State = yodel::Session::State;
    for (const auto& [name, state] : std::map<std::string, State>{
             {"idle", State::idle},
             {"dialing", State::dialing},
             {"handshaking", State::handshaking},
             {"open", State::open},
             {"finishing", State::finishing},
             {"waiting", State::waiting},
             {"closed", State::closed},
         })
        script.on(name, [&script, session, peer, wanted = state](const std::string& end) {
            script.await([&] { return session().state() == wanted; });
            require_end(session().end(), end, peer().port());
        });
    script.on("end", [session, peer](const std::string& end) {
        require_end(session().end(), end, peer().port());
    });
    script.on("connect", [session](const std::string&) { session().connect(); });
    script.on("disconnect", [session](const std::string&) { session().disconnect(); });
    script.on("finish", [session](const std::string&) { session().finish(); });
    script.on("flush", [session](const std::string&) { session().flush(); });
    script.on("pause", [session](const std::string&) { session().pause(true); });
    script.on("resume", [session](const std::string&) { session().pause(false); });
    script.on("void round trips",
              [session](const std::string&) { session().void_round_trips(); });
    script.on("in flight", [&script, session](const std::string& count) {
        script.await([&] { return session().in_flight() == std::stoul(count); });
    });
}

class SessionScript : public Script, private yodel::Session::User {
public:
    explicit SessionScript(yodel::Session::Options initial = {}) : options(std::move(initial)) {
        add_peer_verbs(*this, [this]() -> Peer& { return *peer; });
        add_session_verbs(
            *this, [this]() -> yodel::Session& { return subject(); },
            [this]() -> Peer& { return *peer; });
        on("send", [this](const std::string& text) {
            REQUIRE(session->send(bytes(text)));
            session->flush();
        });
        on("queue", [this](const std::string& text) { REQUIRE(session->send(bytes(text))); });
        on("refuse",
           [this](const std::string& text) { REQUIRE_FALSE(session->send(bytes(text))); });
        on("peer is known",
           [this](const std::string&) { await([&] { return session->peer_known(); }); });
        on("peer is unknown",
           [this](const std::string&) { REQUIRE_FALSE(session->peer_known()); });
        on("peer sends in two", [this](const std::string& text) {
            const std::string all = bytes(text);
            await([&] { return peer->connected(); });
            peer->send(all.substr(0, cut));
            loop.settle();
            peer->send(all.substr(std::min(cut, all.size())));
        });
        for (const std::string method : {"destroy", "disconnect"})
            setting(method + " when", [this, method](const std::string& event) {
                trigger_ = event;
                triggered_ = method;
            });
        on("try", [this](const std::string& number) {
            await([&] { return session->retry_count() == std::stoul(number); });
        });
        on("partial", [this](const std::string& text) {
            REQUIRE("\"" + session->partial_reply_text(last_) + "\"" == text);
        });
        on("half closed", [this](const std::string&) { REQUIRE(session->peer_half_closed()); });
        on("destroyed", [this](const std::string&) { await([&] { return !session; }); });
        add_options();
        add_targets();
    }

    yodel::Session::Options options;
    std::size_t cut = 0;
    int batches = 0;  // reports of several echoes at once
    std::unique_ptr<Peer> peer = std::make_unique<ManualServer>(loop);
    std::unique_ptr<yodel::Session> session;

protected:
    // Tests of a class that contains a session make an object of that class instead.
    virtual void make(const yodel::Session::Options& target) {
        yodel::Session::User& user = *this;
        session = std::make_unique<yodel::Session>(loop, target, user);
    }
    virtual yodel::Session& subject() { return *session; }

private:
    void add_options() {
        using yodel::Expect;
        const auto time = [this](const std::string& name, auto& to) {
            setting(name, [&to](const std::string& text) { to = duration(text); });
        };
        time("-W", options.reply_timeout);
        time("-q", options.close_timeout);
        time("--connect-timeout", options.connect_timeout);
        time("--greeting-time", options.greeting_time);
        time("--idle-timeout", options.idle_timeout);
        time("--ping", options.ping);
        time("--max-time", options.max_time);
        time("--spent", options.time_spent);
        time("--retry-delay", options.retry_delay);
        setting("-f", [this](const std::string& name) {
            options.framing = yodel::find_framing(name);
            REQUIRE(options.framing);
        });
        setting("--retry", [this](const std::string& count) {
            options.retries = count == "forever" ? yodel::Session::forever
                                                 : static_cast<unsigned>(std::stoul(count));
        });
        setting("no retry after answers",
                [this](const std::string&) { options.retry_after_answers = false; });
        setting("--max-frame",
                [this](const std::string& size) { options.max_frame = std::stoul(size); });
        setting("--expect", [this](const std::string& name) {
            options.expect = std::map<std::string, Expect>{
                {"echo", Expect::echo},
                {"any", Expect::any},
                {"none", Expect::none},
                {"given",
                 Expect::given}}.at(name);
        });
        setting("--match", [this](const std::string& text) { options.pattern.emplace(text); });
        setting("--coalesce", [this](const std::string&) { options.coalesce = true; });
        setting("--numbered", [this](const std::string&) { options.numbered = true; });
        setting("-k", [this](const std::string&) {
            bufio::TlsClientOptions unverified;
            unverified.verify = false;
            options.tls = bufio::TlsContext::client(unverified);
        });
        setting("--tls", [this](const std::string&) {
            options.tls = bufio::TlsContext::client({});
            begins_open_ = false;
        });
    }
    void add_targets() {
        setting("to nobody", [this](const std::string&) {
            peer->leave();
            begins_open_ = false;
        });
        setting("to a TLS server", [this](const std::string&) {
            tls_server_ = std::make_unique<SilentTlsServer>(loop);
            begins_open_ = false;
        });
        setting("over datagrams", [this](const std::string&) {
            peer = std::make_unique<DatagramPeer>(loop);
            options.endpoint.udp = true;
            options.framing = yodel::datagram_framing();
        });
        setting("listening", [this](const std::string&) {
            auto client = std::make_unique<ManualClient>(loop);
            options.endpoint.acceptor = &client->acceptor;
            options.expect = yodel::Expect::none;
            peer = std::move(client);
            begins_open_ = false;
        });
        setting("unconnected",
                [this](const std::string&) { begins_open_ = connects_ = false; });
    }

    void begin() override {
        const int port = tls_server_ ? tls_server_->port() : peer->port();
        make(with_port(options, port));
        if (connects_) subject().connect();
        if (!begins_open_) return;
        await([&] { return subject().state() == yodel::Session::State::open; });
        await([&] { return peer->connected(); });
    }

    void session_changed() override {
        REQUIRE(session);
        if (session->state() == yodel::Session::State::dialing) called("dialing");
        if (session && session->state() == yodel::Session::State::open) called("opened");
        if (session && session->state() == yodel::Session::State::closed) called("closed");
    }
    void session_answered(const yodel::Message& message, const yodel::Reply& reply) override {
        std::string text = reply.right ? "right " : "bad ";
        if (reply.difference) text = "bad@" + std::to_string(*reply.difference) + " ";
        text +=
            shown(message.payload) + "=" + shown(reply.payload) + time_text(reply.round_trip);
        if (message.late) text += " late";
        if (reply.reordered) text += " reordered";
        if (message.retransmitted) text += " retransmitted";
        report(text);
        called(reply.right ? "right" : "bad");
    }
    // Reports the messages of a batch like single messages.
    void session_echoed(const yodel::Batch& batch,
                        std::optional<ev::Duration> round_trip) override {
        std::size_t left = batch.count;
        yodel::for_each_piece(*options.framing, batch.frames, [&](std::string_view line) {
            if (left-- > 0)
                report("right " + shown(line) + "=" + shown(line) + time_text(round_trip));
        });
        ++batches;
        called("echoed");
    }
    void session_lost(const yodel::Message& message) override {
        report(std::string(message.late ? "late " : "lost ") + shown(message.payload) +
               (message.retransmitted ? " retransmitted" : ""));
        last_ = message;
        called(message.late ? "late" : "lost");
    }
    void session_unsolicited(std::string_view payload) override {
        report_event("unsolicited", payload);
    }
    void session_stale(std::string_view payload) override { report_event("stale", payload); }
    void session_duplicate(std::string_view payload) override {
        report_event("duplicate", payload);
    }
    void session_bad_beginning(const std::string& sentence) override {
        if (cut == 0) report("beginning \"" + sentence + "\"");
        called("beginning");
    }
    void session_received(std::string_view) override { called("received"); }
    void session_ponged(ev::Duration round_trip) override {
        report("pong" + time_text(round_trip));
        called("pong");
    }

    static std::string time_text(std::optional<ev::Duration> round_trip) {
        if (!round_trip) return " untimed";
        return *round_trip > ev::Duration::zero() ? " in " + shown(*round_trip) : "";
    }
    void report_event(const std::string& event, std::string_view payload) {
        report(event + " " + shown(payload));
        called(event);
    }
    void called(const std::string& event) {
        REQUIRE(session);  // it calls nobody after its destruction
        if (event != trigger_) return;
        if (triggered_ == "destroy") session.reset();
        if (session) session->disconnect();
    }

    std::unique_ptr<SilentTlsServer> tls_server_;
    yodel::Message last_;  // the last message that was reported as late or lost
    bool connects_ = true;
    bool begins_open_ = true;
    std::string trigger_;
    std::string triggered_;
};

}  // namespace test
