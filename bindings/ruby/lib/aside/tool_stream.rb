# frozen_string_literal: true

module Aside
  # Compresses the output of one tool while it arrives, in bounded memory. Compressor#stream returns one. Chunking does not
  # change the result.
  #
  #   stream = Aside::Compressor.new(budget: 2_000).stream(tool_id: "bash", memory: 16_000)
  #   1.upto(10_000) { |n| print stream.feed("compiling file #{n}\n") }
  #   print stream.finish
  #
  # A text that fits into the memory is returned at the end, as Compressor#compress returns it but without a banner. From a longer
  # text, a compressor without a budget removes repeats and returns the rest as it arrives; one with a budget keeps head, tail and
  # error regions, and returns them at the end.
  #
  # Input is read as bytes, whatever the encoding of the String. Output is a new String, marked as UTF-8. One thread at a time may
  # use a stream; a second thread gets a BusyError, and nothing has changed. Every method but #report raises ClosedError after
  # #close.
  class ToolStream
    include Handle

    # The Report; nil until #finish.
    attr_reader :report

    def initialize(address, hosts, tool_id) # :nodoc:
      own(address, :aside_tool_stream_free)
      @lock = Lock.new
      @hosts = hosts
      @tool_id = tool_id
      @failed = []
    end

    # Feeds the next bytes, and returns the text that is decided, which is often empty. Raises OrderError after #finish.
    def feed(bytes)
      bytes = Native.fixed(Native.string(bytes))
      call { Native.borrowed { |out| Native.aside_tool_stream_feed(address, bytes, bytes.bytesize, out) } }
    end

    # Sets the exit code of the command, an Integer, which is known when the command has ended: after the last byte, before
    # #finish. Until then, a command without an exit code counts as failed. Raises OrderError after #finish.
    def exit_code=(code)
      raise FrozenError.new("can't modify a frozen #{self.class}", receiver: self) if frozen?

      code = Integer(code)
      raise RangeError, "exit_code is out of range" unless code.bit_length < 64

      exclusively { Error.check(Native.aside_tool_stream_set_exit_code(address, code)) }
    end

    # Ends the output, and returns the rest of the result. #report is set after it. Raises OrderError if called again.
    def finish
      call do
        rest = Native.borrowed { |out| Native.aside_tool_stream_finish(address, out) }
        @done = Error.check_address(Native.aside_tool_stream_report(address))
        rest
      end
    end

    # Frees the stream at once, without waiting for Ruby to collect it. May be called again; feeding then raises ClosedError.
    # Returns nil.
    def close
      exclusively { Native.aside_tool_stream_free(disown) unless closed? }
      nil
    end

    private

    def described
      @tool_id
    end

    def call
      raise FrozenError.new("can't modify a frozen #{self.class}", receiver: self) if frozen?

      exclusively do
        Host::Call.within(@hosts) do |call|
          text = yield
          @failed.concat(call.failed)
          @report ||= Report.new(@done, @tool_id, @failed) if @done
          text
        end
      end
    end
  end
end
