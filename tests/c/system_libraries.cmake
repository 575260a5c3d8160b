# CMake and pkg-config must link the static library with the system libraries that rustc lists. The programs that the tests link in
# this way show that no more are needed.
set(empty "${CMAKE_CURRENT_BINARY_DIR}/empty.rs")
file(WRITE "${empty}" "")
execute_process(
    COMMAND "${RUSTC}" --crate-type staticlib --print "native-static-libs=${empty}.needs" -o "${empty}.a" "${empty}"
    COMMAND_ERROR_IS_FATAL ANY)
file(READ "${empty}.needs" needs)
string(STRIP "${needs}" needs)
# Compilers add the unwinder themselves: libgcc_s, or libgcc_eh in a static program.
string(REGEX REPLACE "^-lgcc_s " "" needs "${needs}")
list(TRANSFORM LIBRARIES PREPEND -l)
list(JOIN LIBRARIES " " listed)
if(NOT needs STREQUAL listed)
    message(FATAL_ERROR "rustc says: ${needs}\npackaging/cmake/cargo.cmake lists: ${listed}")
endif()
