# The example must keep the error message of a log and stay within the budget, print a report, and return short text unchanged.
set(folder "${CMAKE_CURRENT_BINARY_DIR}")
set(log "")
foreach(number RANGE 1 300)
    string(APPEND log "compiling file ${number} of the shop\n")
endforeach()
file(WRITE "${folder}/result-input.txt" "${log}cart.c:3:5: error: 'itms' undeclared\nmake: *** [cart.o] Error 1\n")
execute_process(COMMAND "${PROGRAM}" "make \"all\"" 2 INPUT_FILE "${folder}/result-input.txt"
    OUTPUT_VARIABLE output ERROR_VARIABLE error COMMAND_ERROR_IS_FATAL ANY)
string(LENGTH "${output}" length)
if(length GREATER 2000 OR NOT output MATCHES "^.Output compressed by " OR NOT output MATCHES "cart.c:3:5: error: 'itms' undeclared\nmake: "
    OR NOT error MATCHES "^[0-9]+ to [0-9]+ bytes, by [a-z, -]+\n$")
    message(FATAL_ERROR "printed: ${output}, ${error}")
endif()
file(WRITE "${folder}/result-input.txt" "make: nothing to be done\n")
execute_process(COMMAND "${PROGRAM}" make 0 INPUT_FILE "${folder}/result-input.txt"
    OUTPUT_VARIABLE output ERROR_VARIABLE error COMMAND_ERROR_IS_FATAL ANY)
if(NOT output STREQUAL "make: nothing to be done\n" OR NOT error STREQUAL "25 to 25 bytes\n")
    message(FATAL_ERROR "printed: ${output}, ${error}")
endif()
execute_process(COMMAND "${PROGRAM}" make RESULT_VARIABLE status ERROR_VARIABLE error)
if(NOT status EQUAL 2 OR NOT error MATCHES "^usage: ")
    message(FATAL_ERROR "ended with ${status}, printed: ${error}")
endif()
