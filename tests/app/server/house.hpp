// A client of a server under test, which uses system calls only.
#pragma once

#include "bufio/address.hpp"
#include "bufio/fd.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

namespace test {

struct RawClient {
    enum class Kind { stream, datagrams };

    // `receive_buffer`: its size in bytes; 0: the system's default.
    explicit RawClient(const bufio::Address& to, Kind of = Kind::stream, int receive_buffer = 0)
        : kind(of), socket(bufio::open_socket(to.family(), of != Kind::stream)) {
        const int on = 1;
        ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (receive_buffer > 0)
            ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer,
                         sizeof receive_buffer);
        ::connect(socket.get(), to.get(), to.size);
    }

    // Returns the number of bytes that the system accepted.
    std::size_t send(std::string_view bytes) const {
        const ssize_t count = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        return count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    // Returns true if anything was received, even the end.
    bool receive(std::size_t max_size = 65536) {
        std::string bytes(max_size, '\0');
        const ssize_t count = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
        if (count >= 0) bytes.resize(static_cast<std::size_t>(count));
        if (count >= 0) got += bytes;
        if (count >= 0 && kind == Kind::datagrams) datagrams.push_back(bytes);
        ended = ended || (count == 0 && kind == Kind::stream);
        reset = reset || (count < 0 && errno == ECONNRESET);
        return count >= 0;
    }
    bool over() const { return ended || reset; }
    void shut() const { ::shutdown(socket.get(), SHUT_WR); }
    void abort() {
        const linger at_once{1, 0};
        ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        socket.reset();
    }

    Kind kind;
    bufio::Fd socket;
    std::string got;
    std::vector<std::string> datagrams;
    bool ended = false;
    bool reset = false;
};

}  // namespace test
