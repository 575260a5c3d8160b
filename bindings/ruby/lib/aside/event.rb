# frozen_string_literal: true

module Aside
  # One event of a stream. Each byte of the stream is in exactly one event: the #bytes of all events, joined, are the
  # stream. An event and all that it gives is frozen, and may be shared between Ractors.
  #
  #   case event
  #   in { kind: :text, channel: :content, text: } then print text
  #   in { kind: :attribute, name: "confidence", value: } then note(value)
  #   else # markers and framing
  #   end
  class Event
    # +:open+, +:attribute+ (of the span that has just opened; it has no bytes of the stream), +:text+, +:framing+
    # (white space that belongs to a marker) or +:close+; +:reclassify+, where all content so far was thinking, in a
    # dialect with <tt>stray_close = "reclassify"</tt>; +:budget+, where the thinking goes beyond the scanner's +budget+.
    # The last two have no bytes of the stream.
    def kind
      @kind || :text
    end

    # +:content+, +:thinking+, +:narration+ or +:tool+.
    attr_reader :channel

    # Of +:close+, why: +:marker+, +:implied+, +:end_of_stream+, or +:forced+ by Scanner#force_close. Otherwise nil.
    attr_reader :cause

    # Of +:open+, which <tt>[[span]]</tt> of the dialect's file, from 0; the number of spans stands for a header.
    # Otherwise nil.
    attr_reader :rule

    # Of +:open+, which of the span's opening literals or names, from 0; Dialect#opener has the words. Otherwise nil.
    attr_reader :tag

    # Where its bytes begin in the stream, in bytes of UTF-8 from 0. Of +:attribute+, where the marker does.
    attr_reader :offset

    # Of +:attribute+, its name; otherwise nil.
    attr_reader :name

    # Of +:attribute+, its decoded value; otherwise nil.
    attr_reader :value

    # A piece of text, of which there are most, is just the first three: so many Ruby keeps without memory of their own.
    # For others +said+ has the rest. A parameter that may be left out would cost each piece of text.
    def initialize(channel, offset, raw, said) # :nodoc:
      @channel = channel
      @offset = offset
      @raw = raw.freeze
      if said
        @kind, @cause, @rule, @tag, @name, @value = said.values_at(:kind, :cause, :rule, :tag, :name, :value)
        @name = @name&.scrub.freeze
        @value = @value&.scrub.freeze
      end
      freeze
    end

    # Its bytes as UTF-8, always valid: where the stream itself was not, U+FFFD stands for what was wrong. The bytes of
    # a marker for <tt>:open</tt> and <tt>:close</tt>, which may be none. Never cuts a character.
    def text
      @raw.valid_encoding? ? @raw : @raw.scrub.freeze
    end

    # Its bytes as they came, in the encoding BINARY.
    def bytes
      @raw.b.freeze
    end

    # For pattern matching.
    def deconstruct_keys(_keys)
      { kind: kind, channel: channel, cause: cause, rule: rule, tag: tag, offset: offset, text: text, bytes: bytes,
        name: name, value: value }
    end

    # Whether the other says the same of the same place.
    def ==(other)
      other.is_a?(Event) && deconstruct_keys(nil) == other.deconstruct_keys(nil)
    end
    alias eql? ==

    def hash # :nodoc:
      deconstruct_keys(nil).hash
    end

    def inspect # :nodoc:
      said = deconstruct_keys(nil).reject { |key, value| value.nil? || key == :bytes }
      "#<#{self.class} #{said.map { |key, value| "#{key}=#{value.inspect}" }.join(" ")}>"
    end
  end
end
