# frozen_string_literal: true

module Aside
  # Reads the bytes of an answer, an event stream, lines of JSON or a JSON body, and returns the same bytes with the thinking moved
  # out of the content to the place that the format has for it; with <tt>calls: true</tt> the tool calls too. Anything that it
  # cannot read stays unchanged. Chunking does not change a byte of the output. Rewriter.wants says whether an answer is for a
  # rewriter.
  #
  #   rewriter = Aside::Rewriter.new("qwen3")
  #   ["data: {\"choices\":[{\"delta\":{\"content\":\"<thi", "nk>Twice 21.\"}}]}\n\n"].each do |read|
  #     print rewriter.feed(read)
  #   end
  #   print rewriter.finish
  #
  # [Strings] Input is read as bytes, whatever the encoding of the String. Output is a new String, marked as UTF-8; it is valid if
  #           the input was.
  # [Threads] One thread at a time may use a rewriter; a second thread gets a BusyError, and nothing has changed. A rewriter stays
  #           in the Ractor that made it; in a Ractor other than the main one, call #close. An exception from outside, such as
  #           Timeout's, can lose the output of a call. [Errors] Every method raises ClosedError after #close. Feeding may raise
  #           OutOfMemoryError, after which only #reset and #close can be called.
  class Rewriter
    include Handle

    # Generated from src/ffi by tests/header: do not edit.

    # The counts of a rewriter since it was made or last reset, frozen:
    #
    # +events+:: Events that have data, lines of JSON, and bodies that were read whole.
    # +changed+:: The number of +events+ that were sent changed, or with chunks before them.
    # +added+:: Chunks and events that were written in addition to the server's.
    # +repaired+:: Faults of the stream that the option +repair+ has mended.
    # +too_long+:: Events and bodies that were forwarded unread because they were longer than the option +max_event+.
    # +unread+:: JSON objects that were forwarded unread because they are neither in a format that is read nor an error.
    # +unpromoted+:: Answers whose thinking was to be sent as content too, and was too long for that.
    # +truncated+:: Events that repeat a whole text and lack some of it, because that text was longer than +max_event+.
    # +thinking_bytes+:: Bytes of text that were sent as thinking. Text that a server splits itself is not counted.
    # +content_bytes+:: Bytes of text that were sent as content.
    # +held+:: Bytes of text, and of an unfinished event or body, that are held now. A finish would return them.
    # +split_by_server+:: Texts whose thinking the server splits itself.
    # +encoded+:: Whether the stream is forwarded unread because its first bytes are not text: it is compressed (gzip, zstd,
    #   zlib or Brotli), or not in UTF-8. Ask the server for <tt>Accept-Encoding: identity</tt>, or decode the body before it
    #   is fed. After the end of a stream, this describes that stream, until another begins.
    # +calls+:: Tool calls in the text that were sent as calls. Calls that the server itself has made are not counted.
    # +contradicted+:: Texts that a server repeats in Responses and that were split again, because their message differs from what
    #   was sent before, or was too long to be kept.
    Stats = Struct.new(:events, :changed, :added, :repaired, :too_long, :unread, :unpromoted, :truncated, :thinking_bytes,
                       :content_bytes, :held, :split_by_server, :encoded, :calls, :contradicted)
    # End of the generated part.

    # The facts of a request that concern its answer, from Rewriter.read_request.
    #
    # +thinks+:: whether the model should think; nil if the request does not say
    # +thinking+:: whether the client wants the thinking in the answer, for +thinking+ of Rewriter.new
    # +tools+:: the JSON text of the request's +tools+; <tt>"[]"</tt> if it offers none
    Request = Struct.new(:thinks, :thinking, :tools)

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

      # Returns the model that a request asks for: the first member +model+ of its JSON object. +body+ is the part of the body that
      # has arrived so far; 64 KiB are enough. Returns +:more+ if more of the body is needed; nil if there is no model: the body is
      # not a JSON object, or its model is not a string, is not UTF-8, or is longer than 1,024 bytes. Any thread may call this.
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

      # Reads the facts of a request that concern its answer, and returns a Request. +path+ is the path of the request, and +body+
      # its whole body. An incomplete body, or one that is not a JSON object, decides nothing. Any thread may call this. This
      # method may change in any version.
      #
      # The model should think or not, if one of these says so; the first one counts: a variable of the chat template
      # (+chat_template_kwargs+: +enable_thinking+, +thinking+, +thinking_mode+), +enable_thinking+ or +think+ as a boolean, the
      # type of +thinking+, an effort (+think+, +reasoning_effort+, also as a variable, and <tt>reasoning.effort</tt>), which is
      # off as +none+ or +no_think+. The client wants no thinking if the request has <tt>"include_reasoning": false</tt>,
      # <tt>"reasoning": {"exclude": true}</tt> or <tt>"think": false</tt>, or if it is a Messages request whose +thinking+ is
      # absent or +disabled+.
      #
      #   Aside::Rewriter.read_request("/v1/messages", '{"model":"qwen3"}').thinking  # => :drop
      def read_request(path, body)
        body = Native.string(body)
        out = [Native::REQUEST_SIZE].pack("J").ljust(Native::REQUEST_SIZE, "\0")
        Error.check(Native.aside_request_read(exchange(0, :all, "", path), body, body.bytesize, out))
        thinks, thinking, tools, len = out.unpack("x8LLJJ")
        Request.new([nil, true, false][thinks], Native::THINKING.key(thinking), Native.text(tools, len)).freeze
      end

      private

      # Returns the struct of a request and its answer.
      def exchange(status, formats, method, path, type = nil, encoding = nil)
        texts = [Native.string(method), *[path, type, encoding].map { |text| Native.string(text || "") }]
        formats = Native.bits("formats", formats, Native::FORMATS)
        [Native::EXCHANGE_SIZE, status, formats, *texts.flat_map { |text| [text, text.bytesize] }]
          .pack(Native::EXCHANGE_PACK)
      end
    end

    # Makes a rewriter at the start of a stream. +dialect+ is a Dialect or the name of one.
    #
    #--
    # Generated from src/ffi by tests/header: do not edit.
    #++
    # +start+:: The span that is open at the first byte. One of nil, +:content+, +:thinking+, +:narration+, +:tool+, +:header+,
    #           +:calls+.
    # +stray_close+:: The treatment of a closer of the thinking without an opener, after content. One of +:dialect+, +:text+,
    #                 +:drop+.
    # +calls_in_thinking+:: The treatment of a tool call that begins inside the thinking. One of +:dialect+, +:never+, +:always+.
    # +leading_tags+:: The reading of a tag that is not the dialect's own at the beginning of the text. One of +:dialect+, +:text+.
    # +thinking+:: Whether the thinking is reported. One of +:keep+, +:drop+, +:inline+.
    # +not_whole+:: The part of a call that is reported before the call is whole. At most +max_held+ bytes of it are held. One of
    #               +:tell+, +:hold+, +:text+.
    # +unknown_tool+:: The treatment of a call of a tool that is not in +tools+. One of +:text+, +:drop+, +:tell+.
    # +implied_end+:: Whether the end of a text that has ended by itself (+:ended+) may end a call. One of +:on+, +:off+.
    # +tools+:: The request's +tools+: a JSON array of objects with +name+ and +parameters+, which may also be inside +function+, or
    #           with +name+ and +input_schema+, as in Anthropic's Messages. Their schemas have the types of the arguments.
    #           <tt>[]</tt>: all calls are content, which is right for a request without tools. nil: every call is reported, and the
    #           types of its arguments are not known.
    # +start_call+:: The name of a tool. The text, without its thinking, is read as the arguments of a call of this tool: if a
    #                request names a tool (+tool_choice+), a grammar makes the model write the arguments without markers. nil: the
    #                text is read as usual.
    # +max_tools+:: The maximum number of bytes of +tools+ that are read; a longer list is an error. Reading a list may need about
    #               40 times its length in memory. 0: 4 MiB.
    # +max_held+:: The maximum number of bytes of text that are held until it is clear whether they are a call, and of a value that
    #              are held until its type is clear, at most 4 MiB of text. 0: 1 MiB.
    # +max_calls+:: The maximum number of calls that are reported, such as 1 for <tt>"parallel_tool_calls": false</tt>; later calls
    #               are content. 0: 1,024, the maximum.
    # +repair_arguments+:: true: mend arguments that have only one possible meaning; such a call counts as repaired. In JSON, a
    #                      backslash that does not begin an escape is escaped. If the schema asks for an array or an object and not
    #                      for a string, a string that contains it as JSON is decoded, and a Python literal between markers becomes
    #                      JSON. false: leave the arguments unchanged.
    # +promote_empty+:: true: report the thinking as content if the text ends by itself and has neither content nor a call. At most
    #                   16 MiB of thinking are kept for this. false: such a text has no content.
    # +keep_guessed+:: true: leave guessed thinking unchanged. false: report thinking as content too, if the dialect only guessed
    #                  that the text starts in the thinking, and the text ends by itself in the thinking, without a marker that
    #                  confirms the guess.
    # +field+:: The name of the field for the thinking. One of +:reasoning_content+, +:reasoning+, +:thinking+.
    # +body+:: The kind of body that is fed. One of +:unknown+, +:events+, +:json+, +:lines+.
    # +off+:: true: nothing is split, and the output equals the input. false: the text is split.
    # +calls+:: true: make +tool_calls+ from the calls that the model writes as text, if the dialect says how they are written, and
    #           change the +finish_reason+ from +stop+ to +tool_calls+. After the first call that the server itself makes in a
    #           choice, calls in the text of that choice stay in the text. A body, and Ollama's format, have whole calls only.
    #           false: calls stay in the text.
    # +max_event+:: The length of the longest event or JSON body that is read, in bytes; a longer one is forwarded unchanged. 0:
    #               16 MiB.
    # +formats+:: The formats of the answers that are read; an answer of a different format is forwarded unchanged. nil: all
    #             formats. A symbol or an Array of symbols: +:chat+, +:completions+, +:responses+, +:messages+, +:ollama+, +:all+.
    # +responses_as+:: The form of the thinking in the items of OpenAI Responses. One of +:reasoning_text+, +:summary+.
    # +repair+:: true: mend faults in a stream of events that make clients fail or lose text: empty <tt>data:</tt> lines, comments
    #            inside an event, an object over several lines, chunks without +choices+, and more. false: leave the faults
    #            unchanged.
    # +merge+:: true: in chat completions, completions and Ollama's lines, send one chunk for each chunk of the server, the thinking
    #           before the content, for clients that count chunks, even if +repair+ or +normalise+ would make two chunks. false:
    #           each chunk has text for one field.
    # +normalise+:: The differences between servers' answers that are removed. nil: none. A symbol or an Array of symbols: +:none+,
    #               +:field+, +:lists+, +:chunks+, +:content+, +:all+.
    # +label+:: true: label the thinking blocks of Messages and the reasoning items of Responses that the rewriter makes, so that
    #           they can be removed from a history. false: their signatures are empty, and their ids begin with +rs_+.
    # +comments+:: The treatment of comments in a stream of events, for clients that fail on them. One of +:keep+, +:drop+,
    #              +:chunk+.
    #--
    # End of the generated part.
    #++
    #
    # Raises UnknownDialectError for an unknown name, and OptionError for a start that the dialect does not have, and for tools
    # that cannot be read.
    def initialize(dialect, **options)
      dialect = Dialect.of(dialect)
      @dialect = dialect.name
      answer, own = options.partition { |name, _| Native::REWRITER_OPTIONS_ANSWER.include?(name) }.map(&:to_h)
      options = Native.rewriter_options({ **own, answer: Native.answer_options(answer) })
      @lock = Lock.new
      own(Error.check_address(Native.aside_rewriter_new(dialect.handle, options)), :aside_rewriter_free)
    end

    # Sets the dialect of the next stream (a Dialect, the name of one, or nil: the rewriter's own) and its start, the span that is
    # open at the first byte of each choice's text, before the first byte; a start of nil: the dialect decides. In this way, one
    # rewriter serves a model with the thinking on or off. The results of Dialect.find_for_template can be passed to it. #finish and
    # #reset restore the rewriter's own dialect and start. Returns the rewriter. Raises what Rewriter.new raises, and OrderError if
    # the stream has begun.
    #
    #   rewriter.use_dialect("harmony")
    #   rewriter.use_dialect(nil, start: :content) unless request["enable_thinking"]
    def use_dialect(dialect, start: nil)
      dialect = Dialect.of(dialect) if dialect
      number = Native.number("start", start, Native::START)
      exclusively { Error.check(Native.aside_rewriter_use_dialect(address, dialect ? dialect.handle : 0, number)) }
      self
    end

    # Sets the tools of the next stream's request, before its first byte, like +tools+ of Rewriter.new. Use it for a rewriter that
    # serves one request after another. #finish and #reset restore the rewriter's own tools. Returns the rewriter.
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

    # Reads the next bytes, cut anywhere, and returns the bytes to forward, which may be none: each event as soon as it is complete.
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
      counts = exclusively do
        Native.filled(Native::REWRITER_STATS_SIZE, Native::REWRITER_STATS_UNPACK) do |out|
          Error.check(Native.aside_rewriter_get_stats(address, out))
        end
      end
      Stats.new(*counts).tap { |stats| stats.encoded = stats.encoded == 1 }.freeze
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
