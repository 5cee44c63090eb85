// A message and what came of it, as the JSON object of --json.
#pragma once

#include "app/protocol/matcher.hpp"
#include "app/text/json.hpp"
#include "ev/loop.hpp"

namespace yodel {

// The verdict is `echoed`, `wrong`, `late`, `lost` or `unasked`. Either of the message and the
// reply may be null. Times count from `start`.
JsonObject message_object(const char* verdict, const Message* message, const Reply* reply,
                          ev::Time start);

// Returns the verdict for a reply to a message.
const char* verdict_of(const Message& message, const Reply& reply);

}  // namespace yodel
