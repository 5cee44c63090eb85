#include "app/server/memory.hpp"

#include "app/text/system.hpp"
#include "bufio/datagram.hpp"

#include <chrono>

#if YODEL_HAS_MALLOC_TRIM
#    include <malloc.h>
#endif

namespace yodel {

MemoryTidier::MemoryTidier(ev::Loop& loop)
    : timer_(loop, [this] {
          bufio::DatagramSocket::free_shared_memory();
#if YODEL_HAS_MALLOC_TRIM
          ::malloc_trim(0);
#endif
          if (called_again_) tidy_soon();
      }) {
}

void MemoryTidier::tidy_soon() {
    called_again_ = timer_.pending();
    if (!called_again_) timer_.start(std::chrono::seconds(1));
}

}  // namespace yodel
