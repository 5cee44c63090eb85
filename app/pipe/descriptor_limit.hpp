// The system's limit on the descriptors of this process.
#pragma once

#include <cstddef>

namespace yodel {

// Makes room for so many descriptors beside those of the program itself: raises the soft limit
// to the hard one. Throws std::runtime_error, with both numbers, where that does not suffice.
void provide_descriptors(std::size_t count);

}  // namespace yodel
