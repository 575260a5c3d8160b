# frozen_string_literal: true

module Aside
  # A drop-in replacement for +Rubino::LLM::InlineThinkFilter+ with the dialect +inline-think+: same constructor, constants,
  # methods and block. The whole migration is
  #
  #   Rubino::LLM.send(:remove_const, :InlineThinkFilter)
  #   Rubino::LLM::InlineThinkFilter = Aside::InlineThinkFilter
  #
  # Reasoning at the beginning of the turn, as <tt><think>…</think></tt>, is +:thinking+. Everything else is +:content+,
  # unchanged after its first visible character.
  #
  #   filter = Aside::InlineThinkFilter.new
  #   emit = ->(sentinel, text) { print text if sentinel == :content }
  #   filter.feed("<thi", &emit)
  #   filter.feed("nk>Twice 21.</think>It is 42.", &emit)
  #   filter.flush(&emit)
  #
  # Only bytes that could still become a marker or complete a character are held back. One thread at a time may use a filter; a
  # second thread gets a BusyError.
  class InlineThinkFilter
    # Matches the opener of a thought.
    OPEN_RE = /<think>/i
    # Matches the closer of a thought.
    CLOSE_RE = %r{</think>}i
    # Matches a code fence. The filter itself does not need it, because nothing after visible content is a marker.
    FENCE_RE = /```/
    # The length of the longest marker.
    TAG_MAX_LEN = "</think>".length

    # Makes a filter at the start of a turn.
    def initialize
      @scanner = Scanner.new("inline-think")
    end

    def initialize_copy(_other) # :nodoc:
      @scanner = @scanner.dup
    end

    # Feeds the next chunk, a String of any encoding and cut anywhere, and yields sentinel and text of the decided part. The
    # text is valid UTF-8, never empty, and a new String. If the block raises, the next call begins with the text that it has not
    # received. Returns nil. Raises LocalJumpError without a block. A host that already has several chunks may join them, to save
    # calls.
    def feed(chunk)
      raise LocalJumpError, "no block given" unless defined?(yield) # like block_given?, but cheaper

      # Scanner#feed_deltas, inlined to save a call.
      if (channel = @scanner.feed_text(chunk))
        yield channel, chunk.scrub
      else
        @scanner.take_in(chunk)
        @scanner.deliver_deltas { |of, text| yield of, text }
      end
      nil
    end

    # Yields the held bytes, and keeps the state: an open thought stays open. With <tt>final: false</tt>, for use between
    # two messages of a turn, bytes that could still become a marker stay held. Returns nil. Raises LocalJumpError without a
    # block.
    def flush(final: true, &block)
      raise LocalJumpError, "no block given" unless block_given?

      # The scanner holds only bytes that could still become part of a marker or a character, so an empty feed yields all other
      # bytes.
      return feed("", &block) unless final

      @scanner.flush { |event| yield event.channel, +event.text if event.kind == :text }
      nil
    end

    # Frees the filter's memory at once, as Scanner#close does. Returns nil. The class that this one replaces has no such
    # method; it is needed only in Ractors.
    def close
      @scanner.close
    end
  end
end
