# frozen_string_literal: true

module Aside
  # Makes OpenAI's +tool_calls+ of the events of one stream: a name, and arguments as JSON, which are sent while the model writes
  # them. The types of a request's +tools+ say whether <tt>42</tt> between two tags is a number or a text. Nothing is completed.
  # Chunking does not change the arguments.
  #
  #   tools = '[{"name": "add", "parameters": {"properties": {"a": {"type": "integer"}}}}]'
  #   scanner = Aside::Scanner.new("qwen3", calls: true)
  #   writer = Aside::CallWriter.new("qwen3", tools: tools)
  #   scanner.feed(%(<tool_call>{"name": "add", "arguments": {"a": 40}}</tool_call>)) do |event|
  #     delta = writer.feed(event) or next
  #     print delta.name, " " if delta.first?
  #     print delta.arguments
  #   end
  #
  # [Threads] One thread at a time may use a writer; another one gets a BusyError, and nothing has changed. A writer stays in the
  #           Ractor that made it; in a Ractor other than the main one, call #close. An exception from outside, such as that of
  #           Timeout, can lose the delta of a call.
  # [Errors] Every method raises ClosedError after #close. Feeding may raise OutOfMemoryError, after which only #reset and #close
  # can be called.
  class CallWriter
    include Handle

    # The numbers of the kinds that a call consists of.
    NUMBERS = Native::KIND.each_with_index.select { |kind, _| kind == :framing || kind&.start_with?("call") }.to_h.freeze
    TOOL = Native::CHANNEL.index(:tool)
    private_constant :NUMBERS, :TOOL

    # Makes a writer for the events of scanners of a dialect. +dialect+ is a Dialect or the name of one.
    #
    # +tools+:: the request's +tools+ as JSON: an array of objects with +name+ and +parameters+, which may also be inside
    #           +function+, or with +name+ and +input_schema+, as in Anthropic's Messages. Only calls of these are emitted, so of
    #           <tt>"[]"</tt> none is. nil: every call is emitted
    # +id_prefix+:: begins the ids of calls that the model gave none; CallDelta#index follows
    # +max_held+:: the largest number of bytes of a call that may be held because they cannot be sent yet: arguments until the name
    #              has come, a value until its type is known; 0 means 1 MiB
    # +max_tools+:: the largest number of bytes of +tools+ that are read; a longer list is an error. 0 means 4 MiB
    # +not_whole+:: the part of a call that is sent before the call is whole: its arguments as they come (+:tell+), or nothing.
    #               A call that is not whole or was repaired is then not emitted (+:hold+); with +:text+ too, but a call that is
    #               longer than +max_held+ is sent as it comes from there on
    # +unknown_tool+:: the treatment of a call of a tool that is not in +tools+: it is not emitted (+:text+ and +:drop+, which
    #                  differ for a Rewriter alone), or it is (+:tell+)
    # +implied_end+:: +:on+: a call written as keys and values between markers is whole if the answer ends by itself between two of
    #                 them (Scanner#end_reason); +:off+: it is not
    # +max_calls+:: the largest number of calls of a stream that are emitted; 0 means all
    # +repair_arguments+:: true: mend arguments that can mean only one thing; the last delta of such a call is
    #                      CallDelta#repaired?. In JSON, a backslash that does not begin an escape becomes one that is escaped.
    #                      Where the schema asks for an array or an object and not for a string, a string that holds one as JSON
    #                      is decoded, and a Python literal between markers becomes JSON
    #
    # Raises UnknownDialectError for an unknown name, and OptionError, which says where, for tools that cannot be read.
    def initialize(dialect, tools: nil, id_prefix: "call_", max_held: 0, max_tools: 0, not_whole: :tell, unknown_tool: :text,
                   implied_end: :on, max_calls: 0, repair_arguments: false)
      dialect = Dialect.of(dialect)
      @dialect = dialect.name
      tools = Native.utf8(tools) if tools
      id_prefix = Native.utf8(id_prefix)
      options = [Native::CALL_WRITER_OPTIONS_SIZE, tools, tools ? tools.bytesize : 0, id_prefix, id_prefix.bytesize,
                 Native.count("max_held", max_held), Native.count("max_tools", max_tools),
                 *Native.policies(not_whole, unknown_tool, implied_end, repair_arguments, max_calls)]
                .pack(Native::CALL_WRITER_OPTIONS_PACK)
      @lock = Lock.new
      @delta = [Native::CALL_DELTA_SIZE].pack("J").ljust(Native::CALL_DELTA_SIZE, "\0")
      own(Error.check_address(Native.aside_call_writer_new(dialect.handle, options)), :aside_call_writer_free)
    end

    # Takes the next Event of the stream, and returns a CallDelta if a part of a call can be sent now; otherwise nil. Events
    # that belong to no call change nothing. A call that is not emitted, because +tools+ does not have it or because it was cut
    # before its arguments, has no delta; every emitted call has a last delta.
    def feed(event)
      exclusively do
        handle = address
        number = NUMBERS[event.kind]
        next unless number && event.channel == :tool

        bytes = event.bytes
        name = event.name if bytes.empty?
        record = packed(number, event, bytes, name)
        status = Native.aside_call_writer_feed(handle, record, Native::EVENT_SIZE, name || bytes, @delta)
        delta unless Error.check(status) == Native::NONE
      end
    end

    # Forgets the stream, and every error but DefectError: call it after Scanner#finish and Scanner#reset. Returns the writer.
    def reset
      exclusively { Error.check(Native.aside_call_writer_reset(address)) }
      self
    end

    # Frees the writer at once, without waiting for Ruby to collect it. May be called again; every other method then raises
    # ClosedError. Returns nil.
    def close
      exclusively { Native.aside_call_writer_free(disown) unless closed? }
      nil
    end

    private

    def described
      @dialect
    end

    # Returns an event as the library takes it. +name+ is the name of a call if its bytes are not in the stream.
    def packed(number, event, bytes, name)
      [number, TOOL, Native::CAUSE.index(event.cause) || 0, event.rule || 0, event.offset, bytes.bytesize,
       event.repaired? ? 1 : event.tag || 0,
       0, 0, name ? name.bytesize : 0, 0, 0, 0, 0, event.call || 0, event.tokens, event.first_token].pack(Native::EVENT_PACK)
    end

    # Returns the delta that the library has written.
    def delta
      call, index, id, id_len, name, name_len, arguments, arguments_len, late_id, late_id_len, first, last, cause, whole,
        repaired =
        @delta.unpack(Native::CALL_DELTA_UNPACK)
      CallDelta.new(call: call, index: index, id: (Native.text(id, id_len) if first == 1),
                    name: (Native.text(name, name_len) if first == 1), arguments: Native.text(arguments, arguments_len),
                    cause: (Native::CAUSE[cause] if last == 1), whole: whole == 1, repaired: repaired == 1,
                    late_id: (Native.text(late_id, late_id_len) if late_id_len.positive?))
    end
  end
end
