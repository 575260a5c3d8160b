# The example must print the calls of a text as OpenAI's deltas, without calls of tools that the request does not offer, and a
# broken call up to the place where it broke. It must say why it cannot start.
set(folder "${CMAKE_CURRENT_BINARY_DIR}")
file(WRITE "${folder}/calls-tools.json" [==[[{"name": "add", "parameters": {"properties": {"a": {"type": "integer"}}}}]]==])
file(WRITE "${folder}/calls-input.txt" [==[Hm.<tool_call><function=add><parameter=a>
2
</parameter><parameter=note>
"x" </tool_call>
</parameter></function></tool_call><tool_call>{"name": "add", "arguments": {"a": "é"}}</tool_call>
<tool_call>{"name": "rm", "arguments": {}}</tool_call><tool_call>{"name": "add", "arguments": [1}}</tool_call>]==])
execute_process(COMMAND "${PROGRAM}" "${folder}/calls-tools.json" "${DIALECT}" INPUT_FILE "${folder}/calls-input.txt"
    OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
# Joins the deltas of each call, wherever they are cut.
string(REGEX REPLACE "\"}}\n{\"index\":[0-9]+,\"function\":{\"arguments\":\"" "" joined "${output}")
set(wanted [==[{"index":0,"id":"call_0","type":"function","function":{"name":"add","arguments":"{\"a\":2,\"note\":\"\\\"x\\\" </tool_call>\"}"}}
{"index":1,"id":"call_1","type":"function","function":{"name":"add","arguments":"{\"a\": \"é\"}"}}
{"index":2,"id":"call_2","type":"function","function":{"name":"add","arguments":"[1"}}
]==])
if(NOT joined STREQUAL wanted OR joined STREQUAL output)
    message(FATAL_ERROR "printed: ${output}")
endif()

# The example must print the output in its first comment.
file(WRITE "${folder}/calls-tools.json" [==[[{"name": "add"}]]==])
file(WRITE "${folder}/calls-input.txt" [==[<tool_call>{"name": "add", "arguments": {"a": 2}}</tool_call>]==])
execute_process(COMMAND "${PROGRAM}" "${folder}/calls-tools.json" qwen3 INPUT_FILE "${folder}/calls-input.txt"
    OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output STREQUAL [==[{"index":0,"id":"call_0","type":"function","function":{"name":"add","arguments":""}}
{"index":0,"function":{"arguments":"{\"a\""}}
{"index":0,"function":{"arguments":": 2}"}}
]==])
    message(FATAL_ERROR "printed: ${output}")
endif()

file(WRITE "${folder}/calls-tools.json" "{}")
execute_process(COMMAND "${PROGRAM}" "${folder}/calls-tools.json" "${DIALECT}" INPUT_FILE "${folder}/calls-input.txt"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE error)
if(NOT status EQUAL 2 OR NOT output STREQUAL "" OR NOT error MATCHES "^tool_calls: options.tools: not a JSON array")
    message(FATAL_ERROR "ended with ${status}, printed: ${output}, ${error}")
endif()
