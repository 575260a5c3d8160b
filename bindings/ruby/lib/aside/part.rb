# frozen_string_literal: true

module Aside
  # A part of a model's text, from Answer#feed. The object and everything that it returns are frozen, and may be shared between
  # threads and Ractors. Values that a kind of part does not have are nil, false or empty.
  #
  #   answer = Aside::Answer.new("qwen3")
  #   answer.feed(%(<tool_call>{"name": "add", "arguments": {"a": 40}}</tool_call>)) do |part|
  #     case part
  #     in { kind: :call, name: } then print name, "("
  #     in { kind: :arguments, text: } then print text
  #     in { kind: :call_end, whole: true } then print ")"
  #     else # thinking and content, and kinds that later versions may add
  #     end
  #   end
  class Part
    # The kind of the part. Ignore kinds that are not listed here: later versions may add some.
    #
    # +:thinking+:: the next text of the thinking
    # +:content+:: the next text of the answer itself, with the model's narration
    # +:call+:: a tool call begins, with its #index, #id and #name
    # +:arguments+:: the next text of a call's arguments. The texts of all these parts, joined, are a JSON object if the call is
    #                whole
    # +:call_end+:: a call ends: see #whole?, #repaired?, #cause and #late_id
    # +:moved+:: all text that was reported in the channel #from belongs to the channel #to; only with
    #            <tt>may_take_back: true</tt>
    # +:budget+:: from here on the thinking exceeds the +budget+
    attr_reader :kind

    # For +:call+, +:arguments+ and +:call_end+, the number of the call in the answer, from 0. Otherwise nil.
    attr_reader :index

    # For +:call+, an id that no other call of the answer has. Otherwise nil.
    attr_reader :id

    # For +:call+, the name of the tool. Otherwise nil.
    attr_reader :name

    # For +:call_end+, why the call ended: +:marker+, +:implied+, +:end_of_stream+, +:forced+ by Answer#force_close, +:ended+, or
    # +:malformed+ if its arguments are not a JSON object. Otherwise nil.
    attr_reader :cause

    # For +:call_end+, an id that the model wrote only after the call was reported, or nil. Use it in a whole message, and not for a
    # client that got the call already.
    attr_reader :late_id

    # For +:moved+, the channel in which the text was reported: +:content+ or +:thinking+. Otherwise nil.
    attr_reader :from

    # For +:moved+, the channel to which the text belongs: +:content+ or +:thinking+. Otherwise nil.
    attr_reader :to

    def initialize(kind, raw = "", **said) # :nodoc:
      @kind = kind
      @raw = raw.freeze
      @index, @id, @name, @made, @whole, @repaired, @cause, @late_id, @from, @to =
        said.values_at(:index, :id, :name, :made, :whole, :repaired, :cause, :late_id, :from, :to)
      [@id, @name, @late_id].each(&:freeze)
      freeze
    end

    # Returns the text of +:thinking+, +:content+ and +:arguments+ as valid UTF-8, with U+FFFD in place of invalid bytes; an empty
    # String for the other kinds.
    def text
      @raw.valid_encoding? ? @raw : @raw.scrub.freeze
    end

    # Returns the bytes of the text unchanged, in the encoding BINARY.
    def bytes
      @raw.b.freeze
    end

    # Returns, for +:call+, whether the library made the id. It does so if the model wrote no id, or that of an earlier call.
    # Returns false for any other kind.
    def made?
      @made || false
    end

    # Returns, for +:call_end+, whether the arguments are complete. Do not run a call that is not whole. Otherwise false.
    def whole?
      @whole || false
    end

    # Returns, for +:call_end+, whether the call broke a rule of its grammar and was repaired: the model may have meant other
    # arguments. Otherwise false.
    def repaired?
      @repaired || false
    end

    # Returns all values by name, for pattern matching.
    def deconstruct_keys(_keys)
      { kind: kind, text: text, bytes: bytes, index: index, id: id, name: name, made: made?, whole: whole?, repaired: repaired?,
        cause: cause, late_id: late_id, from: from, to: to }
    end

    # Returns whether all values are equal to those of another part.
    def ==(other)
      other.is_a?(Part) && deconstruct_keys(nil) == other.deconstruct_keys(nil)
    end
    alias eql? ==

    def hash # :nodoc:
      deconstruct_keys(nil).hash
    end

    def inspect # :nodoc:
      said = deconstruct_keys(nil).reject { |key, value| !value || value == "" || key == :bytes }
      "#<#{self.class} #{said.map { |key, value| "#{key}=#{value.inspect}" }.join(" ")}>"
    end
  end
end
