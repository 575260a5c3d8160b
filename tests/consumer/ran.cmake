# Every program in the project's build folder, which is the current folder, must print the expected output.
foreach(program c_aside c_shared c_static cpp_aside cpp_shared cpp_static)
    execute_process(COMMAND ./${program} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
    if(NOT output MATCHES "^It is 42\\. \\([0-9.]+\\)\n$")
        message(FATAL_ERROR "${program} says: ${output}")
    endif()
endforeach()
