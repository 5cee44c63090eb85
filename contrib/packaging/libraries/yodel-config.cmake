# find_package(yodel): the targets yodel::ev and yodel::bufio.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(OpenSSL 3.0)
include(${CMAKE_CURRENT_LIST_DIR}/yodel-targets.cmake)
