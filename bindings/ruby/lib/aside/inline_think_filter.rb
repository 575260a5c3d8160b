# frozen_string_literal: true

module Aside
  # Drop-in for +Rubino::LLM::InlineThinkFilter+, over the dialect +inline-think+: same constructor, constants, methods
  # and block. The whole migration is
  #
  #   Rubino::LLM::InlineThinkFilter = Aside::InlineThinkFilter
  #
  # Reasoning that leads the turn as <tt><think>…</think></tt> is +:thinking+; everything else is +:content+, and after
  # the first visible character of it verbatim.
  #
  #   filter = Aside::InlineThinkFilter.new
  #   emit = ->(sentinel, text) { print text if sentinel == :content }
  #   filter.feed("<thi", &emit)
  #   filter.feed("nk>Twice 21.</think>It is 42.", &emit)
  #   filter.flush(&emit)
  #
  # It holds back only what may still become a marker or a character. One thread at a time may use a filter.
  class InlineThinkFilter
    # What opens a thought.
    OPEN_RE = /<think>/i
    # What closes it.
    CLOSE_RE = %r{</think>}i
    # A code fence. The filter has no need of it: behind visible content nothing is a marker.
    FENCE_RE = /```/
    # The length of the longest marker.
    TAG_MAX_LEN = "</think>".length

    # A filter at the start of a turn.
    def initialize
      @scanner = Scanner.new("inline-think")
    end

    def initialize_copy(_other) # :nodoc:
      @scanner = @scanner.dup
    end

    # Feeds the next chunk, a String of any encoding and cut anywhere, and yields sentinel and text of what it settles.
    # The text is valid UTF-8, never empty, and the caller's own. Where the block raises, what it had not been given yet
    # comes first in the next call. Returns nil. A host that has several chunks at hand may join them: it is told the same
    # in larger pieces, for the cost of one.
    def feed(chunk)
      raise LocalJumpError, "no block given" unless defined?(yield) # as block_given?, but cheaper

      # As Scanner#feed_deltas, with a call less.
      if (channel = @scanner.feed_text(chunk))
        yield channel, chunk.scrub
      else
        @scanner.take_in(chunk)
        @scanner.deliver_deltas { |channel, text| yield channel, text }
      end
      nil
    end

    # Yields what is held back, and keeps the state: an open thought stays open. With <tt>final: false</tt>, between two
    # messages of a turn, nothing that may still become a marker is released. Returns nil.
    def flush(final: true, &block)
      raise LocalJumpError, "no block given" unless block_given?

      # What the scanner holds back is just what may still become something: a feed of nothing gives the rest.
      return feed("", &block) unless final

      @scanner.flush { |event| yield event.channel, +event.text if event.kind == :text }
      nil
    end

    # Frees the filter's memory now, as Scanner#close does. The class that this one replaces has no such method, and no
    # need of it outside Ractors.
    def close
      @scanner.close
    end
  end
end
