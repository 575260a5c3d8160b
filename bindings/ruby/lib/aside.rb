# frozen_string_literal: true

# Loads the whole gem. Everything public is in the module Aside; the native library stays private.

require_relative "aside/version"
require_relative "aside/layout"
require_relative "aside/errors"
require_relative "aside/native"
require_relative "aside/handle"
require_relative "aside/dialect"
require_relative "aside/event"
require_relative "aside/thought"
require_relative "aside/scanner"
require_relative "aside/part"
require_relative "aside/answer"
require_relative "aside/rewriter"
require_relative "aside/inline_think_filter"
require_relative "aside/host"
require_relative "aside/report"
require_relative "aside/compressed"
require_relative "aside/tool_stream"
require_relative "aside/compressor"

# Splits the output of a language model into thinking, content, narration and tool calls, while it arrives in chunks of any
# size, and shortens the output of its tools. Binds the native library libaside.
#
# See Aside::Answer for a model's text with its tool calls, Aside::Scanner for events with every byte, Aside::Rewriter for event
# streams, Aside.strip for whole texts, and Aside::Compressor for tool results.
#
# The library's errors are subclasses of Aside::Error. Any number of threads may call the functions of this module at once. Anything
# marked as unstable may change in any version.
module Aside
  # Returns the content of a whole text: the text for the reader, with ASCII white space trimmed at both ends.
  #
  #   Aside.strip("<think>Twice 21.</think>It is 42.\n", "inline-think")  # => "It is 42."
  #
  # +dialect+ is a Dialect, or the name of one. +text+ is a String of any encoding, read like a chunk of Scanner#feed. The
  # result is a new String: valid UTF-8, not frozen. Raises UnknownDialectError for an unknown name.
  def self.strip(text, dialect)
    text = Native.utf8(text)
    size = text.bytesize
    dialect = Dialect.of(dialect)
    Native.made { |len| Native.aside_strip(dialect.handle, text, size, len) }.scrub
  end

  # Returns the text of each channel of a whole text, as a Hash. +start+ is that of Scanner.new.
  #
  #   Aside.split("<think>hm</think>Yes.", "qwen3")[:thinking]  # => "hm"
  #
  # The Strings are valid UTF-8 and not frozen; a channel without text has an empty one.
  def self.split(text, dialect, start: nil)
    texts = %i[content thinking narration tool].to_h { |channel| [channel, +""] }
    scanner = Scanner.new(dialect, start: start)
    [scanner.feed(text), scanner.finish].each do |events|
      events.each { |event| add_to(texts, event) }
    end
    scanner.close
    texts
  end

  # Adds the text of an event to the text of its channel. A +:reclassify+ event moves all text between content and thinking to its
  # channel.
  private_class_method def self.add_to(texts, event) # :nodoc:
    case event.kind
    when :text then texts[event.channel] << event.text
    when :reclassify
      other = event.channel == :content ? :thinking : :content
      texts[event.channel].prepend(texts[other])
      texts[other] = +""
    end
  end

  # Returns thinking and content as one text, written as a model of the dialect writes them. The text splits back into the
  # same parts, byte for byte. Without thinking it has no thinking block, unless the text starts inside one.
  #
  #   Aside.join("Twice 21.", "It is 42.", "qwen3")  # => "<think>\nTwice 21.\n</think>\n\nIt is 42."
  #
  # +start+:: the span that is open where the text begins: nil (the dialect decides), +:content+, +:header+, or +:thinking+, which
  #           writes no opener. The Scanner that splits the text needs the same start
  # +markers+:: the treatment of a part that contains a marker: +:refuse+ raises JoinError; +:escape+ breaks
  #             it as Aside.escape does, and the text splits back into the escaped parts
  # +calls+:: tool calls that follow the content: Hashes with +name+, +arguments+ (a JSON object, as a String) and
  #           perhaps +id+. A Scanner with <tt>calls: true</tt> reads the same calls back. They are never escaped: if a call cannot
  #           be written, JoinError names the call and the faulty part
  #
  #   Aside.join("", "Adding.", dialect, calls: [{ name: "add", arguments: '{"a": 2}' }])
  #
  # The parts are Strings of any encoding. The result is a new String in UTF-8, valid if the parts were.
  def self.join(thinking, content, dialect, start: nil, markers: :refuse, calls: [])
    thinking = Native.utf8(thinking)
    content = Native.utf8(content)
    start = Native.number("start", start, Native::START)
    markers = Native.number("markers", markers, Native::MARKERS)
    dialect = Dialect.of(dialect)
    calls = calls.map { |call| join_call(**call) }
    list = calls.flatten.pack(Native::JOIN_CALL_PACK * calls.size)
    options = [Native::JOIN_OPTIONS_SIZE, thinking, thinking.bytesize, content, content.bytesize, list, calls.size,
               Native::JOIN_CALL_SIZE, start, markers].pack(Native::JOIN_OPTIONS_PACK)
    Native.made { |len| Native.aside_join(dialect.handle, options, len) }
  end

  # Returns the texts of a call, each with its length.
  private_class_method def self.join_call(name:, arguments:, id: nil) # :nodoc:
    [Native.name(name), Native.utf8(arguments), (Native.utf8(id) if id)].flat_map { |text| [text, text ? text.bytesize : 0] }
  end

  # Returns a text in which the dialect's markers are broken, so that a user's text can go into a prompt. It inserts U+200B (zero
  # width space) after the first character of each marker, including markers that begin a turn. The text looks the same, and
  # escaping it again does not change it.
  #
  #   Aside.escape("What does <think> do?", "qwen3")  # => "What does <\u200Bthink> do?"
  #
  # Escape a text as a whole: a marker that is split over two texts is not found. The host must remove special tokens that the
  # dialect does not name.
  #
  # The result is a new String in UTF-8, valid if +text+ was. Raises JoinError if the dialect has a marker that cannot be
  # broken.
  def self.escape(text, dialect)
    text = Native.utf8(text)
    size = text.bytesize
    dialect = Dialect.of(dialect)
    Native.made { |len| Native.aside_escape(dialect.handle, text, size, len) }
  end

  # The report of rewrite_history, frozen. Unstable:
  #
  # +changed+:: messages or items that were changed or removed
  # +refused+:: messages or items whose thinking cannot be written into their text
  # +unread+:: messages or items whose thinking is signed, encrypted or in an unknown form
  # +outcome+:: +:read+, or why the body was returned unchanged: +:too_long+, +:not_utf8+, +:not_request+, +:repeated+ (a member
  #             appears twice) or +:stored+ (the server has the history)
  # +thinking_off+:: whether thinking was turned off in the request, see +made+
  HistoryReport = Struct.new(:changed, :refused, :unread, :outcome, :thinking_off)

  # Returns the body of a request with the thinking of earlier turns where the server reads it, and a HistoryReport. Everything that
  # the options do not name stays unchanged, byte for byte. The sender of the result must set Content-Length again, and any digest
  # or signature of the body.
  #
  #   Aside.rewrite_history('{"messages":[]}', format: :chat, name: :reasoning)[1].outcome.inspect  # => ":read"
  #
  # +format+:: the format of the request: +:chat+, +:responses+ or +:messages+
  # +name+:: the place for the thinking of an earlier turn: +:as_is+; in chat, +:reasoning_content+, +:reasoning+, +:thinking+,
  #          +:reasoning_details+ or +:parts+; in Responses, +:reasoning_text+ or +:summary+; in all formats +:text+, with the
  #          markers of +dialect+
  # +dialect+:: a Dialect, or the name of one, for <tt>name: :text</tt>
  # +turns+:: the turns whose thinking stays: +:all+, +:since_user+ (since the last message of the user) or +:none+
  # +missing+:: the treatment of an assistant message without thinking: +:leave+, +:empty+ (it gets an empty string, or block) or
  #             +:remove+
  # +made+:: the treatment of blocks and items that a rewriter made and the server did not: +:keep+ or +:remove+
  # +max_body+:: the length of the longest body that is read, in bytes; 0: 32 MiB
  #
  # Aside.history_server returns these options for a server. Any thread may call this. Unstable.
  def self.rewrite_history(body, format:, name: :as_is, dialect: nil, turns: :all, missing: :leave, made: :keep, max_body: 0)
    body = Native.string(body)
    dialect = Dialect.of(dialect) if dialect
    numbers = [Native.number("format", format, HISTORY_FORMATS), Native.number("name", name, Native::HISTORY_NAME),
               Native.number("turns", turns, Native::HISTORY_TURNS),
               Native.number("missing", missing, Native::HISTORY_MISSING), Native.number("made", made, Native::HISTORY_MADE)]
    options = [Native::HISTORY_OPTIONS_SIZE, dialect ? dialect.handle : 0, Native.count("max_body", max_body), *numbers, 0]
              .pack(Native::HISTORY_OPTIONS_PACK)
    report = [Native::HISTORY_REPORT_SIZE].pack("J").ljust(Native::HISTORY_REPORT_SIZE, "\0")
    out = Native.made { |len| Native.aside_history_rewrite(options, body, body.bytesize, report, len) }
    *counts, outcome, off = report.unpack(Native::HISTORY_REPORT_UNPACK)
    [out, HistoryReport.new(*counts, Native::HISTORY_OUTCOME.key(outcome), off == 1).freeze]
  end

  # The formats of requests that have a history.
  HISTORY_FORMATS = Native::FORMATS.slice(:chat, :responses, :messages).freeze
  private_constant :HISTORY_FORMATS

  # Returns the format of the requests to a path, with or without a query, for rewrite_history; nil if their history is not
  # rewritten. Unstable.
  #
  #   Aside.history_format("/v1/messages").inspect  # => ":messages"
  def self.history_format(path)
    path = Native.string(path)
    out = Native.buffer(4)
    HISTORY_FORMATS.key(out.unpack1("L")) if Error.check(Native.aside_history_format(path, path.bytesize, out)) == Native::OK
  end

  # Returns the options for a built-in server and requests of a format, as keywords for rewrite_history; nil if they need no change.
  # Raises UnknownDialectError, which lists the known servers. Unstable.
  #
  #   Aside.history_server("vllm", :chat)[:name].inspect  # => ":reasoning"
  def self.history_server(name, format)
    name = Native.name(name)
    history_options(format) { |number, out| Native.aside_history_server_find(name, name.bytesize, number, out) }
  end

  # Returns the options of a server from the text of its server file (TOML), as history_server does for a built-in server.
  # Raises DialectError, which names the line and the key. Unstable.
  def self.load_history_server(toml, format)
    toml = Native.utf8(toml)
    history_options(format) { |number, out| Native.aside_history_server_load(toml, toml.bytesize, number, out) }
  end

  # Returns the names of the built-in servers, in alphabetical order. Unstable.
  def self.history_servers
    len = Native.buffer(8)
    names = []
    until (at = Native.aside_history_server_name_at(names.size, len)).zero?
      names << Native.text(at, len.unpack1("J"))
    end
    names
  end

  # Returns a server's options as keywords.
  private_class_method def self.history_options(format) # :nodoc:
    number = Native.number("format", format, HISTORY_FORMATS)
    fields = Native.filled(Native::HISTORY_OPTIONS_SIZE, Native::HISTORY_OPTIONS_UNPACK) do |out|
      Error.check(yield(number, out)) == Native::OK
    end
    return unless fields

    dialect, max_body, _, name, turns, missing, made = fields
    words = { name: Native::HISTORY_NAME.key(name), turns: Native::HISTORY_TURNS.key(turns),
              missing: Native::HISTORY_MISSING.key(missing), made: Native::HISTORY_MADE.key(made) }
    words[:dialect] = Dialect.built_in(dialect) unless dialect.zero?
    { format: format, **words, max_body: max_body }
  end
end
