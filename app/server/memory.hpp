// The memory of the process, as the system sees it.
#pragma once

namespace yodel {

// Gives memory that was freed, and that the C library keeps, back to the system. It takes some
// microseconds where there is little to do. Does nothing where the library has no such call.
void give_memory_back();

}  // namespace yodel
