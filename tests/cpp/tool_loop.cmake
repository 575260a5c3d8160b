# The example must return the result of each command in turn, within the budget, with the end of the output kept.
execute_process(COMMAND "${PROGRAM}" "seq 100000; echo 'error: no such cart' >&2; exit 3" "echo é"
    OUTPUT_VARIABLE output ERROR_VARIABLE error COMMAND_ERROR_IS_FATAL ANY)
string(LENGTH "${output}" length)
if(length GREATER 2300 OR NOT output MATCHES "error: no such cart\n\\(exit 3, [0-9]+ of 588915 bytes\\)\n\\$ echo é\né\n\\(exit 0, 3 of 3 bytes\\)\n$"
    OR NOT error STREQUAL "")
    message(FATAL_ERROR "printed: ${output}, ${error}")
endif()
