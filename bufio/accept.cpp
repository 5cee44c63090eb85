#include "bufio/accept.hpp"

#include <fcntl.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace bufio {

Acceptor::Acceptor(ev::Loop& loop, const Address& address, bool udp) : loop_(loop) {
    if (udp) {
        datagrams_ = bound_datagram_socket(address);
        address_ = Address::of_socket(datagrams_.get());
        return;
    }
    listener_.emplace(
        loop, address,
        [this](Fd socket, const Address& peer) { pass_on({}, std::move(socket), peer); },
        [this](int code) { fail(code); });
    address_ = listener_->address();
    cancel();
}

void Acceptor::accept(Dialer::Callback accepted) {
    on_accepted_ = std::move(accepted);
    if (listener_) return listener_->pause(false);
    watch_ = ev::Watch(loop_, datagrams_.get(), ev::readable,
                       [this](ev::Events) { accept_datagram(); });
}

void Acceptor::cancel() {
    on_accepted_ = nullptr;
    if (listener_) listener_->pause(true);
    watch_ = {};
}

void Acceptor::accept_datagram() {
    Address peer;
    peer.size = sizeof peer.storage;
    const auto count = ::recvfrom(datagrams_.get(), nullptr, 0, MSG_PEEK,
                                  reinterpret_cast<sockaddr*>(&peer.storage), &peer.size);
    if (count < 0) return;
    Fd copy(::fcntl(datagrams_.get(), F_DUPFD_CLOEXEC, 0));
    if (!copy) return fail(errno);
    pass_on({}, std::move(copy), peer);
}

void Acceptor::fail(int code) {
    pass_on(system_end(Reason::connect, "accepting failed:", code), {}, {});
}

void Acceptor::pass_on(End end, Fd socket, const Address& peer) {
    const Dialer::Callback accepted = std::exchange(on_accepted_, nullptr);
    cancel();
    DialResult result;
    result.socket = std::move(socket);
    result.address = peer;
    result.end = std::move(end);
    accepted(std::move(result));
}

}  // namespace bufio
