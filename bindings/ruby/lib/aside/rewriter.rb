# frozen_string_literal: true

module Aside
  # Reads the bytes of an answer, an event stream, lines of JSON or a JSON body, and returns the same bytes with the thinking
  # moved out of the content to where the format has it, and with <tt>calls: true</tt> the tool calls too. Anything that it cannot
  # read passes unchanged. Chunking does not change a byte of the output. Rewriter.wants returns which answers are for it.
  #
  #   rewriter = Aside::Rewriter.new("qwen3")
  #   ["data: {\"choices\":[{\"delta\":{\"content\":\"<thi", "nk>Twice 21.\"}}]}\n\n"].each do |read|
  #     print rewriter.feed(read)
  #   end
  #   print rewriter.finish
  #
  # [Strings] Input is taken as bytes, whatever encoding the String has. Output is a new String, called UTF-8 as event streams
  #           are; it is valid if the input was.
  # [Threads] One thread at a time may use a rewriter; another one gets a BusyError, and nothing has changed. A rewriter stays
  #           in the Ractor that made it; in a Ractor other than the main one, call #close. An exception from outside, such as
  #           that of Timeout, can lose the output of a call.
  # [Errors] Every method raises ClosedError after #close. Feeding may raise OutOfMemoryError, after which only #reset and #close
  # can be called.
  class Rewriter
    include Handle

    # The counts of a rewriter since it was made or last reset, frozen:
    #
    # +events+:: events that have data, lines of JSON, and bodies that were read whole
    # +changed+:: of them, those that were sent changed, or with chunks before them
    # +added+:: chunks and events in addition to those that came
    # +repaired+:: faults that <tt>repair: true</tt> has mended
    # +too_long+:: events and bodies that passed unread, longer than +max_event+
    # +unread+:: JSON objects of no format that is read, nor an error
    # +unpromoted+:: answers whose thinking was to be sent as content too, and was too long for that
    # +truncated+:: events that repeat a whole text and lack some of it, because it was too long to be kept
    # +thinking_bytes+:: bytes of text that were sent as thinking, without what a server splits itself
    # +content_bytes+:: bytes of text that were sent as content
    # +held+:: bytes of text and of an unfinished event that #finish would return now
    # +split_by_server+:: texts whose thinking the server splits itself
    # +encoded+:: whether the stream passes unread because its first bytes are not text: it is compressed, or its encoding is not
    #             UTF-8. Ask the server for <tt>Accept-Encoding: identity</tt>, or decode the body first
    # +calls+:: tool calls of the text that were sent as calls, without those that a server sends itself
    Stats = Struct.new(:events, :changed, :added, :repaired, :too_long, :unread, :unpromoted, :truncated, :thinking_bytes,
                       :content_bytes, :held, :split_by_server, :encoded, :calls)

    # The longest name of a model that is read.
    MODEL_SIZE = 1024
    private_constant :MODEL_SIZE

    class << self
      # Returns the kind of an answer's body, for +body+ of Rewriter.new: +:events+, +:json+ or +:lines+; nil if the answer is
      # not for a rewriter: its status is not 200, it is compressed, or its media type or path belongs to none of the +formats+.
      # Header values are verbatim; nil: there is no such header. +path+ is the path of the request, with or without a query;
      # nil: any path fits. +formats+ is as for Rewriter.new.
      #
      # The program that rewrites an answer must remove its headers Content-Length, ETag, Content-MD5, Digest and Repr-Digest, and
      # call #finish at its end. Any thread may call this.
      #
      #   Aside::Rewriter.wants(200, path: "/v1/messages", content_type: "text/event-stream").inspect  # => ":events"
      #   Aside::Rewriter.wants(200, path: "/v1/models", content_type: "application/json").inspect     # => "nil"
      def wants(status, path: nil, content_type: nil, content_encoding: nil, formats: :all)
        exchange = exchange(status, formats, "", path, content_type, content_encoding)
        out = Native.buffer(4)
        Native::BODY.key(out.unpack1("L")) if Error.check(Native.aside_rewriter_wants(exchange, out)) == Native::OK
      end

      # Returns the change that a host should make to a request whose answer may be for a rewriter: +:identity+, send
      # <tt>Accept-Encoding: identity</tt> to the server; nil: no change, because the request is not a POST, or its path belongs
      # to none of the +formats+. +path+ and +formats+ are as for #wants. Any thread may call this.
      #
      #   Aside::Rewriter.request_hint("/v1/messages", "POST").inspect  # => ":identity"
      def request_hint(path, method, formats: :all)
        exchange = exchange(0, formats, method, path)
        :identity if Error.check(Native.aside_request_hint(exchange, Native.buffer(4))) == Native::OK
      end

      # Returns the model that a request asks for: the first member +model+ of its JSON object. +body+ is the part of the body
      # that has come so far; 64 KiB are enough. Returns +:more+ while more of the body must come; nil if there is no model: the
      # body is not a JSON object, or its model is not a string, is not UTF-8, or is longer than 1,024 bytes. Any thread may
      # call this.
      #
      #   Aside::Rewriter.request_model('{"model":"qwen3","mess')  # => "qwen3"
      def request_model(body)
        body = Native.string(body)
        room = Native.buffer(MODEL_SIZE)
        len = Native.buffer(8)
        case Error.check(Native.aside_request_model(body, body.bytesize, room, MODEL_SIZE, len))
        when Native::OK then room.byteslice(0, len.unpack1("J")).force_encoding(Encoding::UTF_8)
        when Native::MORE then :more
        end
      end

      # Returns whether a request wants the thinking in its answer, for +thinking+ of Rewriter.new: +:keep+ or +:drop+. +path+
      # is the path of the request, and +body+ its whole body. A request does not want the thinking if it has
      # <tt>"include_reasoning": false</tt>, <tt>"reasoning": {"exclude": true}</tt> or <tt>"think": false</tt>, or if it is a
      # Messages request without +thinking+, or with +thinking+ that is +disabled+. Any thread may call this. This method may
      # change in any version.
      #
      #   Aside::Rewriter.request_thinking("/v1/messages", '{"model":"qwen3"}').inspect  # => ":drop"
      def request_thinking(path, body)
        body = Native.string(body)
        out = Native.buffer(4)
        Error.check(Native.aside_request_thinking(exchange(0, :all, "", path), body, body.bytesize, out))
        Native::THINKING.key(out.unpack1("L"))
      end

      # Returns the bits of shapes: a Symbol, or several.
      def shapes(names) # :nodoc:
        Array(names).map { |name| Native.number("normalise", name, Native::SHAPES) }.reduce(0, :|)
      end

      # Returns the bits of formats: a Symbol, or several.
      def formats(names) # :nodoc:
        Array(names).map { |name| Native.number("formats", name, Native::FORMATS) }.reduce(0, :|)
      end

      private

      # Returns the struct of a request and its answer.
      def exchange(status, formats, method, path, type = nil, encoding = nil)
        texts = [Native.string(method), *[path, type, encoding].map { |text| Native.string(text || "") }]
        [Native::EXCHANGE_SIZE, status, formats(formats), *texts.flat_map { |text| [text, text.bytesize] }]
          .pack(Native::EXCHANGE_PACK)
      end
    end

    # Makes a rewriter at the start of a stream. +dialect+ is a Dialect or the name of one.
    #
    # +start+:: the span that is open at the first byte of each choice's text, as for Scanner.new
    # +field+:: the name of the field for the thinking: +:reasoning_content+, +:reasoning+ or +:thinking+
    # +body+:: the kind of body that is fed: +:events+ (<tt>text/event-stream</tt>), +:json+, or +:lines+
    #          (<tt>application/x-ndjson</tt>); nil: the first byte that is not blank decides
    # +off+:: true: nothing is split, the output is the input
    # +max_event+:: longer events, and longer JSON bodies, pass unread; in bytes, 0 means 16 MiB
    # +stray_close+:: as for Scanner.new; it applies to every stream, whatever its start and dialect
    # +leading_tags+:: as for Scanner.new
    # +calls+:: true: make +tool_calls+ of the calls that the model writes as text, if the dialect says how they are written. A
    #           choice in which the server does so itself is left alone from then on
    # +tools+:: the request's +tools+ as JSON, as for CallWriter.new: calls of others stay in the text. nil: every call is emitted
    # +calls_in_thinking+:: as for Scanner.new
    # +max_held+:: the largest number of bytes of a choice's text that may be held in a stream until it is clear whether a call is
    #              for the client; 0 means 1 MiB
    # +formats+:: the formats of answers that are read, one or an Array: +:chat+, +:completions+, +:responses+, +:messages+,
    #             +:ollama+, or +:all+; those of others pass unchanged
    # +responses_as+:: the form of the thinking in OpenAI Responses: +:reasoning_text+, right for clients that send items back,
    #                  or +:summary+, for clients that show only that
    # +repair+:: true: mend in a stream of events what makes clients fail or lose text: empty +data+ lines, comments inside an
    #            event, an object over several lines, chunks without choices, and more
    # +promote_empty+:: true: send the thinking again as content if an answer ends by itself and has neither content nor a
    #                   call
    # +merge+:: true: write one chunk for each that came, the thinking before the content, for clients that count them; of chat
    #           completions, completions and Ollama's lines, and where +repair+ or +normalise+ would make two
    # +max_tools+:: the largest number of bytes of +tools+ that are read, those of #use_tools too; a longer list is an error. 0
    #               means 4 MiB
    #
    # +keep_guessed+:: true: leave guessed thinking unchanged. Otherwise, if an answer ends by itself in the thinking in which the
    #                  dialect guessed it to start, and nothing has confirmed that guess, a stream gets it again as content, and a
    #                  body as content alone
    # +not_whole+, +unknown_tool+, +implied_end+, +repair_arguments+:: with +calls+, as for CallWriter.new; a body, and Ollama's
    #                  format, have whole calls only
    # +max_calls+:: with +calls+, the largest number of calls of a choice that become +tool_calls+, such as 1 for
    #               <tt>"parallel_tool_calls": false</tt>; later ones stay text. 0 means 1,024, and it is never more
    # +start_call+:: with +calls+, the name of a tool: each choice's text, without its thinking, is the arguments of a call of it,
    #                as a grammar makes a model write them without markers (a named tool as +tool_choice+). For a list of
    #                calls there is the start +:calls+
    #
    # +normalise+:: the shapes of servers' answers of which one is made, one or an Array: +:field+ (the server's thinking is sent in
    #               +field+), +:lists+ (content that is a list becomes a string), +:chunks+ (a chunk with thinking and content
    #               becomes two), +:content+ (content after thinking that the server has split is split too), or +:all+
    # +thinking+:: whether the thinking is sent: +:keep+ or +:drop+; for a request there is Rewriter.request_thinking
    # +label+:: true: label the thinking blocks of Messages and the reasoning items of Responses that are made, so that a history
    #           can be rid of them
    # +comments+:: the treatment of comments in a stream of events, for clients that fail on them: +:keep+, +:drop+, or +:chunk+, by
    #              which each becomes an event without text where its format has one
    #
    # Raises UnknownDialectError for an unknown name, and OptionError for a start that the dialect does not have, and for tools
    # that cannot be read.
    def initialize(dialect, start: nil, field: :reasoning_content, body: nil, off: false, max_event: 0,
                   stray_close: :dialect, calls: false, tools: nil, calls_in_thinking: :dialect, max_held: 0,
                   formats: :all, responses_as: :reasoning_text, repair: false, promote_empty: false, merge: false,
                   leading_tags: :dialect, max_tools: 0, keep_guessed: false, not_whole: :tell, unknown_tool: :text,
                   implied_end: :on, max_calls: 0, repair_arguments: false, start_call: nil, normalise: :none, thinking: :keep,
                   label: false, comments: :keep)
      dialect = Dialect.of(dialect)
      @dialect = dialect.name
      tools = Native.utf8(tools) if tools
      start_call = Native.utf8(start_call) if start_call
      options = [Native::REWRITER_OPTIONS_SIZE, Native.number("start", start, Native::START),
                 Native.number("field", field, Native::FIELD),
                 Native.number("body", body || :unknown, Native::BODY), off ? 1 : 0,
                 Native.count("max_event", max_event), Native.number("stray_close", stray_close, Native::STRAY_CLOSE),
                 calls ? 1 : 0, tools, tools ? tools.bytesize : 0, Native.count("max_held", max_held),
                 Native.number("calls_in_thinking", calls_in_thinking, Native::CALLS_IN_THINKING),
                 Rewriter.formats(formats), Native.number("responses_as", responses_as, Native::RESPONSES_AS), repair ? 1 : 0,
                 promote_empty ? 1 : 0, merge ? 1 : 0, Native.count("max_tools", max_tools),
                 keep_guessed ? 1 : 0, Native.number("leading_tags", leading_tags, Native::LEADING_TAGS),
                 *Native.policies(not_whole, unknown_tool, implied_end, repair_arguments, max_calls),
                 start_call, start_call ? start_call.bytesize : 0, Rewriter.shapes(normalise),
                 Native.number("thinking", thinking, Native::THINKING), label ? 1 : 0,
                 Native.number("comments", comments, Native::COMMENTS)]
                .pack(Native::REWRITER_OPTIONS_PACK)
      @lock = Lock.new
      own(Error.check_address(Native.aside_rewriter_new(dialect.handle, options)), :aside_rewriter_free)
    end

    # Sets the dialect of the next stream (a Dialect, the name of one, or nil: the rewriter's own) and its start, the span that is
    # open at the first byte of each choice's text, before the first byte; a start of nil: the dialect decides where it starts. So
    # one rewriter serves a model with thinking on and off. The results of Dialect.find_for_template can be passed to it.
    # #finish and #reset restore the rewriter's own dialect and start. Returns the rewriter. Raises what Rewriter.new
    # raises, and OrderError if the stream has begun.
    #
    #   rewriter.use_dialect("harmony")
    #   rewriter.use_dialect(nil, start: :content) unless request["enable_thinking"]
    def use_dialect(dialect, start: nil)
      dialect = Dialect.of(dialect) if dialect
      number = Native.number("start", start, Native::START)
      exclusively { Error.check(Native.aside_rewriter_use_dialect(address, dialect ? dialect.handle : 0, number)) }
      self
    end

    # Sets the tools of the next stream's request, before its first byte, as +tools+ of Rewriter.new. For a rewriter that serves
    # one request after another. #finish and #reset restore the rewriter's own tools. Returns the rewriter.
    #
    #   rewriter.use_tools(JSON.generate(request["tools"] || []))
    #
    # Raises OptionError for tools that cannot be read, and OrderError if the stream has begun.
    def use_tools(tools)
      tools = Native.utf8(tools) if tools
      exclusively { Error.check(Native.aside_rewriter_use_tools(address, tools, tools ? tools.bytesize : 0)) }
      self
    end

    # Sets the start of the next stream, before its first byte: the text of each choice continues a rendered prompt that ends in
    # +tail+, which is read as by Scanner#start_from_prompt. #finish and #reset restore the rewriter's own start; an empty +tail+
    # cancels an earlier one.
    #
    # Returns the span that is open then, as Scanner#start_from_prompt does. Raises OrderError if the stream has begun.
    def start_from_prompt(tail)
      tail = Native.utf8(tail)
      exclusively do
        out = Native.buffer(4)
        Error.check(Native.aside_rewriter_start_from_prompt(address, tail, tail.bytesize, out))
        Native::START.key(out.unpack1("L"))
      end
    end

    # Reads the next bytes, cut anywhere, and returns the decided bytes, possibly none: each event as soon as it is
    # complete.
    def feed(bytes)
      bytes = Native.string(bytes)
      exclusively { Native.borrowed { |out| Native.aside_rewriter_feed(address, bytes, bytes.bytesize, out) } }
    end

    # Ends the stream, and returns the held bytes. The next bytes begin a new stream.
    def finish
      exclusively { Native.borrowed { |out| Native.aside_rewriter_finish(address, out) } }
    end

    # Drops the stream, and every error but DefectError. The next bytes begin a new stream. Returns the rewriter.
    def reset
      exclusively { Error.check(Native.aside_rewriter_reset(address)) }
      self
    end

    # Returns the Stats since the start or the last #reset, with the number of bytes held now.
    #
    #   rewriter.stats.thinking_bytes
    def stats
      *counts, encoded, calls = exclusively do
        Native.filled(Native::REWRITER_STATS_SIZE, Native::REWRITER_STATS_UNPACK) do |out|
          Error.check(Native.aside_rewriter_get_stats(address, out))
        end
      end
      Stats.new(*counts, encoded == 1, calls).freeze
    end

    # Frees the rewriter at once, without waiting for Ruby to collect it. Held bytes are lost: call #finish first to get them. May
    # be called again; every other method then raises ClosedError. Returns nil.
    def close
      exclusively { Native.aside_rewriter_free(disown) unless closed? }
      nil
    end

    private

    def described
      @dialect
    end
  end
end
