# The example must print the output in its first comment, suggest similar names for an unknown dialect, and fail if it cannot read
# its input.
set(folder "${CMAKE_CURRENT_BINARY_DIR}")
file(WRITE "${folder}/example-input.txt" "<think>2 * 21</think>42.")
execute_process(COMMAND "${PROGRAM}" inline-think INPUT_FILE "${folder}/example-input.txt"
    OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output STREQUAL "[thinking] 2 * 21\n[content] 42.\n")
    message(FATAL_ERROR "printed: ${output}")
endif()
execute_process(COMMAND "${PROGRAM}" inline-thimk INPUT_FILE "${folder}/example-input.txt"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE error)
if(NOT status EQUAL 2 OR NOT output STREQUAL "" OR NOT error MATCHES "inline-think")
    message(FATAL_ERROR "ended with ${status}, printed: ${output}, ${error}")
endif()
# A folder can be opened but not read.
execute_process(COMMAND sh -c "\"$1\" inline-think <." sh "${PROGRAM}" RESULT_VARIABLE status ERROR_VARIABLE error)
if(NOT status EQUAL 1 OR NOT error MATCHES "^channels: ")
    message(FATAL_ERROR "ended with ${status}, printed: ${error}")
endif()
