# frozen_string_literal: true

module Aside
  # The next part of a tool call for a client, from CallWriter#feed. It and everything that it returns is frozen.
  #
  #   scanner = Aside::Scanner.new("qwen3", calls: true)
  #   writer = Aside::CallWriter.new("qwen3")
  #   scanner.feed(%(<tool_call>{"name": "add", "arguments": {"a": 40}}</tool_call>)) do |event|
  #     delta = writer.feed(event) or next
  #     print delta.name, "(" if delta.first?
  #     print delta.arguments
  #     print ")" if delta.last?
  #   end
  class CallDelta
    # The number of the call in the stream, from 0: Event#call. Calls that are not emitted count too.
    attr_reader :call

    # The number of the call among those that are emitted, from 0: +index+ of OpenAI's +tool_calls+.
    attr_reader :index

    # In the first delta of a call, its id; otherwise nil.
    attr_reader :id

    # In the first delta of a call, its name; otherwise nil.
    attr_reader :name

    # The next part of the arguments, perhaps empty. The parts of all deltas, joined, are JSON if the call is whole.
    attr_reader :arguments

    # In the last delta, why the call ended: +:marker+, +:implied+, +:end_of_stream+, +:forced+ or +:malformed+. Otherwise nil.
    attr_reader :cause

    # In the last delta, the id of a call if the model wrote it after the first delta was sent; otherwise nil. It is for
    # clients that get whole answers only.
    attr_reader :late_id

    def initialize(call:, index:, id:, name:, arguments:, cause:, whole:, repaired:, late_id:) # :nodoc:
      @call = call
      @index = index
      @id = id.freeze
      @name = name.freeze
      @arguments = arguments.freeze
      @cause = cause
      @whole = whole
      @repaired = repaired
      @late_id = late_id.freeze
      freeze
    end

    # Returns whether it is the first delta of its call.
    def first?
      !@name.nil?
    end

    # Returns whether it is the last delta of its call.
    def last?
      !@cause.nil?
    end

    # Returns whether it is the last delta of a call whose arguments are complete: the call ended by its marker or by the text
    # after it, and each value could be read. The arguments of any other call may not be JSON.
    def whole?
      @whole
    end

    # Returns whether it is the last delta of a call that was repaired: the model may have meant other arguments.
    def repaired?
      @repaired
    end

    def inspect # :nodoc:
      said = { call: call, index: index, id: id, name: name, arguments: arguments, cause: cause, late_id: late_id }.compact
      "#<#{self.class} #{said.map { |key, value| "#{key}=#{value.inspect}" }.join(" ")}>"
    end
  end
end
