// Former names of Session, until their users have changed.
#pragma once

#include "app/protocol/session.hpp"

#include <memory>
#include <utility>

namespace yodel {

using AnySession = Session;

template <class Options>
std::unique_ptr<Session> make_session(ev::Loop& loop, Options options, Session::User& user) {
    return std::make_unique<Session>(loop, std::move(options), user);
}

}  // namespace yodel
