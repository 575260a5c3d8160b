# frozen_string_literal: true

module Aside
  # A whole thought, from Scanner#take_thought. The object and everything that it returns are frozen.
  #
  #   scanner = Aside::Scanner.new("thought-stream", collect: 1 << 20)
  #   scanner.feed('<thinking confidence="0.9">Twice 21.</thinking>') { }
  #   thought = scanner.take_thought
  #   print thought.text, thought.confidence
  class Thought
    # The text, valid UTF-8, not trimmed.
    attr_reader :text

    # The original bytes of the text, in the encoding BINARY.
    attr_reader :bytes

    # The offset of the opening marker in the stream, in bytes.
    attr_reader :offset

    # Why the thought ended: +:marker+, +:implied+, +:forced+, or +:end_of_stream+ if the stream ended inside it.
    attr_reader :cause

    # The type from the marker, or nil.
    attr_reader :thought_type

    # The confidence from the marker, from 0.0 to 1.0, or nil.
    attr_reader :confidence

    # The marker's attributes, a Hash of decoded values by name. If a name is repeated, the first one counts.
    attr_reader :attributes

    def initialize(text:, offset:, cause:, truncated:, thought_type:, confidence:, attributes:) # :nodoc:
      @bytes = text.b.freeze
      @text = text.scrub.freeze
      @offset = offset
      @cause = cause
      @truncated = truncated
      @thought_type = thought_type&.scrub&.freeze
      @confidence = confidence
      @attributes = attributes.freeze
      freeze
    end

    # Returns whether +collect+ was too small for the whole thought.
    def truncated?
      @truncated
    end

    def inspect # :nodoc:
      "#<#{self.class} #{cause} offset=#{offset} text=#{text.inspect}>"
    end
  end
end
