# frozen_string_literal: true

module Aside
  # One event of a stream. Each byte of the stream is in exactly one event: the #bytes of all events, joined in order, are the
  # stream. An event and everything that it returns are frozen, and may be shared between threads and Ractors.
  #
  #   case event
  #   in { kind: :text, channel: :content, text: } then print text
  #   in { kind: :attribute, name: "confidence", value: } then note(value)
  #   else # markers and framing
  #   end
  class Event
    # Returns the kind of the event. Ignore kinds that are not listed here: later versions may add some.
    #
    # +:open+:: a span begins
    # +:attribute+:: an attribute of the span that has just opened; it has no bytes of the stream
    # +:text+:: text of the channel
    # +:framing+:: bytes that are part of no text, such as the newline around a marker
    # +:close+:: a span ends
    # +:reclassify+:: all content so far was thinking, or all thinking so far was content: the event's channel is the right one. It
    #                 is thinking after a closer without an opener, in a dialect with <tt>stray_close = "reclassify"</tt>. It is
    #                 content if the stream ended in thinking that was only guessed (Scanner#end_reason=), or if the closer of a
    #                 wrapper of the answer ends the thinking. The event has no bytes
    # +:budget+:: from here on the thinking exceeds the scanner's +budget+; it has no bytes
    #
    # Only from a Scanner with <tt>calls: true</tt>, all in the channel +:tool+:
    #
    # +:call+:: a tool call begins; its bytes are the beginning of the call, or none if the opener of its span was the beginning
    # +:call_name+:: the name of the call, whole
    # +:call_id+:: an id of the call, whole; if the whole head is the id, the id is reported in parts, with the name between them
    # +:call_key+:: a key of the arguments, whole; not reported for arguments that are JSON
    # +:call_type+:: the word for the type of the next value, whole
    # +:call_value+:: a value, or arguments that are JSON, in pieces that do not cut a character
    # +:call_value_end+:: the value ends; its bytes are the closer of the value, or none; not reported for arguments that are JSON
    # +:call_end+:: the call ends; its bytes are the call's last marker, or none
    def kind
      @kind || :text
    end

    # The channel: +:content+, +:thinking+, +:narration+ or +:tool+. The channel of framing is the channel around it.
    attr_reader :channel

    # For +:close+ and +:call_end+, why the span or the call ended: +:marker+, +:implied+, +:end_of_stream+, +:forced+ by
    # Scanner#force_close, or, of a call only, +:malformed+ or +:ended+ (Scanner#end_reason). Otherwise nil.
    attr_reader :cause

    # For +:open+ and +:call+, the index of the <tt>[[span]]</tt> in the dialect's file; an index equal to the number of spans means
    # a header. Otherwise nil.
    attr_reader :rule

    # For +:open+, the index of the span's opening literal or name; Dialect#opener returns the words. For +:call+, the index of the
    # span's <tt>[[span.call]]</tt>. Otherwise nil.
    attr_reader :tag

    # For +:call+ and +:call_end+, the number of the call in the stream, from 0. Otherwise nil.
    attr_reader :call

    # Returns, for +:call_value_end+, whether the value ended without its closer, and for +:call_end+, whether a value of the call
    # did. Otherwise false.
    def repaired?
      @repaired || false
    end

    # The offset of the event's bytes in the stream, in bytes of UTF-8 from 0. For +:attribute+, the offset of the marker.
    attr_reader :offset

    # Returns the number of tokens, of those passed to Scanner#feed_tokens, that begin inside the event's bytes. A token that begins
    # in one event and ends in another belongs to the first. In bytes that were fed without tokens, no token begins.
    def tokens
      @tokens || 0
    end

    # Returns the number of tokens of the stream that begin before the event: for the next event it is <tt>first_token +
    # tokens</tt>. For +:attribute+, the tokens of its marker are included.
    def first_token
      @first_token || 0
    end

    # For +:attribute+, the name. For +:call_name+, the name of the call; if it is the value of a header's field, the event has no
    # bytes. Otherwise nil.
    attr_reader :name

    # For +:attribute+, the decoded value; otherwise nil.
    attr_reader :value

    # Most events are pieces of text and have only the first three values, because Ruby stores three instance variables inside the
    # object. +said+ has the other values of all other events. An optional parameter would cost time for each piece of text.
    def initialize(channel, offset, raw, said) # :nodoc:
      @channel = channel
      @offset = offset
      @raw = raw.freeze
      if said
        @kind, @cause, @rule, @tag, @call, @name, @value, @tokens, @first_token, @repaired =
          said.values_at(:kind, :cause, :rule, :tag, :call, :name, :value, :tokens, :first_token, :repaired)
        @name = @name&.scrub.freeze
        @value = @value&.scrub.freeze
      end
      freeze
    end

    # Returns the event's bytes as valid UTF-8, with U+FFFD in place of invalid bytes. It never cuts a character. For +:open+ and
    # +:close+ it is the marker, which may be empty.
    def text
      @raw.valid_encoding? ? @raw : @raw.scrub.freeze
    end

    # Returns the event's bytes unchanged, in the encoding BINARY.
    def bytes
      @raw.b.freeze
    end

    # Returns all values by name, for pattern matching.
    def deconstruct_keys(_keys)
      { kind: kind, channel: channel, cause: cause, rule: rule, tag: tag, call: call, offset: offset, text: text,
        bytes: bytes, name: name, value: value, tokens: tokens, first_token: first_token, repaired: repaired? }
    end

    # Returns whether all values are equal to those of another event.
    def ==(other)
      other.is_a?(Event) && deconstruct_keys(nil) == other.deconstruct_keys(nil)
    end
    alias eql? ==

    def hash # :nodoc:
      deconstruct_keys(nil).hash
    end

    def inspect # :nodoc:
      hidden = @tokens ? %i[bytes] : %i[bytes tokens first_token]
      said = deconstruct_keys(nil).reject { |key, value| value.nil? || hidden.include?(key) }
      "#<#{self.class} #{said.map { |key, value| "#{key}=#{value.inspect}" }.join(" ")}>"
    end
  end
end
