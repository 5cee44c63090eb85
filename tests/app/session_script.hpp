// Scripts (see tests/support/script.hpp) about a session and its peer. Tests of classes that
// contain a session also derive from Script, and call add_peer_verbs() and add_session_verbs().
//
//     -W 20ms; send a; peer answers b; disconnect; reports bad@0 a=b; closed aborted
//
// The peer:
//     peer got X           waits for exactly X since the last `peer got`
//     peer got nothing     has received nothing, and nothing is on its way
//     peer got the end     waits for the end of the client's side; `peer got no end`
//     peer sends X         `peer answers X` adds a line end
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
//                          `TLS server cuts` ends TCP without close_notify
//     over datagrams       the peer uses datagrams
//     no retry after answers, stays open   see SessionOptions
//     listening            the peer is a client, which `peer connects` connects
//     unconnected          leaves connect() to the script; otherwise the session begins open
//
// Its reports:
//     right a=b            b is the right reply to the message a. Appends `in 5ms` for a
//                          round trip above 0, `untimed` without one, `late` after late
//     bad@3 a=b            the reply differs at byte 3
//     lost a, late a       no reply will arrive; none arrived in time
//     unsolicited b, stale b, duplicate b
#pragma once

#include "app/protocol/session.hpp"
#include "tests/app/fixture.hpp"
#include "tests/support/script.hpp"

namespace test {

// Returns the peer through a function, because a setting may replace it.
void add_peer_verbs(Script& script, std::function<Peer&()> peer);
void require_end(const yodel::Session& session, const std::string& expected, int port);
void add_session_verbs(Script& script, std::function<yodel::Session&()> session,
                       std::function<Peer&()> peer);

class SessionScript : public Script, private yodel::Session::Owner {
public:
    explicit SessionScript(yodel::Session::Options initial = {});

    yodel::Session::Options options;
    std::unique_ptr<Peer> peer = std::make_unique<ManualServer>(loop);
    std::unique_ptr<yodel::Session> session;

protected:
    // Tests of a class that contains a session make an object of that class instead.
    virtual void make(const yodel::Session::Options& target);
    virtual yodel::Session& subject() { return *session; }
    int port() const { return tls_server_ ? tls_server_->port() : peer->port(); }

private:
    void add_options();
    void add_targets();

    void begin() override;

    void session_changed() override;
    // Reports the messages of a batch like single messages.
    void session_event(const yodel::Event& event) override;
    void answered(const yodel::Event& event);

    static std::string time_text(std::optional<ev::Duration> round_trip);
    void called(const std::string& event);

    std::unique_ptr<SilentTlsServer> tls_server_;
    std::string last_loss_;  // why no reply arrived to the last lost message
    bool connects_ = true;
    bool begins_open_ = true;
    std::string trigger_;
    std::string triggered_;
};

}  // namespace test
