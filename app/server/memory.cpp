#include "app/server/memory.hpp"

#include <cstdlib>  // says which C library it is

#ifdef __GLIBC__
#    include <malloc.h>
#endif

namespace yodel {

void give_memory_back() {
#ifdef __GLIBC__
    ::malloc_trim(0);
#endif
}

}  // namespace yodel
