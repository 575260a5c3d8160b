# CMake and pkg-config link the static library with the system libraries that rustc lists. The programs linked in this way show
# that its dependencies need no more.
set(empty "${CMAKE_CURRENT_BINARY_DIR}/empty.rs")
file(WRITE "${empty}" "")
execute_process(
    COMMAND "${RUSTC}" --crate-type staticlib --print "native-static-libs=${empty}.needs" -o "${empty}.a" "${empty}"
    COMMAND_ERROR_IS_FATAL ANY)
file(READ "${empty}.needs" needs)
string(STRIP "${needs}" needs)
# Compilers add the unwinder by themselves: libgcc_s, or libgcc_eh where all is static.
string(REGEX REPLACE "^-lgcc_s " "" needs "${needs}")
list(TRANSFORM LIBRARIES PREPEND -l)
list(JOIN LIBRARIES " " listed)
if(NOT needs STREQUAL listed)
    message(FATAL_ERROR "rustc says: ${needs}\ncmake/cargo.cmake lists: ${listed}")
endif()
