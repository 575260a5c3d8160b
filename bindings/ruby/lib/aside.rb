# frozen_string_literal: true

# Tells apart what a language model thinks, says and calls, while its output arrives in chunks cut anywhere, and makes what
# its tools print shorter. Binds the native library libaside.

require_relative "aside/version"
require_relative "aside/errors"
require_relative "aside/native"
require_relative "aside/handle"
require_relative "aside/dialect"
require_relative "aside/event"
require_relative "aside/thought"
require_relative "aside/scanner"
require_relative "aside/rewriter"
require_relative "aside/inline_think_filter"
require_relative "aside/host"
require_relative "aside/report"
require_relative "aside/compressed"
require_relative "aside/tool_stream"
require_relative "aside/compressor"

# See Aside::Scanner for streams, Aside::Rewriter for event streams, Aside.strip for whole texts, and Aside::Compressor for
# tool results.
module Aside
  # The content of a whole text: what a reader is meant to see of it, ASCII white space trimmed at both ends.
  #
  #   Aside.strip("<think>Twice 21.</think>It is 42.\n", "inline-think")  # => "It is 42."
  #
  # +dialect+ is a Dialect, or the name of one. +text+ is read as Scanner#feed reads a chunk. The String that comes
  # out is the caller's: UTF-8, valid, not frozen.
  def self.strip(text, dialect)
    text = Native.utf8(text)
    size = text.bytesize
    dialect = Dialect.of(dialect)
    Native.given { |at, len| Native.aside_strip(dialect.handle, text, size, at, len) }.scrub
  end

  MARKERS = { refuse: 0, escape: 1 }.freeze
  private_constant :MARKERS

  # Puts thinking and content into one text, as a model of the dialect writes them: the text splits back into the same,
  # byte for byte. Without thinking no block of it is written, unless the text starts inside one.
  #
  #   Aside.join("Twice 21.", "It is 42.", "qwen3")  # => "<think>\nTwice 21.\n</think>\n\nIt is 42."
  #
  # +start+:: what is open where the text begins, as Scanner.new has it, which must be given the same: nil, +:content+,
  #           +:header+, or +:thinking+, where no opener is written
  # +markers+:: what happens where a part holds what would be read as a marker: +:refuse+ raises JoinError, +:escape+
  #             breaks it as Aside.escape does, and the text splits back into the escaped parts
  #
  # Parts are read as Aside.strip reads a text. The String that comes out is UTF-8, and valid if they were.
  def self.join(thinking, content, dialect, start: nil, markers: :refuse)
    thinking = Native.utf8(thinking)
    content = Native.utf8(content)
    start = Native.number("start", start, Native::STARTS)
    markers = Native.number("markers", markers, MARKERS)
    sizes = [thinking.bytesize, content.bytesize]
    dialect = Dialect.of(dialect)
    Native.given do |at, len|
      Native.aside_join(dialect.handle, thinking, sizes[0], content, sizes[1], start, markers, at, len)
    end
  end

  # A text without the dialect's markers, those where a turn begins among them, for a prompt that a user's text goes into:
  # behind the first character of each marker stands U+200B (zero width space), so that it reads the same and is no marker.
  # A text that was escaped is not changed again. Escape a text whole: a marker that is put together from two texts is seen
  # in neither. Special tokens that the dialect does not name are the host's to keep out.
  #
  #   Aside.escape("What does <think> do?", "qwen3")  # => "What does <\u200Bthink> do?"
  #
  # Raises JoinError where the dialect has a marker that nothing can break. The String that comes out is UTF-8, and valid
  # if +text+ was.
  def self.escape(text, dialect)
    text = Native.utf8(text)
    size = text.bytesize
    dialect = Dialect.of(dialect)
    Native.given { |at, len| Native.aside_escape(dialect.handle, text, size, at, len) }
  end

  # Whether a text is of a machine format (JSON, CSV, XML and the like), and so passes a Compressor untouched.
  def self.protected?(text)
    text = Native.utf8(text)
    Error.check(Native.aside_is_protected(text, text.bytesize)) == 1
  end

  # A command of a command line: its +name+ without folder and version, the +subcommand+ (the first argument that is no option
  # nor an option's value) or nil, and all +words+ behind the program; whether its output is seen (+prints+), and whether that
  # goes through +head+, +grep+ and the like, so that it may be only a part (+piped+).
  Command = Struct.new(:name, :subcommand, :words, :prints, :piped)

  # The commands of a line as a shell would take it apart, in their order: an Array of Command; for a shell with <tt>-c</tt>
  # those that it runs. Nothing is run. None where the line is better left alone: with +case+, or with shells in shells more
  # than eight deep.
  #
  #   Aside.commands("cd app && sudo git -C lib diff | head")[1].subcommand  # => "diff"
  #
  # OptionError where the line is not UTF-8.
  def self.commands(line)
    line = Native.utf8(line)
    parsed = Error.check_address(Native.aside_command_line_parse(line, line.bytesize))
    begin
      count = Native.buffer(8)
      first = Native.aside_command_line_commands(parsed, count)
      Native.array(first, count.unpack1("J"), *Native::COMMAND).map do |name, name_len, sub, sub_len, words, word_count, *flags|
        words = Native.array(words, word_count, *Native::BYTES).map { |at, len| Native.text(at, len) }
        Command.new(Native.text(name, name_len), sub_len.zero? ? nil : Native.text(sub, sub_len), words, *flags.map { |flag| flag == 1 })
      end
    ensure
      Native.aside_command_line_free(parsed)
    end
  end

  # The line that a compressed text begins with, without a line end: by which filters, from how many UTF-16 code units to
  # how many.
  #
  #   Aside.format_banner(["repeats"], 4000, 1200)[0, 48]  # => "[Output compressed by repeats (4000 → 1200 chars"
  def self.format_banner(filter_ids, before, after)
    ids, count = Native.names(filter_ids)
    before = Native.count("before", before)
    after = Native.count("after", after)
    Native.given { |at, len| Native.aside_format_banner(ids || "", count, before, after, at, len) }
  end

  # Reads a filter file (TOML) and runs its own tests, of which it must have one of each kind. Raises FilterError, which
  # names line and key.
  def self.check_filter(toml)
    toml = Native.utf8(toml)
    Error.check(Native.aside_filter_check(toml, toml.bytesize))
    nil
  end
end
