# A callable must be inlined into the function that the library calls back, whose assembly then has no call.
execute_process(
    COMMAND "${CXX}" -std=c++17 -O2 -I "${ROOT}/include" -I "${ROOT}/bindings/cpp/include" -S -o -
            "${ROOT}/tests/cpp/inlined.cpp"
    OUTPUT_VARIABLE assembly COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "\n[^\n\t ]*on_event[^\n]*:.*" function "${assembly}")
string(FIND "${function}" ".cfi_endproc" end)
string(SUBSTRING "${function}" 0 ${end} function)
if(end LESS 0 OR NOT function MATCHES "\tret")
    message(FATAL_ERROR "There is no such function:\n${assembly}")
endif()
if(function MATCHES "\t(call|callq|bl|blr)\t")
    message(FATAL_ERROR "It calls:\n${function}")
endif()
