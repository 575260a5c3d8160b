# frozen_string_literal: true

module Aside
  # Takes the bytes of an OpenAI-style answer, an event stream or a JSON body, and gives the same bytes with the thinking
  # moved from +content+ to a field of its own. What it cannot read passes as it came. Where the stream is cut does not
  # change a byte of what comes out.
  #
  #   rewriter = Aside::Rewriter.new("qwen3")
  #   ["data: {\"choices\":[{\"delta\":{\"content\":\"<thi", "nk>Twice 21.\"}}]}\n\n"].each do |read|
  #     print rewriter.feed(read)
  #   end
  #   print rewriter.finish
  #
  # Strings. What goes in is taken as bytes, whatever encoding the String claims. What comes out is the caller's own, and
  # called UTF-8 as event streams are: valid where what came in was.
  #
  # One thread at a time may use a rewriter (another gets a BusyError, and nothing has changed). A Ractor makes its own,
  # and closes it. What a signal or another thread raises into a call, as Timeout may, can lose what the call was to give.
  class Rewriter
    include Handle

    FIELDS = { reasoning_content: 0, reasoning: 1, thinking: 2 }.freeze
    BODIES = { nil => 0, events: 1, json: 2 }.freeze
    private_constant :FIELDS, :BODIES

    # A rewriter at the start of a stream. +dialect+ is a Dialect or the name of one.
    #
    # +start+:: what is open at the first byte of each choice's text, as for Scanner.new
    # +field+:: what the field for the thinking is called: +:reasoning_content+, +:reasoning+ or +:thinking+
    # +body+:: what comes in: +:events+ (<tt>text/event-stream</tt>) or +:json+; nil: the first byte that is not blank
    #          says it
    # +off+:: true: nothing is split, what comes in goes out
    # +max_event+:: the most bytes of an event, or of a JSON body, that are read: longer ones pass; 0 is 16 MiB
    # +stray_close+:: as for Scanner.new; of every stream, wherever it starts and whatever its dialect is
    def initialize(dialect, start: nil, field: :reasoning_content, body: nil, off: false, max_event: 0,
                   stray_close: :dialect)
      dialect = Dialect.of(dialect)
      options = [Native::SSE_OPTIONS_SIZE, Native.number("start", start, Native::STARTS),
                 Native.number("field", field, FIELDS), Native.number("body", body, BODIES), off ? 1 : 0,
                 Native.count("max_event", max_event), Native.number("stray_close", stray_close, Native::STRAY_CLOSES),
                 0].pack(Native::SSE_OPTIONS)
      @lock = Lock.new
      own(Error.check_address(Native.aside_sse_new(dialect.handle, options)), :aside_sse_free)
    end

    # Says where the next stream starts, before its first byte: what is open at the first byte of each choice's text, as for
    # Scanner.new; nil: as the dialect says. One rewriter then serves a model with thinking on and off. #finish and #reset
    # go back to the rewriter's own start.
    #
    # Raises OptionError for a start that the dialect does not have, OrderError where the stream has begun. Returns the
    # rewriter.
    def start_at(start)
      number = Native.number("start", start, Native::STARTS)
      exclusively { Error.check(Native.aside_sse_start_at(address, number)) }
      self
    end

    # Reads the next stream by another dialect (a Dialect or the name of one), and says where it starts, before its first
    # byte; nil: as that dialect says. What Dialect.find_for_template finds goes here. #finish and #reset go back to the
    # rewriter's own dialect and start. Raises as #start_at. Returns the rewriter.
    def use_dialect(dialect, start: nil)
      dialect = Dialect.of(dialect)
      number = Native.number("start", start, Native::STARTS)
      exclusively { Error.check(Native.aside_sse_use_dialect(address, dialect.handle, number)) }
      self
    end

    # Says where the next stream starts, before its first byte: the text of each choice goes on behind a rendered prompt that
    # ends in +tail+, read as by Scanner#start_from_prompt. #finish and #reset go back to the rewriter's own start; an empty
    # +tail+ takes back what an earlier one said.
    #
    # Returns what is open then, as Scanner#start_from_prompt does. Raises OrderError where the stream has begun.
    def start_from_prompt(tail)
      tail = Native.utf8(tail)
      exclusively do
        out = Native.buffer(4)
        Error.check(Native.aside_sse_start_from_prompt(address, tail, tail.bytesize, out))
        Native::STARTS.key(out.unpack1("L"))
      end
    end

    # Takes the next bytes, cut anywhere, and gives what is decided by them: each event as soon as it is whole, perhaps
    # nothing.
    def feed(bytes)
      bytes = Native.string(bytes)
      exclusively { Native.lent { |at, len| Native.aside_sse_feed(address, bytes, bytes.bytesize, at, len) } }
    end

    # Ends the stream, and gives what was held back. The rewriter is then as new.
    def finish
      exclusively { Native.lent { |at, len| Native.aside_sse_finish(address, at, len) } }
    end

    # Drops everything, and makes the rewriter as new. Returns the rewriter.
    def reset
      exclusively { Error.check(Native.aside_sse_reset(address)) }
      self
    end

    # How many events and bodies passed unread since the start or the last #reset, because they were longer than
    # +max_event+.
    def too_long
      exclusively { Native.aside_sse_too_long(address) }
    end

    # Whether the stream passes unread because its first bytes are no text: it is compressed, or in another encoding than
    # UTF-8. Ask the server for <tt>Accept-Encoding: identity</tt>, or decode the body first. It is of the stream that was
    # finished last, until another begins.
    def encoded?
      exclusively { Native.aside_sse_encoded(address) == 1 }
    end

    # Frees the rewriter now, and not when Ruby collects it. What it held back is lost: #finish first. May be called
    # again; anything else then raises ClosedError.
    def close
      exclusively { Native.aside_sse_free(disown) unless closed? }
      nil
    end
  end
end
