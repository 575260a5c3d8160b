# Tests a program from the README. It must print only the answer of a text in the dialect qwen3, as soon as it arrives, and must
# fail if it cannot read or write.
set(input "${PROGRAM}-input.txt")
file(WRITE "${input}" "<think>\nTwice 21.\n</think>\n\nIt is 42.\n")
execute_process(COMMAND "${PROGRAM}" INPUT_FILE "${input}" OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output STREQUAL "It is 42.\n")
    message(FATAL_ERROR "printed: ${output}")
endif()

# The second line is sent only after the first was printed. The program prints a line end together with the next byte, because the
# line end may belong to a closer.
file(REMOVE "${input}-fifo")
execute_process(
    COMMAND sh -c "mkfifo \"$2\" && { printf '42\\nA' && cat \"$2\"; } | \"$1\" | { read line && echo \"$line.\" >\"$2\" && cat; }"
            sh "${PROGRAM}" "${input}-fifo"
    OUTPUT_VARIABLE output TIMEOUT 60 COMMAND_ERROR_IS_FATAL ANY)
if(NOT output STREQUAL "A42.\n")
    message(FATAL_ERROR "printed: ${output}")
endif()

foreach(redirected "<." "<\"$2\" >/dev/full")
    execute_process(COMMAND sh -c "\"$1\" ${redirected}" sh "${PROGRAM}" "${input}" RESULT_VARIABLE status OUTPUT_QUIET)
    if(status EQUAL 0)
        message(FATAL_ERROR "with ${redirected} it ends with 0")
    endif()
endforeach()
