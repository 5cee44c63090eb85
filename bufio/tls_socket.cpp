#include "bufio/tls_internal.hpp"

#include "bufio/system.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace bufio {

namespace {

// Consecutive records are sent in one piece if the system can delay all but the last.
// Otherwise each record would wake the peer.
#if BUFIO_HAS_MSG_MORE
constexpr int send_more = MSG_NOSIGNAL | MSG_MORE;
#else
constexpr int send_more = MSG_NOSIGNAL;
#endif

// Handles a failed system call. OpenSSL tries again if the retry flags are set.
int on_error(BIO* bio, int retry_flag) {
    BIO_clear_retry_flags(bio);
    if (would_block(errno) || errno == EINTR) {
        BIO_set_flags(bio, retry_flag | BIO_FLAGS_SHOULD_RETRY);
    } else {
        static_cast<TlsSocket*>(BIO_get_data(bio))->error = errno;
    }
    return -1;
}

// OpenSSL continues to read while records contain no data, such as key updates, which cost
// much work. Once the budget is spent, this function pretends that there is no more input. The
// descriptor stays readable, and the next turn continues.
int bio_read(BIO* bio, char* to, int size) {
    auto& socket = *static_cast<TlsSocket*>(BIO_get_data(bio));
    if (socket.budget == 0) {
        errno = EAGAIN;
        return on_error(bio, BIO_FLAGS_READ);
    }
    const std::size_t allowed = std::min(static_cast<std::size_t>(size), socket.budget);
    const ssize_t count = ::recv(socket.fd.get(), to, allowed, 0);
    if (count < 0) return on_error(bio, BIO_FLAGS_READ);
    BIO_clear_retry_flags(bio);
    socket.ended = count == 0;
    socket.budget -= static_cast<std::size_t>(count);
    socket.silent_bytes += static_cast<std::size_t>(count);
    return static_cast<int>(count);
}

int bio_write(BIO* bio, const char* from, int size) {
    auto& socket = *static_cast<TlsSocket*>(BIO_get_data(bio));
    const ssize_t count = ::send(socket.fd.get(), from, static_cast<std::size_t>(size),
                                 socket.record_follows ? send_more : MSG_NOSIGNAL);
    if (count < 0) return on_error(bio, BIO_FLAGS_WRITE);
    BIO_clear_retry_flags(bio);
    return static_cast<int>(count);
}

long bio_control(BIO* bio, int command, long, void*) {
    if (command == BIO_CTRL_EOF) return static_cast<TlsSocket*>(BIO_get_data(bio))->ended;
    return command == BIO_CTRL_FLUSH;
}

}  // namespace

BIO* new_socket_bio(TlsSocket& socket) {
    static BIO_METHOD* const method = [] {
        const int type = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK;
        BIO_METHOD* const made = check_allocated(BIO_meth_new(type, "socket"));
        BIO_meth_set_read(made, bio_read);
        BIO_meth_set_write(made, bio_write);
        BIO_meth_set_ctrl(made, bio_control);
        return made;
    }();
    BIO* const bio = check_allocated(BIO_new(method));
    BIO_set_data(bio, &socket);
    BIO_set_init(bio, 1);
    return bio;
}

}  // namespace bufio
