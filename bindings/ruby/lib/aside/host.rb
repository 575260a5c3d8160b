# frozen_string_literal: true

require "ffi"
require "fiber" # for Fiber#alive? in Ruby 3.0
require "json"

module Aside
  # Runs filters and caches in Ruby, for the library's callbacks. No exception or throw may pass through the library's frames:
  # each callback runs in a separate Fiber, and exceptions from other threads wait until the call is over.
  module Host # :nodoc: all
    # A filter or cache, with the id under which it was registered.
    Named = Struct.new(:id, :object)

    # One call of the library on one thread: the objects that it may call back, and their failures.
    class Call
      KEY = :aside_invocation

      # Id and exception of each failure, in order.
      attr_reader :failed

      # Makes a Call, and runs the block with it as this thread's current call. At the end, raises an exception that is not a
      # StandardError, because a report of it is not enough.
      def self.within(hosts)
        Thread.handle_interrupt(Object => :never) do
          call = new(hosts)
          outer = Thread.current.thread_variable_get(KEY)
          begin
            Thread.current.thread_variable_set(KEY, call)
            result = yield call
          ensure
            Thread.current.thread_variable_set(KEY, outer)
          end
          call.raise_fatal
          result
        end
      end

      def self.current
        Thread.current.thread_variable_get(KEY)
      end

      def initialize(hosts)
        @hosts = hosts
        @failed = []
      end

      # Raises the first exception that is not a StandardError, such as Interrupt, SystemExit or NoMemoryError.
      def raise_fatal
        raise @fatal if @fatal
      end

      def matches(number, invocation, reply)
        tool_id, input, = given(invocation)
        answer(number, reply) { |filter| filter.matches?(text(tool_id), parsed(input)) ? 1 : 0 }
      end

      def apply(number, invocation, text, reply)
        _, input, = given(invocation)
        answer(number, reply) do |filter|
          shorter = filter.apply(text(text), parsed(input))
          shorter.nil? ? 0 : [1, Native.utf8(shorter)]
        end
      end

      def observe(number, invocation, reply)
        tool_id, input, = given(invocation)
        answer(number, reply) { |cache| cache.observe(text(tool_id), parsed(input)) && 0 }
      end

      def lookup(number, invocation, reply, timestamp)
        tool_id, input, = given(invocation)
        at = nil
        code = answer(number, reply) do |cache|
          recorded, time = cache.lookup(text(tool_id), parsed(input))
          next 0 if recorded.nil?

          at = [Native.count("the time of a recorded result", time.to_i)].pack("Q")
          [1, Native.utf8(recorded)]
        end
        Native.memcpy_to(timestamp, at, 8) if code == 1
        code
      end

      def record(number, invocation, text, reply)
        tool_id, input, now = given(invocation)
        answer(number, reply) { |cache| cache.record(text(tool_id), parsed(input), text(text), Time.at(now)) && 0 }
      end

      def count(number, text, reply)
        tokens = nil
        code = answer(number, reply) { |counter| (tokens = Native.count("a number of tokens", counter.call(text(text)))) && 0 }
        code.negative? ? code : tokens
      end

      private

      # Returns the result of the block for the object. If the block fails, stores the exception and returns a negative number.
      def answer(number, reply, &block)
        host = @hosts[number]
        # The Fiber is blocking, because a fiber scheduler would switch the thread's stack in the middle of the call.
        fiber = Fiber.new(blocking: true) { contain(host.object, &block) }
        # The reply is written here, not in the Fiber: a Fiber that yielded may be resumed after the call, when the reply's
        # memory is gone.
        answer = fiber.resume
        answer = [nil, FiberError.new("it yielded in the middle of a call")] if fiber.alive?
        (code, said), failure = answer
        unless failure
          write(reply, said) if said
          return code || 0
        end

        @fatal ||= failure unless failure.is_a?(StandardError)
        @failed << [host.id, failure]
        write(reply, Host.reason(failure))
        -1
      end

      def contain(object)
        failure = ThreadError.new("it ended its thread")
        code = yield object
        failure = nil
      rescue Exception => e # rubocop:disable Lint/RescueException
        failure = e
      ensure
        # Stops Thread.exit, which is not an exception.
        return [code, failure] # rubocop:disable Lint/EnsureReturn
      end

      def write(reply, text)
        text = Native.utf8(text)
        Error.check(Native.aside_reply_write(reply, text, text.bytesize))
        1
      end

      def text(place)
        Native.text(*place)
      end

      # Returns the addresses and lengths of an invocation's tool id and input, and its time.
      def given(invocation)
        tool, tool_len, input, input_len, now =
          Native.text(invocation, Native::INVOCATION_SIZE).unpack(Native::INVOCATION_UNPACK)
        [[tool, tool_len], [input, input_len], now]
      end

      # Returns the parsed input. It is parsed once, because it is the same for all callbacks of a call.
      def parsed(input)
        @parsed ||= [JSON.parse(text(input), max_nesting: false, freeze: true)]
        @parsed.first
      end
    end

    def self.reason(failure)
      "#{failure.class}: #{failure.message}".scrub
    end

    # The callbacks. Their first argument is the number of the object; addresses and lengths are Integers. Because they are
    # constants, they outlive every compressor. They work only in the main Ractor.
    MATCHES = FFI::Function.new(:int32, [:size_t] * 3) do |number, invocation, reply|
      Call.current.matches(number, invocation, reply)
    end
    APPLY = FFI::Function.new(:int32, [:size_t] * 5) do |number, invocation, at, len, reply|
      Call.current.apply(number, invocation, [at, len], reply)
    end
    OBSERVE = FFI::Function.new(:int32, [:size_t] * 3) do |number, invocation, reply|
      Call.current.observe(number, invocation, reply)
    end
    LOOKUP = FFI::Function.new(:int32, [:size_t] * 4) do |number, invocation, reply, time|
      Call.current.lookup(number, invocation, reply, time)
    end
    COUNT = FFI::Function.new(:int64, [:size_t] * 4) do |number, at, len, reply|
      Call.current.count(number, [at, len], reply)
    end
    RECORD = FFI::Function.new(:int32, [:size_t] * 5) do |number, invocation, at, len, reply|
      Call.current.record(number, invocation, [at, len], reply)
    end
  end
  private_constant :Host
end
