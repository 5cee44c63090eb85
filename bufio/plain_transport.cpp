#include "bufio/fd.hpp"
#include "bufio/transport.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace bufio {

namespace {

class PlainTransport final : public Transport {
public:
    explicit PlainTransport(Fd fd) : fd_(std::move(fd)) {}

    int descriptor() const override { return fd_.get(); }

    IoResult read(char* to, std::size_t size) override {
        for (;;) {
            const ssize_t count = ::recv(fd_.get(), to, size, 0);
            if (count > 0) return {IoStatus::done, static_cast<std::size_t>(count)};
            if (count == 0) return {IoStatus::end_of_input};
            if (would_block(errno)) return {IoStatus::wants_read};
            if (errno != EINTR)
                return fail(system_end(Reason::receive, "receiving failed:", errno));
        }
    }

    IoResult write(const char* from, std::size_t size) override {
        for (;;) {
            const ssize_t count = ::send(fd_.get(), from, size, MSG_NOSIGNAL);
            if (count >= 0) return {IoStatus::done, static_cast<std::size_t>(count)};
            if (would_block(errno)) return {IoStatus::wants_write};
            if (errno != EINTR) return fail(system_end(Reason::send, "sending failed:", errno));
        }
    }

    IoResult close_output() override {
        // ENOTCONN: the peer has reset the connection, which the next read reports.
        if (::shutdown(fd_.get(), SHUT_WR) == 0 || errno == ENOTCONN) return {IoStatus::done};
        return fail(system_end(Reason::send, "shutting down the sending side failed:", errno));
    }

private:
    Fd fd_;
};

}  // namespace

std::unique_ptr<Transport> make_plain_transport(Fd fd) {
    return std::make_unique<PlainTransport>(std::move(fd));
}

}  // namespace bufio
