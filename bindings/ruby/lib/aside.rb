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
require_relative "aside/call_delta"
require_relative "aside/call_writer"
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
# See Aside::Scanner for streams, Aside::CallWriter for tool calls as JSON, Aside::Rewriter for event streams, Aside.strip for
# whole texts, and Aside::Compressor for tool results.
#
# Errors of the library are Aside::Error. Any number of threads may call the functions of this module at once. Anything that is
# called unstable may change in any version.
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

  # Adds the text of an event to the text of its channel. A +:reclassify+ event moves all text of the other channel to this
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
  #           perhaps +id+. A Scanner with <tt>calls: true</tt> reads them back as they are. They are never escaped: if one cannot
  #           be written, JoinError says which, and which part of it
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

  # Returns a text in which the dialect's markers are broken, so that a user's text can go into a prompt. It inserts U+200B
  # (zero width space) after the first character of each marker, those that begin a turn included. The text looks the same,
  # and escaping it again does not change it.
  #
  #   Aside.escape("What does <think> do?", "qwen3")  # => "What does <\u200Bthink> do?"
  #
  # Escape a text as a whole: a marker whose halves are in two texts is found in neither. Special tokens that the dialect
  # does not name are left in; the host must remove them.
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
  # +refused+:: those whose thinking cannot be written into their text
  # +unread+:: those whose thinking is signed, encrypted or in a form that is not known
  # +outcome+:: +:read+, or why the body was returned unchanged: +:too_long+, +:not_utf8+, +:not_request+, +:repeated+ (a member is
  #             there twice) or +:stored+ (the server has the history)
  # +thinking_off+:: whether thinking was turned off in the request, see +made+
  HistoryReport = Struct.new(:changed, :refused, :unread, :outcome, :thinking_off)

  # Returns the body of a request with the thinking of earlier turns where the server reads it, and a HistoryReport. All that the
  # options do not name stays unchanged, byte for byte. The sender of the result must set Content-Length again, and any digest or
  # signature of the body.
  #
  #   Aside.rewrite_history('{"messages":[]}', format: :chat, name: :reasoning)[1].outcome.inspect  # => ":read"
  #
  # +format+:: of the request: +:chat+, +:responses+ or +:messages+
  # +name+:: the place for the thinking of an earlier turn: +:as_is+; in chat, +:reasoning_content+, +:reasoning+, +:thinking+,
  #          +:reasoning_details+ or +:parts+; in Responses, +:reasoning_text+ or +:summary+; in all formats +:text+, with the
  #          markers of +dialect+
  # +dialect+:: a Dialect, or the name of one, for <tt>name: :text</tt>
  # +turns+:: the turns whose thinking stays: +:all+, +:since_user+ (since the last message of the user) or +:none+
  # +missing+:: the treatment of an assistant message without thinking: +:leave+, +:empty+ (it gets an empty string, or block) or
  #             +:remove+
  # +made+:: the treatment of blocks and items that the server did not make: +:keep+ or +:remove+
  # +max_body+:: the most bytes of a body that is read; 0: 32 MiB
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

  # Returns the format of the requests to a path, with or without a query, for rewrite_history; nil: their history is not
  # rewritten. Unstable.
  #
  #   Aside.history_format("/v1/messages").inspect  # => ":messages"
  def self.history_format(path)
    path = Native.string(path)
    out = Native.buffer(4)
    HISTORY_FORMATS.key(out.unpack1("L")) if Error.check(Native.aside_history_format(path, path.bytesize, out)) == Native::OK
  end

  # Returns the options for a built-in server and requests of a format, as keywords for rewrite_history; nil: they need no change.
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

  # Returns whether a text is in a machine format (JSON, CSV, XML and the like). A Compressor does not change such texts.
  # Unstable.
  #
  #   Aside.protected?('{"a": 1}')  # => true
  def self.protected?(text)
    text = Native.utf8(text)
    Error.check(Native.aside_is_protected(text, text.bytesize)) == 1
  end

  # A command of a command line, as Aside.commands returns it. Unstable:
  #
  # +name+:: its name without folder and version
  # +subcommand+:: the first argument that is neither an option nor an option's value, or nil
  # +words+:: all words after the program
  # +prints+:: whether its output reaches the terminal
  # +piped+:: whether its output goes through +head+, +grep+ and the like, so that it may be incomplete
  Command = Struct.new(:name, :subcommand, :words, :prints, :piped)

  # Parses a command line as a shell would, and returns an Array of Command, in order; of a shell with <tt>-c</tt>, the
  # commands that it runs. It runs nothing. The Array is empty for a line that is not parsed: one with +case+, or with shells
  # nested more than eight deep.
  #
  #   Aside.commands("cd app && sudo git -C lib diff | head")[1].subcommand  # => "diff"
  #
  # Raises OptionError if the line is not UTF-8. Unstable.
  def self.commands(line)
    line = Native.utf8(line)
    parsed = Error.check_address(Native.aside_command_line_parse(line, line.bytesize))
    begin
      commands = []
      while (fields = command(parsed, commands.size))
        commands << fields
      end
      commands.map do |name, name_len, sub, sub_len, words, word_count, *flags|
        words = Native.array(words, word_count, Native::BYTES_UNPACK, Native::BYTES_SIZE).map { |at, len| Native.text(at, len) }
        subcommand = Native.text(sub, sub_len) unless sub_len.zero?
        Command.new(Native.text(name, name_len), subcommand, words, *flags.map { |flag| flag == 1 })
      end
    ensure
      Native.aside_command_line_free(parsed)
    end
  end

  # Returns the fields of a command, or nil after the last command.
  private_class_method def self.command(parsed, index) # :nodoc:
    Native.filled(Native::COMMAND_SIZE, Native::COMMAND_UNPACK) do |out|
      Error.check(Native.aside_command_line_command(parsed, index, out)) == Native::OK
    end
  end

  # Returns the line that a compressed text begins with, without its line end. It names the filters, and the lengths +before+
  # and +after+ in UTF-16 code units. Raises OptionError for an id that is not UTF-8. Unstable.
  #
  #   Aside.format_banner(["repeats"], before: 4000, after: 1200)[0, 48]  # => "[Output compressed by repeats (4000 → 1200 chars"
  def self.format_banner(filter_ids, before:, after:)
    ids, count = Native.names(filter_ids)
    before = Native.count("before", before)
    after = Native.count("after", after)
    Native.made { |len| Native.aside_format_banner(ids || "", count, before, after, len) }
  end

  # Reads the text of a filter file (TOML) and runs the file's own tests, of which there must be one of each kind. Returns
  # nil. Raises FilterError, which names the line and the key. Unstable.
  #
  #   Aside.check_filter(File.read("filters/mine.toml"))
  def self.check_filter(toml)
    toml = Native.utf8(toml)
    Error.check(Native.aside_filter_check(toml, toml.bytesize))
    nil
  end
end
