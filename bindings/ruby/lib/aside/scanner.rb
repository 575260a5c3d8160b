# frozen_string_literal: true

module Aside
  # Splits one stream into events while it arrives, in chunks of any size. Chunking does not matter: the text of each channel,
  # the spans and the attributes are the same for every way to cut the stream.
  #
  #   scanner = Aside::Scanner.new("qwen3")
  #   ["<thi", "nk>\nTwice 21.\n</think>\n", "\nIt is 42."].each do |chunk|
  #     scanner.feed(chunk) { |event| print event.text if event.kind == :text && event.channel == :content }
  #   end
  #   scanner.finish { |event| print event.text if event.kind == :text && event.channel == :content }
  #
  # [Chunks] UTF-8 and BINARY Strings are read as bytes, and may contain cut or invalid characters. Chunks of another encoding
  #          are transcoded to UTF-8, and may cut a character too; characters without a counterpart become U+FFFD. Offsets count
  #          bytes of the UTF-8 stream. Do not change a chunk while it is fed.
  # [Blocks] A call first collects its events, and then yields them. If the block raises or breaks, the next call begins with the
  #          events that the block has not received. A block may feed its own scanner. An exception from outside the block, such as
  #          that of Timeout, can lose the events of the call; the scanner stays usable, and #offset is the number of bytes that
  #          were fed.
  # [Threads] One thread at a time may use a scanner; a second thread gets a BusyError, and nothing has changed. Scanners share no
  #           state. A scanner stays in the Ractor that made it. In a Ractor other than the main one, call #close: the garbage
  #           collector does not free it there.
  # [Copies] +dup+ and +clone+ return a second scanner in the same state, in mid-stream too: for beam search, and for trying
  #          again from here. Feeding one scanner does not change the other. Both have the events that a block has not received and
  #          the thoughts that were not taken. Raises TypeError between chunks that are transcoded.
  # [Errors] Every method raises ClosedError after #close, and BusyError while another thread uses the scanner. Feeding may
  #          raise OutOfMemoryError, after which only #reset and #close can be called.
  class Scanner
    include Handle

    # The counts of one channel of a stream, frozen:
    #
    # +bytes+:: bytes of text; markers and framing are not counted
    # +characters+:: characters of text; in invalid UTF-8, the bytes that do not continue a character
    # +spans+:: spans opened
    # +tokens+:: tokens from #feed_tokens whose first byte is text of the channel
    # +lost_thoughts+:: for +:thinking+, the number of whole thoughts that were dropped since the scanner was made or last reset,
    # because 1,024
    #                   others were waiting for #take_thought; for other channels 0
    Counts = Struct.new(:bytes, :characters, :spans, :tokens, :lost_thoughts)

    # The size of the event array of a call.
    CAPACITY = 64
    # The number of bytes to read from an IO at a time.
    READ_SIZE = 16_384
    KINDS = Native::KIND
    TEXT = KINDS.index(:text)
    CHANNELS = Native::CHANNEL
    CAUSES = Native::CAUSE
    # The format that unpacks a number of events, by that number.
    UNPACK = (0..CAPACITY).map { |count| (Native::EVENT_TEXT * count).freeze }.freeze
    EVENT_FIELDS = 4
    # The offsets, in an event, of the fields that only some kinds have.
    CAUSE_AT = Native::EVENT_AT[:cause]
    RULE_AT = Native::EVENT_AT[:rule]
    TAG_AT = Native::EVENT_AT[:tag]
    NAME_AT = Native::EVENT_AT[:text_at]
    CALL_AT = Native::EVENT_AT[:call]
    TOKENS_AT = Native::EVENT_AT[:tokens]
    private_constant :CAPACITY, :READ_SIZE, :KINDS, :TEXT, :CHANNELS, :CAUSES, :UNPACK,
                     :EVENT_FIELDS, :CAUSE_AT, :RULE_AT, :TAG_AT, :NAME_AT, :CALL_AT, :TOKENS_AT

    # Makes a scanner at the start of a stream. +dialect+ is a Dialect or the name of one.
    #
    # +start+:: the span that is open at the first byte: nil (the dialect decides), +:content+, +:thinking+, +:narration+, +:tool+
    #           or +:header+
    # +collect+:: the largest number of bytes of whole thoughts to hold for #take_thought: text, types and attributes, of which each
    #             counts as at least 48. If a thought does not fit, attributes are dropped first, then the type, and then the end
    #             of the text. 0: thoughts are not collected
    # +budget+:: the limit of the thinking, beyond which a +:budget+ event is reported; nil: no limit
    # +budget_unit+:: the unit of the budget: +:bytes+ or +:characters+
    # +budget_scope+:: the text that the budget applies to: each +:span+, or all thinking of the +:stream+ together
    # +stray_close+:: the treatment of a closer of the thinking without an opener, after content: +:dialect+ (the
    #                 dialect decides), +:text+, for a host that is sure that its model does not think, or +:drop+ (only the closer
    #                 is removed), for a host whose prompt has ended the thinking
    # +leading_tags+:: how to read a tag think, thinking or thought at the beginning of a stream, where it is not the
    #                  dialect's own: +:dialect+ (it opens the thinking, in dialects of models), or +:text+, for a host that
    #                  asks for such a tag and looks for it itself
    # +calls+:: true: report tool calls with their names and arguments, as the kinds from +:call+ on, if the dialect says how
    #           they are written. Otherwise their bytes are text of the channel +:tool+
    # +calls_in_thinking+:: the treatment of a tool call that begins inside the thinking: +:dialect+ (the dialect decides
    #                       whether it ends the thinking, interrupts it, or is text of it), +:never+ (it is text), or +:always+ (the
    #                       dialect decides, and a rewriter reports the call at once)
    #
    # Raises UnknownDialectError for an unknown name, and OptionError for a start that the dialect does not have.
    def initialize(dialect, start: nil, collect: 0, budget: nil, budget_unit: :bytes, budget_scope: :span,
                   stray_close: :dialect, leading_tags: :dialect, calls: false, calls_in_thinking: :dialect)
      dialect = Dialect.of(dialect)
      @dialect = dialect.name
      options = [Native::SCANNER_OPTIONS_SIZE, Native.number("start", start, Native::START),
                 Native.number("stray_close", stray_close, Native::STRAY_CLOSE), Native.count("collect", collect),
                 Native.count("budget", budget || 0), budget ? 1 : 0,
                 Native.number("budget_unit", budget_unit, Native::BUDGET_UNIT),
                 Native.number("budget_scope", budget_scope, Native::BUDGET_SCOPE), calls ? 1 : 0,
                 Native.number("calls_in_thinking", calls_in_thinking, Native::CALLS_IN_THINKING),
                 Native.number("leading_tags", leading_tags, Native::LEADING_TAGS)]
                .pack(Native::SCANNER_OPTIONS_PACK)
      make_room
      @due = []
      @converter = nil
      @with_tokens = false
      @offset = 0
      own(Error.check_address(Native.aside_scanner_new(dialect.handle, options)), :aside_scanner_free)
      @open = @address
    end

    # Feeds the next chunk, and yields each Event that it decides. Returns the scanner. Without a block it feeds the chunk at
    # once as well, and returns an Enumerator over the events.
    #
    #   scanner.feed("<think>Twice 21.") { |event| puts event.kind }
    def feed(chunk)
      unless (event = text(chunk))
        take_in(chunk)
        return block_given? ? deliver { |pending| yield pending } : deliver
      end

      return [event].each unless defined?(yield) # like block_given?, but cheaper

      yield event
      self
    end

    # Feeds the next chunk, and yields channel and text of each piece of text that it decides, like #each_delta for a single
    # chunk. The text is valid UTF-8, never empty, and a new String. Returns the scanner. Without a block it feeds the chunk
    # at once as well, and returns an Enumerator over the pairs.
    #
    #   scanner.feed_deltas("It is 42.") { |channel, text| print text if channel == :content }
    def feed_deltas(chunk)
      unless defined?(yield)
        return feed(chunk).select { |event| event.kind == :text }.map { |event| [event.channel, +event.text] }.each
      end

      if (channel = feed_text(chunk))
        yield channel, chunk.scrub
      else
        take_in(chunk)
        deliver_deltas { |of, text| yield of, text }
      end
      self
    end

    # Feeds the next chunk if all of it is text of one channel, as most tokens are, and returns that channel. The chunk itself
    # is then the piece of text; if it may be invalid UTF-8, +scrub+ it. In every other case it feeds nothing and returns nil:
    # pass the same chunk to #feed or #feed_deltas, which also raise any error. This is the cheapest way to feed tokens: it
    # allocates nothing and calls no block.
    #
    #   if (channel = scanner.feed_text(chunk))
    #     print chunk if channel == :content
    #   else
    #     scanner.feed_deltas(chunk) { |channel, text| print text if channel == :content }
    #   end
    def feed_text(chunk)
      return unless chunk.instance_of?(String) && chunk.encoding == Encoding::UTF_8

      size = chunk.bytesize
      # There is no lock, so no method may end and no jump may be taken between this line and the library's function: see #text.
      if @due.empty?
        @offset = nil
        channel = Native.aside_scanner_feed_text(@open, chunk, size)
        CHANNELS[channel] if channel >= 0
      end
    end

    # Feeds pieces whose tokens are known: pairs of a token's text and whether it is one of the tokenizer's added tokens.
    # Markers that a dialect calls special then count only where such a token begins them, so that a marker typed as ordinary
    # text stays text. Event#tokens and Event#first_token say which tokens begin in an event, and #counts counts the tokens of each
    # channel. Feeds with and without tokens may be mixed. A token's text may cut a character if it is UTF-8 or BINARY. Returns the
    # result of #feed.
    #
    #   scanner.feed_tokens([["<think>", true], ["Twice", false], [" 21.", false], ["</think>", true]]) do |event|
    #     print event.text if event.channel == :thinking && event.kind == :text
    #   end
    def feed_tokens(tokens, &block)
      chunk, lengths = Native.tokens(tokens)
      exclusively do
        settle_rest
        @with_tokens = true
        settle(chunk, tokens: lengths)
      end
      deliver(&block)
    end

    # Sets the start of the next stream from +tail+, the end of the rendered prompt. Call it before the first chunk of the stream.
    # It reads the text after the dialect's last turn marker in +tail+ as if the model had written it, so the stream may start
    # inside a span or a header. The events of open spans are reported with the first chunk, at offset 0 and without bytes.
    # #finish, #reset and an empty tail restore the scanner's own start.
    #
    # Returns the span that is open then: +:content+, +:thinking+, +:narration+, +:tool+ or +:header+. An undecided marker at the
    # prompt's end opens no span: an incomplete marker, or an opener of a tool call that counts only if a call follows. If the
    # stream decides that the opener counts, the first event opens its span. Raises OrderError if the stream has begun.
    #
    #   scanner.start_from_prompt("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n")  # => :thinking
    def start_from_prompt(tail)
      tail = Native.utf8(tail)
      exclusively do
        raise OrderError, "the stream has begun" if @converter

        out = Native.buffer(4)
        Error.check(Native.aside_scanner_start_from_prompt(address, tail, tail.bytesize, out))
        Native::START.key(out.unpack1("L"))
      end
    end

    # Returns the start of the current stream, or of the next one, which the prompt, the options or else the dialect determine. See
    # #start_guessed?.
    def start
      Native::START.key(starts.first)
    end

    # Returns whether #start is only the dialect's guess that its models start in the thinking, which neither a prompt nor the
    # options have confirmed.
    def start_guessed?
      starts.last == 1
    end

    # Sets the reason why the stream ends: +:ended+ if the model ended its answer (<tt>"finish_reason": "stop"</tt>), +:cut_off+ if
    # a limit or an error ended it, or +:unknown+. Set it before #finish, which clears it, as #reset does.
    #
    # The reason matters if the stream was only guessed to start in the thinking. If the model ended its answer, and the text has
    # neither a closer nor an opener of the thinking, the thinking was the answer: #finish then yields a +:reclassify+ event with
    # the channel +:content+, before the span is closed.
    #
    #   scanner.end_reason = :ended
    #   scanner.finish { |event| answer = thoughts if event.kind == :reclassify && event.channel == :content }
    def end_reason=(reason)
      exclusively do
        Error.check(Native.aside_scanner_end_reason(address, Native.number("end_reason", reason, Native::END_REASON)))
      end
    end

    # Ends the stream: decides the held bytes, closes the open spans, and yields their events. The next chunk begins a new stream.
    # Returns the result of #feed.
    #
    #   scanner.finish { |event| print event.text if event.kind == :text }
    def finish(&block)
      exclusively do
        settle_end(:aside_scanner_finish_into)
        @with_tokens = false
      end
      deliver(&block)
    end

    # Yields the held bytes as text of their channel. The stream continues. Use it if the host must show everything now: a marker of
    # which a part was flushed is no longer recognised. Returns the result of #feed.
    def flush(&block)
      exclusively { settle_end(:aside_scanner_flush_into) }
      deliver(&block)
    end

    # Closes the open thinking span: yields the held bytes as text, and a +:close+ event with the cause +:forced+. If the
    # innermost span is not thinking, nothing happens. A closer that follows, with only blanks before it, is removed. Use it to end
    # thinking that has become too long. Returns the result of #feed.
    #
    #   scanner.feed(chunk) { |event| over = true if event.kind == :budget }
    #   scanner.force_close { |event| print event.text if event.kind == :text } if over
    def force_close(&block)
      exclusively { settle_end(:aside_scanner_force_close_into) }
      deliver(&block)
    end

    # Scans a whole stream, from an Enumerable of Strings or from an IO (read as it arrives), finishes it, and yields channel
    # and text of each piece of text. The text is valid UTF-8, never empty, and a new String. Returns the scanner. Without a
    # block it returns a lazy Enumerator over the pairs.
    #
    #   scanner.each_delta(socket) { |channel, text| print text if channel == :content }
    #
    # If the block breaks, the stream is not finished: continue with the rest of the source, or #reset. Raises TypeError for
    # another kind of source.
    def each_delta(source)
      return Enumerator.new { |pairs| each_delta(source) { |channel, text| pairs << [channel, text] } } unless block_given?

      each_chunk(source) { |chunk| feed_deltas(chunk) { |channel, text| yield channel, text } }
      finish { |event| yield event.channel, +event.text if event.kind == :text }
    end

    # Removes and returns the oldest Thought that has ended; nil if none is waiting. For a scanner with +collect+.
    #
    #   while (thought = scanner.take_thought)
    #     puts thought.text
    #   end
    def take_thought
      exclusively do
        text, text_len, offset, cause, truncated, typed, sure, type, type_len, confidence, count =
          Native.filled(Native::THOUGHT_SIZE, Native::THOUGHT_UNPACK) do |out|
            Error.check(Native.aside_scanner_take_thought(address, out)) == Native::OK
          end
        next unless text

        Thought.new(text: Native.text(text, text_len), offset: offset, cause: CAUSES[cause], truncated: truncated == 1,
                    thought_type: typed == 1 ? Native.text(type, type_len) : nil,
                    confidence: sure == 1 ? confidence : nil, attributes: attributes(count))
      end
    end

    # Returns the Counts of a channel so far. After #finish they are those of the finished stream, until another begins. Held bytes
    # are not counted yet. Raises ArgumentError for a channel that does not exist.
    #
    #   scanner.counts(:thinking).tokens
    #
    # If a finished stream has bytes of thinking, and none of content or tool calls, then the whole answer was thinking: the
    # model broke off, or thinking was off although the stream started inside it. A host that knows that the thinking was off can
    # show the text.
    def counts(channel)
      counts = exclusively { Native.counts(channel) { |number, out| Native.aside_scanner_counts(address, number, out) } }
      Counts.new(*counts).freeze
    end

    # Drops the stream: held bytes, events that a block has not received, thoughts that were not taken, and every error but
    # DefectError. The next chunk begins a new stream. Returns the scanner.
    def reset
      exclusively do
        Error.check(Native.aside_scanner_reset(address))
        @due.clear
        @converter = nil
        @with_tokens = false
      end
      self
    end

    # Returns the number of bytes that are held back now, because they could still become part of a marker or complete a character.
    def held
      exclusively { Native.aside_scanner_held(address) }
    end

    # Returns the largest number of bytes that this scanner holds back.
    def max_hold
      exclusively { Native.aside_scanner_max_hold(address) }
    end

    # Returns the offset in the stream of the next byte to be fed.
    def offset
      exclusively { Native.aside_scanner_offset(address) }
    end

    # Frees the scanner at once, without waiting for Ruby to collect it. Held bytes are lost: call #finish first to get them. May be
    # called again; every other method then raises ClosedError. Returns nil.
    def close
      exclusively { Native.aside_scanner_free(disown) unless closed? }
      nil
    end

    # Until here the copy shares the original's lock and address, which another thread may free at the next method end. So the
    # copied address is cleared first, and the clone is made while the original's lock is held.
    def initialize_copy(other) # :nodoc:
      @address = nil
      @open = 0
      ObjectSpace.undefine_finalizer(self) if @finalized
      exclusively do
        @converter = other.converter
        raise TypeError, "a scanner cannot be copied between chunks of #{@converter.source_encoding}" if @converter

        own(Error.check_address(Native.aside_scanner_clone(other.address)), :aside_scanner_free)
        @due = other.due.dup
        @with_tokens = other.with_tokens
      end
      make_room
    end

    # Feeds a chunk through the event array. Its events become pending.
    def take_in(chunk) # :nodoc:
      chunk = Native.string(chunk) # outside the lock: it may run code of the caller
      exclusively { settle(utf8(chunk)) }
    end

    # Yields channel and text of the pending pieces of text.
    def deliver_deltas # :nodoc:
      deliver { |event| yield event.channel, +event.text if event.kind == :text }
    end

    protected

    attr_reader :converter, :due, :with_tokens # :nodoc:

    private

    # Returns the start of the stream and whether that is guessed, as numbers.
    def starts
      exclusively do
        start = Native.buffer(4)
        guessed = Native.buffer(4)
        Error.check(Native.aside_scanner_start(address, start, guessed))
        [start.unpack1("L"), guessed.unpack1("L")]
      end
    end

    def described
      @dialect
    end

    # @open is the scanner's address for the methods without a lock. It is 0 while a thread uses the scanner, and while part of a
    # transcoded character is pending: the library then gets NULL and reads no text.
    def exclusively
      super do
        @open = 0
        yield
      ensure
        @open = @address && !@converter ? stand : 0
      end
    end

    # Feeds a chunk if it is plain text, and returns its event; returns nil if it is not, or if the offset is not known.
    #
    # There is no lock. Ruby switches threads and raises interrupts only where a method or block ends (the library's functions
    # too) and at a jump that is taken. Neither occurs between reading @offset and entering the library. If another thread runs when
    # that call ends, it sets @offset to a different value, which this method then does not overwrite.
    def text(chunk)
      return unless chunk.instance_of?(String) && chunk.encoding == Encoding::UTF_8

      size = chunk.bytesize
      if @due.empty? && (at = @offset)
        @offset = false
        channel = Native.aside_scanner_feed_text(@open, chunk, size)
        if channel >= 0
          @offset = at + size if @offset == false
          Event.new(CHANNELS[channel], at, chunk * 1, nil) # the cheapest way to copy
        end
      end
    end

    # Makes the objects that two scanners must not share. @events is too large to be embedded and moved, so @array may point to it.
    def make_room
      @lock = Lock.new
      @events = Native.buffer(CAPACITY * Native::EVENT_SIZE)
      @array = [Native::EVENT_ARRAY_SIZE, @events, Native::EVENT_SIZE, CAPACITY, 0, 0, 0, nil, 0, nil, 0]
               .pack(Native::EVENT_ARRAY_PACK)
    end

    # Stores the offset in @offset, and returns the address for @open. In a stream with tokens it stores nothing, because each event
    # must then have the number of tokens before it.
    def stand
      @offset = @with_tokens ? nil : Native.aside_scanner_offset(@address)
      @address
    end

    def deliver
      unless block_given?
        events = @due
        @due = []
        return events.each
      end

      while (event = @due.shift)
        yield event
      end
      self
    end

    def settle_end(ending)
      settle_rest
      settle("", ending: ending)
    end

    def settle_rest
      rest = converted_rest
      settle(rest) unless rest.empty?
    end

    # Appends the events of a chunk, or of the end, to the pending ones. +tokens+ has the length and the mark of each token.
    def settle(chunk, ending: nil, tokens: nil)
      while true
        status = if ending
                   Native.public_send(ending, address, @array)
                 elsif tokens
                   list = tokens.pack("L*")
                   Native.aside_scanner_feed_tokens_into(address, chunk, chunk.bytesize, list, tokens.size / 2, @array)
                 else
                   Native.aside_scanner_feed_into(address, chunk, chunk.bytesize, @array)
                 end
        Error.check(status) if status.negative?
        take(chunk)
        return unless status == Native::MORE

        next if ending

        consumed = @array.unpack1(Native::EVENT_ARRAY_CONSUMED)
        chunk = chunk.byteslice(consumed, chunk.bytesize)
        tokens &&= remaining_tokens(tokens, consumed)
      end
    end

    # Returns the tokens that are not completely consumed, the first of them with its remaining length.
    def remaining_tokens(tokens, consumed)
      at = 0
      while at < tokens.size && tokens[at] <= consumed
        consumed -= tokens[at]
        at += 2
      end
      left = tokens.drop(at)
      left[0] -= consumed if consumed.positive?
      left
    end

    # Turns the event array into pending events.
    def take(chunk)
      count, start = @array.unpack(Native::EVENT_ARRAY_COUNT_OFFSET)
      return if count.zero?

      # Most feeds are one piece of text and nothing else.
      if count == 1 && !@with_tokens
        kind, channel, offset, len = @events.unpack(Native::EVENT_TEXT)
        if kind == TEXT && offset >= start
          return @due << Event.new(CHANNELS[channel], offset, chunk.byteslice(offset - start, len), nil)
        end
      end

      fields = @events.unpack(UNPACK[count])
      count.times do |index|
        kind, channel, offset, len = fields[index * EVENT_FIELDS, EVENT_FIELDS]
        kind = KINDS[kind] or next
        raw = offset >= start ? chunk.byteslice(offset - start, len) : held_back(chunk, start - offset, len)
        at = index * Native::EVENT_SIZE
        said = said(kind, raw, at) if kind != :text || @with_tokens
        said[:tokens], said[:first_token] = @events.unpack("@#{at + TOKENS_AT}#{Native::EVENT_TOKENS}") if @with_tokens
        @due << Event.new(CHANNELS[channel], offset, raw, said)
      end
    end

    # Returns the bytes of an event that begins +back+ bytes before the chunk.
    def held_back(chunk, back, len)
      at, held = @array.unpack(Native::EVENT_ARRAY_HELD)
      return Native.text(at + held - back, len) if len <= back

      Native.text(at + held - back, back) << chunk.byteslice(0, len - back)
    end

    # Returns the values that only some kinds of events have; +at+ is the event's place in the array.
    def said(kind, raw, at)
      case kind
      when :open, :call
        rule, tag, call = @events.unpack("@#{at + RULE_AT}#{Native::EVENT_RULE_TAG_CALL}")
        { kind: kind, rule: rule, tag: tag, call: (call if kind == :call) }
      when :close
        { kind: kind, cause: cause(at) }
      when :call_end
        { kind: kind, cause: cause(at), call: @events.unpack1("@#{at + CALL_AT}L"), repaired: repaired(at) }
      when :call_value_end
        { kind: kind, repaired: repaired(at) }
      when :call_name
        name_at, _, name_len = @events.unpack("@#{at + NAME_AT}#{Native::EVENT_NAME_VALUE}")
        { kind: kind, name: name_len.zero? ? raw : Native.text(attributes_at + name_at, name_len) }
      when :attribute
        name_at, name_len, value_len = @events.unpack("@#{at + NAME_AT}#{Native::EVENT_NAME_VALUE}")
        name_at += attributes_at
        { kind: kind, name: Native.text(name_at, name_len), value: Native.text(name_at + name_len, value_len) }
      else
        { kind: kind }
      end
    end

    # Returns the cause of the event at this place in the array.
    def cause(at)
      CAUSES[@events.unpack1("@#{at + CAUSE_AT}L")]
    end

    # Returns whether the value or call that ends with the event at this place in the array was repaired.
    def repaired(at)
      @events.unpack1("@#{at + TAG_AT}L") == 1
    end

    # Returns the beginnings of the texts of attributes.
    def attributes_at
      @array.unpack1(Native::EVENT_ARRAY_ATTRIBUTES)
    end

    # Returns the attributes of the thought that was taken last.
    def attributes(count)
      count.times.with_object({}) do |index, attributes|
        name, name_len, value, value_len = Native.filled(Native::ATTRIBUTE_SIZE, Native::ATTRIBUTE_UNPACK) do |out|
          Error.check(Native.aside_scanner_thought_attribute(address, index, out))
        end
        name = Native.text(name, name_len).scrub.freeze
        attributes[name] ||= Native.text(value, value_len).scrub.freeze
      end
    end

    # Returns a chunk, which it may change, as UTF-8, after the rest of the previous chunk if the encoding is a different one.
    def utf8(chunk)
      return chunk if chunk.encoding == Encoding::UTF_8 && !@converter
      return "" if chunk.empty?

      encoding = chunk.encoding
      case encoding
      when Encoding::UTF_8, Encoding::BINARY, Encoding::US_ASCII
        chunk.force_encoding(Encoding::UTF_8)
        @converter ? converted_rest << chunk : chunk
      else
        transcode(chunk)
      end
    end

    def transcode(chunk)
      rest = +""
      unless @converter && @converter.source_encoding == chunk.encoding
        converter = Encoding::Converter.new(chunk.encoding, Encoding::UTF_8, invalid: :replace, undef: :replace)
        rest = converted_rest
        @converter = converter
      end
      # A copy of the bytes, because with a +dup+ of wide characters Ruby 3.1 writes past the end.
      rest << @converter.convert(chunk.b.force_encoding(chunk.encoding))
    end

    # Returns the result for the incomplete end of a chunk in another encoding.
    def converted_rest
      converter = @converter
      @converter = nil
      converter ? converter.finish : +""
    end

    def each_chunk(source, &block)
      if source.respond_to?(:readpartial)
        # readpartial returns BINARY; the IO knows the encoding.
        encoding = source.external_encoding if source.respond_to?(:external_encoding)
        while (chunk = read(source))
          yield encoding ? chunk.force_encoding(encoding) : chunk
        end
      elsif source.respond_to?(:each)
        source.each(&block)
      else
        raise TypeError, "deltas come from an Enumerable of Strings or from an IO, not from #{source.class}"
      end
    end

    # A separate method, so that an EOFError from the caller's block is not mistaken for the end of the source.
    def read(io)
      io.readpartial(READ_SIZE)
    rescue EOFError
      nil
    end
  end
end
