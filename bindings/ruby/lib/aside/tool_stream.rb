# frozen_string_literal: true

module Aside
  # The output of one tool, compressed as it comes, in bounded memory. From Compressor#stream. However the output is cut,
  # the result is the same.
  #
  #   stream = Aside::Compressor.new(budget: 2_000).stream(tool_id: "bash", memory: 16_000)
  #   1.upto(10_000) { |n| print stream.feed("compiling file #{n}\n") }
  #   print stream.finish
  #
  # While the text fits into the memory, the result is that of Compressor#compress, without a banner, and comes at the end.
  # A longer text without a budget comes out as it goes, less its repeats; with one it comes at the end: head, tail and
  # error regions. What goes in is taken as bytes, whatever encoding the String claims; what comes out is the caller's, and
  # called UTF-8.
  #
  # One thread at a time may use a stream (another gets a BusyError, and nothing has changed).
  class ToolStream
    include Handle

    # What was done: a Report. nil until #finish.
    attr_reader :report

    def initialize(address, hosts, tool_id) # :nodoc:
      own(address, :aside_tool_stream_free)
      @lock = Lock.new
      @hosts = hosts
      @tool_id = tool_id
      @failed = []
    end

    # Takes the next bytes, and gives what is decided, often nothing.
    def feed(bytes)
      bytes = Native.fixed(Native.string(bytes))
      call { |at, len| Native.aside_tool_stream_feed(address, bytes, bytes.bytesize, at, len) }
    end

    # Ends the output: gives the rest of the result. #report then has what was done. The stream takes no more: OrderError.
    def finish
      out = Native.buffer(8)
      call do |at, len|
        Native.aside_tool_stream_finish(address, at, len, out).tap do |status|
          @done = out.unpack1("J") if status == Native::OK
        end
      end
    end

    # Frees the stream now, and not when Ruby collects it. May be called again; feeding then raises ClosedError.
    def close
      exclusively { Native.aside_tool_stream_free(disown) unless closed? }
      nil
    end

    def inspect # :nodoc:
      "#<#{self.class} #{@tool_id}#{" closed" if closed?}>"
    end

    private

    def call(&block)
      raise FrozenError.new("can't modify a frozen #{self.class}", receiver: self) if frozen?

      exclusively do
        Host::Call.within(@hosts) do |call|
          text = Native.lent(&block)
          @failed.concat(call.failed)
          @report ||= Report.new(@done, @tool_id, @failed) if @done
          text
        end
      end
    end
  end
end
