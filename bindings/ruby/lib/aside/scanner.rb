# frozen_string_literal: true

module Aside
  # Splits one stream into events while it arrives, in chunks cut anywhere. However it is cut, the text of each channel,
  # the spans and the attributes are the same.
  #
  #   scanner = Aside::Scanner.new("qwen3")
  #   ["<thi", "nk>\nTwice 21.\n</think>\n", "\nIt is 42."].each do |chunk|
  #     scanner.feed(chunk) { |event| print event.text if event.kind == :text && event.channel == :content }
  #   end
  #   scanner.finish { |event| print event.text if event.kind == :text && event.channel == :content }
  #
  # Chunks. UTF-8 and BINARY Strings are bytes and taken as they are, torn characters and invalid ones too. Chunks of
  # another encoding are transcoded to UTF-8, and may be torn inside a character as well; what has no counterpart
  # becomes U+FFFD. Offsets count bytes of the UTF-8 stream. Nobody may change a chunk while it is fed, which another thread
  # or a signal's handler could.
  #
  # Blocks. Events are settled in one call of the library, and then given to the block. Where the block raises or
  # breaks, what it had not been given yet comes first in the next call. A block may feed its own scanner. What a signal or
  # another thread raises into a call outside the block, as Timeout may, can lose what the call was about to give: the
  # scanner can be used on, and #offset says how much it has taken.
  #
  # Threads. One thread at a time may use a scanner (another gets a BusyError, and nothing has changed), whichever that
  # is; different scanners share nothing. A Ractor makes its own, as a scanner is neither copied nor moved to one, and
  # closes it: only what the main Ractor has made is freed by garbage collection too.
  #
  # Copies. +dup+ and +clone+ make a second scanner in the same state, in mid-stream too: for beams, and for trying again
  # from here. What is fed to one does not change the other; what a block had not been given yet, and thoughts that were
  # not taken, are in both. After a chunk in an encoding that is transcoded there are none: TypeError.
  class Scanner
    include Handle

    # What a channel has had of a stream: +bytes+ and +characters+ of its text (markers and framing count nowhere; of
    # invalid UTF-8, the bytes that do not continue a character), +spans+ that were opened, and +tokens+ whose first byte
    # is its text, of those from #feed_tokens. Frozen.
    Counts = Struct.new(:bytes, :characters, :spans, :tokens)

    # How many events fit into one call.
    CAPACITY = 64
    # How many bytes are asked of an IO at a time.
    READ_SIZE = 16_384
    KINDS = [nil, :open, :attribute, :text, :framing, :close, :reclassify, :budget].freeze
    TEXT = KINDS.index(:text)
    CHANNELS = %i[content thinking narration tool].freeze
    CAUSES = %i[marker implied end_of_stream forced].freeze
    UNITS = { bytes: 0, characters: 1 }.freeze
    SCOPES = { span: 0, stream: 1 }.freeze
    # What unpacks so many events, for each number of them.
    UNPACK = (0..CAPACITY).map { |count| (Native::EVENT * count).freeze }.freeze
    EVENT_FIELDS = 4
    private_constant :CAPACITY, :READ_SIZE, :KINDS, :TEXT, :CHANNELS, :CAUSES, :UNITS, :SCOPES, :UNPACK,
                     :EVENT_FIELDS

    # A scanner at the start of a stream. +dialect+ is a Dialect or the name of one.
    #
    # +start+:: what is open at the first byte, where that is not what the dialect says: +:content+, +:thinking+,
    #           +:narration+, +:tool+ or +:header+
    # +collect+:: collect whole thoughts for #take_thought: the most bytes of them to hold at a time, text, types and
    #             attributes, of which each counts as 48 at least; what has no room is cut off, the text last; 0 is off
    # +budget+:: the most thinking before a +:budget+ event; nil is without an end
    # +budget_unit+:: what it counts: +:bytes+ or +:characters+
    # +budget_scope+:: what has it: each +:span+, or all thinking of the +:stream+ together
    # +stray_close+:: what becomes of a closer of the thinking without an opener, after content: what the +:dialect+ says, or
    #                 +:text+, for a host that is sure that its model does not think
    def initialize(dialect, start: nil, collect: 0, budget: nil, budget_unit: :bytes, budget_scope: :span,
                   stray_close: :dialect)
      dialect = Dialect.of(dialect)
      options = [Native::OPTIONS_SIZE, Native.number("start", start, Native::STARTS),
                 Native.number("stray_close", stray_close, Native::STRAY_CLOSES), Native.count("collect", collect),
                 Native.count("budget", budget || 0), budget ? 1 : 0, Native.number("budget_unit", budget_unit, UNITS),
                 Native.number("budget_scope", budget_scope, SCOPES), 0].pack(Native::OPTIONS)
      make_room
      @due = []
      @converter = nil
      @offset = 0
      own(Error.check_address(Native.aside_scanner_new(dialect.handle, options)), :aside_scanner_free)
      @open = @address
    end

    # Feeds the next chunk, and yields each Event that it settles. Returns the scanner; without a block an Enumerator
    # over the events, which are settled at once all the same.
    def feed(chunk)
      unless (event = text(chunk))
        take_in(chunk)
        return block_given? ? deliver { |event| yield event } : deliver
      end

      return [event].each unless defined?(yield) # as block_given?, but cheaper

      yield event
      self
    end

    # Feeds the next chunk, and yields channel and text of each piece of text that it settles: what #each_delta yields,
    # for chunks that come one by one. Returns the scanner; without a block an Enumerator of such pairs, which are settled
    # at once all the same.
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
        deliver_deltas { |channel, text| yield channel, text }
      end
      self
    end

    # Feeds the next chunk if all of it is text of one channel and nothing else happens, as with most tokens, and returns
    # that channel: the chunk itself is the piece of text (where it may be invalid UTF-8, +scrub+ it). Otherwise nothing
    # is fed, and nil says that the same chunk is for #feed or #feed_deltas; also where something is wrong, and for chunks
    # that are no UTF-8. The cheapest way to feed tokens: nothing is allocated and no block called.
    #
    #   if (channel = scanner.feed_text(chunk))
    #     print chunk if channel == :content
    #   else
    #     scanner.feed_deltas(chunk) { |channel, text| print text if channel == :content }
    #   end
    def feed_text(chunk)
      return unless chunk.instance_of?(String) && chunk.encoding == Encoding::UTF_8

      size = chunk.bytesize
      # No lock, and no jump from here into the library: see #text.
      if @due.empty?
        @offset = nil
        channel = Native.aside_scanner_feed_text(@open, chunk, size)
        CHANNELS[channel] if channel >= 0
      end
    end

    # Feeds pieces whose tokens are known: pairs of a token's text and whether it is one of the tokenizer's added tokens.
    # Markers that a dialect calls special then count only where such a token begins them, so that a marker typed as
    # ordinary text stays text, and #counts tells the tokens of each channel. Feeds with and without tokens may be mixed.
    # A text may be torn inside a character, if it is UTF-8 or BINARY. Returns as #feed.
    #
    #   scanner.feed_tokens([["<think>", true], ["Twice", false], [" 21.", false], ["</think>", true]]) do |event|
    #     print event.text if event.channel == :thinking && event.kind == :text
    #   end
    def feed_tokens(tokens, &block)
      chunk = +""
      lengths = tokens.flat_map do |text, special|
        text = Native.utf8(text)
        chunk << text
        [text.bytesize, special ? 1 : 0]
      end
      exclusively do
        settle_rest
        settle(chunk, tokens: lengths)
      end
      deliver(&block)
    end

    # Says where the next stream starts, before its first chunk: behind a rendered prompt that ends in +tail+. What stands
    # there behind the dialect's last turn marker is read as if the model had written it, so that the stream may start
    # inside a span or a header. Spans that are open open at offset 0, without bytes, with the first chunk. #finish and
    # #reset go back to the scanner's own start; so does an empty tail.
    #
    # Returns what is open then: +:content+, +:thinking+, +:narration+, +:tool+ or +:header+. Raises OrderError where the
    # stream has begun.
    #
    #   scanner.start_from_prompt("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n")  # => :thinking
    def start_from_prompt(tail)
      tail = Native.utf8(tail)
      exclusively do
        raise OrderError, "the stream has begun" if @converter

        out = Native.buffer(4)
        Error.check(Native.aside_scanner_start_from_prompt(address, tail, tail.bytesize, out))
        Native::STARTS.key(out.unpack1("L"))
      end
    end

    # Ends the stream: yields what settles what is held back and closes what is open. The scanner is then as new.
    # Returns as #feed.
    def finish(&block)
      exclusively { settle_end(:aside_scanner_finish_into) }
      deliver(&block)
    end

    # Yields what is held back as text of its channel, and keeps the state: the stream goes on. A marker of which a part
    # was flushed is no marker any more. Returns as #feed.
    def flush(&block)
      exclusively { settle_end(:aside_scanner_flush_into) }
      deliver(&block)
    end

    # Closes the thinking that is open: yields what is held back as text, and a +:close+ of the cause +:forced+. Where the
    # innermost span is no thinking, nothing happens. A closer that comes next, with only blanks before it, is removed.
    # For a host that ends a thinking which has become too long. Returns as #feed.
    def force_close(&block)
      exclusively { settle_end(:aside_scanner_force_close_into) }
      deliver(&block)
    end

    # Scans a whole stream, from an Enumerable of Strings or from an IO (read as it comes), finishes it, and yields
    # channel and text of each piece of text. The text is valid UTF-8, never empty, and the caller's own. Returns the
    # scanner; without a block an Enumerator of such pairs, which reads as it is asked.
    #
    #   scanner.each_delta(socket) { |channel, text| print text if channel == :content }
    #
    # Where the block breaks, the stream is not at its end: go on with the rest of the source, or #reset.
    def each_delta(source)
      unless block_given?
        return Enumerator.new { |pairs| each_delta(source) { |channel, text| pairs << [channel, text] } }
      end

      each_chunk(source) { |chunk| feed_deltas(chunk) { |channel, text| yield channel, text } }
      finish { |event| yield event.channel, +event.text if event.kind == :text }
    end

    # The oldest Thought that has ended and was not taken yet; nil where there is none. For a scanner that collects.
    def take_thought
      exclusively do
        out = [Native::THOUGHT_SIZE].pack("J").ljust(Native::THOUGHT_SIZE, "\0")
        next if Error.check(Native.aside_scanner_take_thought(address, out)) == Native::NONE

        _, text, text_len, offset, cause, truncated, typed, sure, type, type_len, confidence, attributes, count =
          out.unpack(Native::THOUGHT)
        Thought.new(text: Native.text(text, text_len), offset: offset, cause: CAUSES[cause], truncated: truncated == 1,
                    thought_type: typed == 1 ? Native.text(type, type_len) : nil,
                    confidence: sure == 1 ? confidence : nil, attributes: attributes(attributes, count))
      end
    end

    # How many thoughts were lost since the start or the last #reset, because 1,024 were waiting.
    def lost_thoughts
      exclusively { Native.aside_scanner_lost_thoughts(address) }
    end

    # How much of a channel's text was settled since the stream began, as Counts; of the stream that was finished last,
    # until another begins. What is held back counts when it is settled.
    #
    # After #finish, bytes of thinking and none of content or tool calls are an answer that was thinking to its end: the model
    # broke off, or the stream was started in the thinking although that was off. A host that knows it was off can show it.
    #
    #   scanner.counts(:thinking).tokens
    def counts(channel)
      channel = CHANNELS.index(channel) or
        raise ArgumentError, "channel is one of #{CHANNELS}, not #{channel.inspect}"
      out = [Native::COUNTS_SIZE].pack("J").ljust(Native::COUNTS_SIZE, "\0")
      exclusively { Error.check(Native.aside_scanner_counts(address, channel, out)) }
      Counts.new(*out.unpack(Native::COUNTS)).freeze
    end

    # Drops everything, also what a block had not been given yet, and makes the scanner as new. Returns the scanner.
    def reset
      exclusively do
        Error.check(Native.aside_scanner_reset(address))
        @due.clear
        @converter = nil
      end
      self
    end

    # How many bytes are held back now, because they may still become part of a marker or of a character.
    def held
      exclusively { Native.aside_scanner_held(address) }
    end

    # The most bytes that this scanner holds back for what may come.
    def max_hold
      exclusively { Native.aside_scanner_max_hold(address) }
    end

    # The offset in the stream of the next byte to be fed.
    def offset
      exclusively { Native.aside_scanner_offset(address) }
    end

    # Frees the scanner now, and not when Ruby collects it. What it held back is lost: #finish first. May be called
    # again; anything else then raises ClosedError.
    def close
      exclusively { Native.aside_scanner_free(disown) unless closed? }
      nil
    end

    # What both have until here is the first one's: its lock, and what another may free as soon as Ruby lets it in.
    def initialize_copy(other) # :nodoc:
      @address = nil
      @open = 0
      ObjectSpace.undefine_finalizer(self) if @finalized
      exclusively do
        @converter = other.converter
        raise TypeError, "a scanner cannot be copied between chunks of #{@converter.source_encoding}" if @converter

        own(Error.check_address(Native.aside_scanner_clone(other.address)), :aside_scanner_free)
        @due = other.due.dup
      end
      make_room
    end

    # Feeds a chunk the long way: what it settles is due.
    def take_in(chunk) # :nodoc:
      chunk = Native.string(chunk) # outside, for it may be the caller's code
      exclusively { settle(utf8(chunk)) }
    end

    # Yields channel and text of what is due.
    def deliver_deltas # :nodoc:
      deliver { |event| yield event.channel, +event.text if event.kind == :text }
    end

    protected

    attr_reader :converter, :due # :nodoc:

    private

    # The short way is open where nobody is inside, and no chunk is torn that is to be transcoded. To the library no
    # scanner is one that takes no text.
    def exclusively
      super do
        @open = 0
        yield
      ensure
        @open = @address && !@converter ? stand : 0
      end
    end

    # The event of a chunk that #feed_text takes; nil where it does not, and where nobody knows where it stands.
    #
    # There is no lock: Ruby lets other threads run, and interrupts, at the end of a method or block, of the library's
    # functions too, and at a jump that is taken. From the look at @offset into the library there is neither. Who comes in
    # at its end leaves @offset another one.
    def text(chunk)
      return unless chunk.instance_of?(String) && chunk.encoding == Encoding::UTF_8

      size = chunk.bytesize
      if @due.empty? && (at = @offset)
        @offset = false
        channel = Native.aside_scanner_feed_text(@open, chunk, size)
        if channel >= 0
          @offset = at + size if @offset == false
          Event.new(CHANNELS[channel], at, chunk * 1, nil) # the cheapest copy there is
        end
      end
    end

    # What no two scanners may share.
    def make_room
      @lock = Lock.new
      @events = Native.buffer(CAPACITY * Native::EVENT_SIZE)
      @fed = Native.buffer(Native::FED_SIZE)
    end

    # Where the stream stands, and the way in.
    def stand
      @offset = Native.aside_scanner_offset(@address)
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

    # Puts the events that a chunk or the end settles behind those that are due. +tokens+ are length and mark of each.
    def settle(chunk, ending: nil, tokens: nil)
      while true
        status = if ending
                   Native.public_send(ending, address, @events, CAPACITY, Native::EVENT_SIZE, @fed)
                 elsif tokens
                   list = tokens.pack("L*")
                   Native.aside_scanner_feed_tokens_into(address, chunk, chunk.bytesize, list, tokens.size / 2,
                                                         @events, CAPACITY, Native::EVENT_SIZE, @fed)
                 else
                   Native.aside_scanner_feed_into(address, chunk, chunk.bytesize,
                                                  @events, CAPACITY, Native::EVENT_SIZE, @fed)
                 end
        Error.check(status) if status.negative?
        take(chunk)
        return unless status == Native::MORE

        next if ending

        consumed = @fed.unpack1(Native::FED_CONSUMED)
        chunk = chunk.byteslice(consumed, chunk.bytesize)
        tokens &&= tokens_behind(tokens, consumed)
      end
    end

    # The tokens that are not wholly done, the first with the length that is left of it.
    def tokens_behind(tokens, consumed)
      at = 0
      while at < tokens.size && tokens[at] <= consumed
        consumed -= tokens[at]
        at += 2
      end
      left = tokens.drop(at)
      left[0] -= consumed if consumed.positive?
      left
    end

    # Reads the event array.
    def take(chunk)
      count, start = @fed.unpack(Native::FED)
      return if count.zero?

      # Most feeds are one piece of text and nothing else.
      if count == 1
        kind, channel, offset, len = @events.unpack(Native::EVENT)
        return @due << Event.new(CHANNELS[channel], offset, chunk.byteslice(offset - start, len), nil) if kind == TEXT && offset >= start
      end

      fields = @events.unpack(UNPACK[count])
      count.times do |index|
        kind, channel, offset, len = fields[index * EVENT_FIELDS, EVENT_FIELDS]
        kind = KINDS[kind] or next
        raw = offset >= start ? chunk.byteslice(offset - start, len) : held_back(chunk, start - offset, len)
        @due << event(kind, CHANNELS[channel], offset, raw, index * Native::EVENT_SIZE)
      end
    end

    # The bytes of an event that begins so many bytes before the chunk.
    def held_back(chunk, back, len)
      at, held = @fed.unpack(Native::FED_HELD)
      return Native.text(at + held - back, len) if len <= back

      Native.text(at + held - back, back) << chunk.byteslice(0, len - back)
    end

    # +at+ is where the event begins in the array.
    def event(kind, channel, offset, raw, at)
      case kind
      when :open
        rule, tag = @events.unpack("@#{at + Native::EVENT_RULE_AT}#{Native::EVENT_RULE_TAG}")
        Event.new(channel, offset, raw, { kind: kind, rule: rule, tag: tag })
      when :close
        Event.new(channel, offset, raw, { kind: kind, cause: CAUSES[@events.unpack1("@#{at + Native::EVENT_CAUSE_AT}L")] })
      when :attribute
        name_at, name_len, value_len = @events.unpack("@#{at + Native::EVENT_ATTRIBUTE_AT}#{Native::EVENT_ATTRIBUTE}")
        name_at += @fed.unpack1(Native::FED_ATTRIBUTES)
        name = Native.text(name_at, name_len)
        value = Native.text(name_at + name_len, value_len)
        Event.new(channel, offset, "", { kind: kind, name: name, value: value })
      else
        Event.new(channel, offset, raw, { kind: kind })
      end
    end

    def attributes(at, count)
      all = Native.text(at, count * Native::ATTRIBUTE_SIZE).unpack(Native::ATTRIBUTE * count)
      all.each_slice(4).with_object({}) do |(name, name_len, value, value_len), attributes|
        name = Native.text(name, name_len).scrub.freeze
        attributes[name] ||= Native.text(value, value_len).scrub.freeze
      end
    end

    # A chunk that is nobody else's as UTF-8, behind what is left of a chunk in another encoding.
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
      # A copy of its bytes: with one that +dup+ has made of wide characters, Ruby 3.1 writes behind the end.
      rest << @converter.convert(chunk.b.force_encoding(chunk.encoding))
    end

    # What the torn end of a chunk in another encoding comes to.
    def converted_rest
      converter = @converter
      @converter = nil
      converter ? converter.finish : +""
    end

    def each_chunk(source, &block)
      if source.respond_to?(:readpartial)
        # Bytes without a name for their encoding; the IO knows it.
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

    # Apart, so that an EOFError of the caller's block is not taken for the end.
    def read(io)
      io.readpartial(READ_SIZE)
    rescue EOFError
      nil
    end
  end
end
