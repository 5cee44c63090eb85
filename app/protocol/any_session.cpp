#include "app/protocol/any_session.hpp"

#include "app/protocol/datagram_session.hpp"
#include "app/protocol/session.hpp"

#include <utility>

namespace yodel {

std::unique_ptr<AnySession> make_session(ev::Loop& loop, AnySession::Options options,
                                         AnySession::User& user) {
    return make_session(loop, std::make_shared<const AnySession::Options>(std::move(options)),
                        user);
}

std::unique_ptr<AnySession> make_session(ev::Loop& loop,
                                         std::shared_ptr<const AnySession::Options> options,
                                         AnySession::User& user) {
    if (options->endpoint.datagrams)
        return std::make_unique<DatagramSession>(loop, *options, user);
    return std::make_unique<Session>(loop, std::move(options), user);
}

}  // namespace yodel
