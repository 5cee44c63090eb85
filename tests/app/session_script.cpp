#include "tests/app/session_script.hpp"

namespace test {

void add_peer_verbs(Script& script, std::function<Peer&()> peer) {
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

void require_end(const yodel::Session& session, const std::string& expected, int port) {
    static const char* const names[] = {
        "none",        "clean",   "unclosed",        "aborted",      "lookup",
        "refused",     "connect", "timeout",         "tls",          "handshake_interrupted",
        "certificate", "pin",     "own_certificate", "trust",        "send",
        "reset",       "receive", "truncated",       "closed_early", "limit",
        "output"};
    const std::size_t quote = expected.find('"');
    const std::string reason = expected.substr(0, expected.find(' '));
    if (reason != "") REQUIRE(names[static_cast<int>(session.end().reason)] == reason);
    if (quote == std::string::npos) return;
    std::string text = "\"" + yodel::end_text(session.end(), session.options(), nullptr) + "\"";
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

void add_session_verbs(Script& script, std::function<yodel::Session&()> session,
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
            require_end(session(), end, peer().port());
        });
    script.on("end", [session, peer](const std::string& end) {
        require_end(session(), end, peer().port());
    });
    using Call = void (yodel::Session::*)();
    for (const auto& [name, call] : std::map<std::string, Call>{
             {"connect", &yodel::Session::connect},
             {"finish", &yodel::Session::finish},
             {"flush", &yodel::Session::flush},
             {"void round trips", &yodel::Session::void_round_trips},
         })
        script.on(name,
                  [session, method = call](const std::string&) { (session().*method)(); });
    script.on("disconnect", [session](const std::string&) { session().disconnect(); });
    script.on("pause", [session](const std::string&) { session().pause(true); });
    script.on("resume", [session](const std::string&) { session().pause(false); });
    script.on("in flight", [&script, session](const std::string& count) {
        script.await([&] { return session().in_flight() == std::stoul(count); });
    });
}

SessionScript::SessionScript(yodel::Session::Options initial) : options(std::move(initial)) {
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
       [this](const std::string&) { await([&] { return session->is_peer_known(); }); });
    on("peer is unknown",
       [this](const std::string&) { REQUIRE_FALSE(session->is_peer_known()); });
    for (const std::string method : {"destroy", "disconnect", "pause"})
        setting(method + " when", [this, method](const std::string& event) {
            trigger_ = event;
            triggered_ = method;
        });
    on("try", [this](const std::string& number) {
        await([&] { return session->retry_count() == std::stoul(number); });
    });
    on("no reply",
       [this](const std::string& text) { REQUIRE("\"" + last_loss_ + "\"" == text); });
    on("half closed", [this](const std::string&) { REQUIRE(session->is_peer_half_closed()); });
    on("destroyed", [this](const std::string&) { await([&] { return !session; }); });
    add_options();
    add_targets();
}

void SessionScript::make(const yodel::Session::Options& target) {
    yodel::Session::Owner& owner = *this;
    session = std::make_unique<yodel::Session>(
        loop, std::make_shared<const yodel::Session::Options>(target), owner);
}

void SessionScript::add_options() {
    using yodel::Expect;
    const auto time = [this](const std::string& name, auto& to) {
        setting(name, [&to](const std::string& text) { to = duration(text); });
    };
    time("-W", options.reply_timeout);
    time("-q", options.close_timeout);
    time("--connect-timeout", options.connect_timeout);
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
            [this](const std::string&) { options.may_retry_after_answers = false; });
    setting("stays open", [this](const std::string&) { options.stays_open = true; });
    setting("--max-frame",
            [this](const std::string& size) { options.max_frame = std::stoul(size); });
    setting("--expect", [this](const std::string& name) {
        const auto* const found =
            std::find(std::begin(yodel::expect_words), std::end(yodel::expect_words), name);
        REQUIRE(found != std::end(yodel::expect_words));
        options.expect = static_cast<Expect>(found - std::begin(yodel::expect_words));
    });
    setting("--match", [this](const std::string& text) { options.pattern.emplace(text); });
    setting("--coalesce", [this](const std::string&) { options.may_coalesce = true; });
    setting("-k", [this](const std::string&) {
        bufio::TlsClientOptions unverified;
        unverified.must_verify = false;
        options.tls = bufio::TlsContext::client(unverified);
    });
    setting("--tls", [this](const std::string&) {
        options.tls = bufio::TlsContext::client({});
        begins_open_ = false;
    });
}

