# frozen_string_literal: true

module Aside
  # Reads the text of a model while it arrives, in chunks of any size, and returns its parts: the thinking, the content, and the
  # tool calls with their arguments as JSON, without markers. Every byte of the text is in exactly one part, in a call that is
  # reported, or is a marker or framing around these: text that turns out not to be a call is content, in its place. Chunking does
  # not change the result.
  #
  #   answer = Aside::Answer.new("qwen3", tools: '[{"name": "add"}]')
  #   show = lambda do |part|
  #     case part.kind
  #     when :content, :arguments then print part.text
  #     when :call then print part.name, " "
  #     end
  #   end
  #   ["<think>Twice 21.</think>Let me add. <tool_c", 'all>{"name": "add", "arguments": {"a": 40}}</tool_call>'].each do |chunk|
  #     answer.feed(chunk, &show)
  #   end
  #   answer.finish(:ended, &show)
  #
  # [Chunks] UTF-8 and BINARY Strings are read as bytes, and may contain cut or invalid characters. Chunks of another encoding are
  #          transcoded to UTF-8, and must not cut a character.
  # [Blocks] A call first collects its parts, and then yields them; without a block it returns them as an Array. If the block raises
  #          or breaks, the next call begins with the parts that the block has not received. A block may feed its own answer.
  # [Threads] One thread at a time may use an answer; a second thread gets a BusyError, and nothing has changed. Answers share no
  #           state. An answer stays in the Ractor that made it; in a Ractor other than the main one, call #close. An exception from
  #           outside the block, such as that of Timeout, can lose the parts of a call.
  # [Errors] Every method raises ClosedError after #close. Feeding may raise OutOfMemoryError, after which only #reset and #close
  #          can be called.
  class Answer
    include Handle

    # Makes an answer of a model that writes a dialect. +dialect+ is a Dialect or the name of one.
    #
    #--
    # Generated from src/ffi by tests/header: do not edit.
    #++
    # +start+:: The span that is open at the first byte. One of nil, +:content+, +:thinking+, +:narration+, +:tool+, +:header+,
    #           +:calls+.
    # +stray_close+:: The treatment of a closer of the thinking without an opener, after content. One of +:dialect+, +:text+,
    #                 +:drop+.
    # +calls_in_thinking+:: The treatment of a tool call that begins inside the thinking. One of +:dialect+, +:never+, +:always+.
    # +leading_tags+:: The reading of a tag that is not the dialect's own at the beginning of the text. One of +:dialect+, +:text+.
    # +thinking+:: Whether the thinking is reported. One of +:keep+, +:drop+, +:inline+.
    # +not_whole+:: The part of a call that is reported before the call is whole. At most +max_held+ bytes of it are held. One of
    #               +:tell+, +:hold+, +:text+.
    # +unknown_tool+:: The treatment of a call of a tool that is not in +tools+. One of +:text+, +:drop+, +:tell+.
    # +implied_end+:: Whether the end of a text that has ended by itself (+:ended+) may end a call. One of +:on+, +:off+.
    # +tools+:: The request's +tools+: a JSON array of objects with +name+ and +parameters+, which may also be inside +function+, or
    #           with +name+ and +input_schema+, as in Anthropic's Messages. Their schemas have the types of the arguments.
    #           <tt>[]</tt>: all calls are content, which is right for a request without tools. nil: every call is reported, and the
    #           types of its arguments are not known.
    # +start_call+:: The name of a tool. The text, without its thinking, is read as the arguments of a call of this tool: if a
    #                request names a tool (+tool_choice+), a grammar makes the model write the arguments without markers. nil: the
    #                text is read as usual.
    # +id_prefix+:: The beginning of the id that is made for a call without one; +index+ of the call follows it. UTF-8. Ids are
    #               unique in a conversation only if each answer has a different beginning. nil: +call_+.
    # +max_tools+:: The maximum number of bytes of +tools+ that are read; a longer list is an error. Reading a list may need about
    #               40 times its length in memory. 0: 4 MiB.
    # +max_held+:: The maximum number of bytes of text that are held until it is clear whether they are a call, and of a value that
    #              are held until its type is clear, at most 4 MiB of text. 0: 1 MiB.
    # +max_calls+:: The maximum number of calls that are reported, such as 1 for <tt>"parallel_tool_calls": false</tt>; later calls
    #               are content. 0: 1,024, the maximum.
    # +budget+:: The limit of the thinking, beyond which +:budget+ is reported. 0: there is no limit.
    # +budget_unit+:: The unit of the budget. One of +:bytes+, +:characters+.
    # +budget_scope+:: The scope of the budget. One of +:span+, +:stream+.
    # +repair_arguments+:: true: mend arguments that have only one possible meaning; such a call counts as repaired. In JSON, a
    #                      backslash that does not begin an escape is escaped. If the schema asks for an array or an object and not
    #                      for a string, a string that contains it as JSON is decoded, and a Python literal between markers becomes
    #                      JSON. false: leave the arguments unchanged.
    # +promote_empty+:: true: report the thinking as content if the text ends by itself and has neither content nor a call. At most
    #                   16 MiB of thinking are kept for this. false: such a text has no content.
    # +keep_guessed+:: true: leave guessed thinking unchanged. false: report thinking as content too, if the dialect only guessed
    #                  that the text starts in the thinking, and the text ends by itself in the thinking, without a marker that
    #                  confirms the guess.
    # +may_take_back+:: true: report +:moved+ if reported text belongs to the other channel, for a host that builds a whole message.
    #                   false: content that turns out to be thinking stays content, and thinking that turns out to be the answer is
    #                   reported again as content.
    # +inline_calls+:: true: leave calls in the content, as the model wrote them, for a host that passes the content to another
    #                  parser; +tools+, +start_call+, +id_prefix+ and the policies for calls then have no effect. false: report
    #                  calls.
    #--
    # End of the generated part.
    #++
    #
    # Raises UnknownDialectError for an unknown name, and OptionError for a start that the dialect does not have, and for tools
    # that cannot be read; its message has the place of the fault.
    def initialize(dialect, **options)
      dialect = Dialect.of(dialect)
      @dialect = dialect.name
      options = Native.answer_options(options)
      @lock = Lock.new
      @due = []
      own(Error.check_address(Native.aside_answer_new(dialect.handle, options)), :aside_answer_free)
    end

    # Sets the start of the text, before its first chunk: the text continues a rendered prompt that ends in +tail+, which is read as
    # by Scanner#start_from_prompt. #finish and #reset restore the answer's own start; an empty +tail+ cancels an earlier one.
    #
    # Returns the span that is open then, as Scanner#start_from_prompt does. Raises OrderError if the text has begun.
    #
    #   answer.start_from_prompt("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n")  # => :thinking
    def start_from_prompt(tail)
      tail = Native.utf8(tail)
      exclusively do
        out = Native.buffer(4)
        Error.check(Native.aside_answer_start_from_prompt(address, tail, tail.bytesize, out))
        Native::START.key(out.unpack1("L"))
      end
    end

    # Sets the tools of the request, before the first chunk of the text, like +tools+ of Answer.new. Use it for an answer that
    # serves one request after another. #finish and #reset restore the answer's own tools. Returns the answer.
    #
    #   answer.use_tools(JSON.generate(request["tools"] || []))
    #
    # Raises OptionError for tools that cannot be read, and OrderError if the text has begun.
    def use_tools(tools)
      tools = Native.utf8(tools) if tools
      exclusively { Error.check(Native.aside_answer_use_tools(address, tools, tools ? tools.bytesize : 0)) }
      self
    end

    # Feeds the next chunk, and yields each Part that it decides. Returns the answer; without a block, an Array of the parts.
    #
    #   answer.feed("<think>Twice 21.") { |part| puts part.kind }
    def feed(chunk, &block)
      chunk = Native.utf8(chunk)
      take(block) { |parts, count| Native.aside_answer_feed(address, chunk, chunk.bytesize, parts, count) }
    end

    # Feeds pieces whose tokens are known, as Scanner#feed_tokens does: pairs of a token's text and whether it is one of the
    # tokenizer's added tokens. Returns the result of #feed.
    #
    #   answer.feed_tokens([["<think>", true], ["Twice", false], [" 21.", false], ["</think>", true]]) { |part| print part.text }
    def feed_tokens(tokens, &block)
      chunk, lengths = Native.tokens(tokens)
      list = lengths.pack("L*")
      take(block) do |parts, count|
        Native.aside_answer_feed_tokens(address, chunk, chunk.bytesize, list, lengths.size / 2, parts, count)
      end
    end

    # Yields the held bytes as text: those that may begin a marker, and those of a call that is not decided. The text continues. A
    # marker of which a part was flushed is no longer recognised. Returns the result of #feed.
    def flush(&block)
      take(block) { |parts, count| Native.aside_answer_flush(address, parts, count) }
    end

    # Closes the open thinking, or the open call, as Scanner#force_close does. Returns the result of #feed.
    #
    #   answer.force_close { |part| print part.text } if parts.any? { |part| part.kind == :budget }
    def force_close(&block)
      take(block) { |parts, count| Native.aside_answer_force_close(address, parts, count) }
    end

    # Ends the text, and yields the parts that are left. The next chunk begins a new text, with the answer's own start and tools.
    # Returns the result of #feed.
    #
    # +reason+ is +:ended+ if the model ended its answer (<tt>"finish_reason": "stop"</tt>), +:cut_off+ if a limit or an error ended
    # it, or +:unknown+. It matters if a call, or thinking that may be the answer, is open at the end: only a text that ended by
    # itself may end a call that has no end, or turn out to be an answer without markers.
    #
    #   answer.finish(:ended) { |part| print part.text if part.kind == :content }
    def finish(reason = :unknown, &block)
      number = Native.number("reason", reason, Native::END_REASON)
      take(block) { |parts, count| Native.aside_answer_finish(address, number, parts, count) }
    end

    # Drops the text: held bytes, parts that a block has not received, the counts, and every error but DefectError. The next chunk
    # begins a new text. Returns the answer.
    def reset
      exclusively do
        Error.check(Native.aside_answer_reset(address))
        @due.clear
      end
      self
    end

    # Returns the number of bytes of the text that are held back now.
    def held
      exclusively { Native.aside_answer_held(address) }
    end

    # Returns the Scanner::Counts of a channel's text so far, also those of thinking that was dropped, and of text that was moved
    # later. After #finish they are those of the finished text, until another begins. Raises ArgumentError for a channel that does
    # not exist.
    #
    #   answer.counts(:thinking).characters
    def counts(channel)
      counts = exclusively { Native.counts(channel) { |number, out| Native.aside_answer_counts(address, number, out) } }
      Scanner::Counts.new(*counts).freeze
    end

    # Frees the answer at once, without waiting for Ruby to collect it. Held bytes are lost: call #finish first to get them. May be
    # called again; every other method then raises ClosedError. Returns nil.
    def close
      exclusively { Native.aside_answer_free(disown) unless closed? }
      nil
    end

    private

    def described
      @dialect
    end

    # Delivers the parts of a call to +receiver+. The block calls the function that returns them.
    def take(receiver)
      exclusively do
        at = Native.buffer(8)
        count = Native.buffer(8)
        Error.check(yield(at, count))
        fields = Native.array(at.unpack1("J"), count.unpack1("J"), Native::PART_UNPACK, Native::PART_SIZE)
        @due.concat(fields.filter_map { |part| part(*part) })
      end
      return @due.slice!(0..) unless receiver

      while (part = @due.shift)
        receiver.call(part)
      end
      self
    end

    # Returns a part of the library's array as an object; nil for an unknown kind.
    def part(kind, cause, from, to, made, whole, repaired, index, text, len, id, id_len)
      kind = Native::PART_KIND[kind] or return
      text = Native.text(text, len)
      case kind
      when :call then Part.new(kind, index: index, id: Native.text(id, id_len), name: text, made: made == 1)
      when :arguments then Part.new(kind, text, index: index)
      when :call_end
        Part.new(kind, index: index, cause: Native::CAUSE[cause], whole: whole == 1, repaired: repaired == 1,
                       late_id: (Native.text(id, id_len) unless id_len.zero?))
      when :moved then Part.new(kind, from: Native::CHANNEL[from], to: Native::CHANNEL[to])
      else Part.new(kind, text)
      end
    end
  end
end
