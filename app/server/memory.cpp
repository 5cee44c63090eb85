#include "app/server/memory.hpp"

#include "app/text/system.hpp"

#if YODEL_HAS_MALLOC_TRIM
#    include <malloc.h>
#endif

namespace yodel {

void give_memory_back() {
#if YODEL_HAS_MALLOC_TRIM
    ::malloc_trim(0);
#endif
}

}  // namespace yodel