void SessionScript::add_targets() {
    setting("to nobody", [this](const std::string&) {
        peer->leave();
        begins_open_ = false;
    });
    setting("to a TLS server", [this](const std::string&) {
        tls_server_ = std::make_unique<SilentTlsServer>(loop);
        begins_open_ = false;
    });
    on("TLS server cuts", [this](const std::string&) { tls_server_->cut(); });
    setting("over datagrams", [this](const std::string&) {
        peer = std::make_unique<DatagramPeer>(loop);
        options.endpoint.is_udp = true;
        options.framing = yodel::datagram_framing();
    });
    setting("listening", [this](const std::string&) {
        auto client = std::make_unique<ManualClient>(loop);
        options.endpoint.acceptor = &client->acceptor;
        options.expect = yodel::Expect::none;
        peer = std::move(client);
        begins_open_ = false;
    });
    setting("unconnected", [this](const std::string&) { begins_open_ = connects_ = false; });
}

void SessionScript::begin() {
    make(with_port(options, port()));
    if (connects_) subject().connect();
    if (!begins_open_) return;
    await([&] { return subject().state() == yodel::Session::State::open; });
    await([&] { return peer->connected(); });
}

void SessionScript::session_changed() {
    REQUIRE(session);
    if (session->state() == yodel::Session::State::dialing) called("dialing");
    if (session && session->state() == yodel::Session::State::open) called("opened");
    if (session && session->state() == yodel::Session::State::closed) called("closed");
}

void SessionScript::session_event(const yodel::Event& event) {
    using yodel::Fate;
    if (event.fate == Fate::read) return called("read");
    if (event.fate == Fate::lost) {
        const std::string word = event.message.is_late ? "late" : "lost";
        report(word + " " + shown(event.message.payload));
        last_loss_ = event.reply.payload;
        return called(word);
    }
    if (has_message(event.fate)) return answered(event);
    const std::string word = event.fate == Fate::stale ? "stale" : word_of(event.fate);
    report(word + " " + shown(event.reply.payload));
    called(word);
}

void SessionScript::answered(const yodel::Event& event) {
    const yodel::Message& message = event.message;
    const yodel::Reply& reply = event.reply;
    if (!event.frames.empty()) {
        std::size_t left = event.count;
        yodel::for_each_piece(*options.framing, event.frames, [&](std::string_view line) {
            if (left-- > 0)
                report("right " + shown(line) + "=" + shown(line) +
                       time_text(reply.round_trip));
        });
        return called("echoed");
    }
    std::string text = reply.is_right ? "right " : "bad ";
    if (reply.difference) text = "bad@" + std::to_string(*reply.difference) + " ";
    text += shown(message.payload) + "=" + shown(reply.payload) + time_text(reply.round_trip);
    if (message.is_late) text += " late";
    if (reply.is_reordered) text += " reordered";
    report(text);
    called(reply.is_right ? "right" : "bad");
}

std::string SessionScript::time_text(std::optional<ev::Duration> round_trip) {
    if (!round_trip) return " untimed";
    return *round_trip > ev::Duration::zero() ? " in " + shown(*round_trip) : "";
}

void SessionScript::called(const std::string& event) {
    REQUIRE(session);  // it calls nobody after its destruction
    if (event != trigger_) return;
    if (triggered_ == "pause") return session->pause(true);
    if (triggered_ == "destroy") session.reset();
    if (session) session->disconnect();
}

}  // namespace test
