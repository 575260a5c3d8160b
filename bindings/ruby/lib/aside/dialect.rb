# frozen_string_literal: true

module Aside
  # Which bytes are markers, and of what. A dialect never changes: any number of threads may use one at once. Built-in
  # ones are frozen and may be shared between Ractors; <tt>Ractor.make_shareable</tt> does it for a loaded one.
  #
  #   Aside::Dialect.list                 # => ["any", "apertus", ...]
  #   Aside::Dialect.find("qwen3").name   # => "qwen3"
  #
  #   dialect = Aside::Dialect.load(<<~TOML)
  #     name = "mine"
  #     [[span]]
  #     channel = "thinking"
  #     open = ["<hm>"]
  #     close = ["</hm>"]
  #   TOML
  #   Aside.strip("<hm>Well.</hm>Yes.", dialect)  # => "Yes."
  class Dialect
    include Handle

    class << self
      private :new

      # The built-in dialect with this name or alias, a String or Symbol. Raises UnknownDialectError, which names the
      # nearest ones.
      def find(name)
        name = name.name if name.is_a?(Symbol)
        name = Native.utf8(name)
        new(Error.check_address(Native.aside_dialect_find(name, name.bytesize))).freeze
      end

      # The built-in dialect that a model writes, by the model's name: of a hub, a registry or an interface, or a file's
      # path, in any case. It starts as this model does: see #start. Raises UnknownDialectError where no dialect is known for
      # it, or several fit equally well; the message names those, or the nearest known models with their dialects, or says
      # that the model is known to write no thinking in its text.
      #
      #   Aside::Dialect.find_for_model("unsloth/Qwen3-32B-GGUF:Q4_K_M").name  # => "qwen3"
      def find_for_model(model)
        model = Native.utf8(model)
        new(Error.check_address(Native.aside_dialect_find_for_model(model, model.bytesize))).freeze
      end

      # Loads the built-in dialects with these names or aliases, or all where there is none, so that finding them later takes
      # no memory of the library's. A host calls it once, before it serves. Raises UnknownDialectError for a name that is not
      # known; the dialects before it are loaded. If memory runs out in loading, the process ends.
      def preload(*names)
        names.map! { |name| Native.utf8(name.is_a?(Symbol) ? name.name : name) }
        odd = names.find { |name| name.strip.empty? || name.split.size > 1 }
        raise UnknownDialectError.new("no dialect #{odd.inspect}: a name has no white space") if odd

        all = names.join(" ")
        Error.check(Native.aside_dialect_preload(all, all.bytesize))
        nil
      end

      # The built-in dialect that a chat template (Jinja) is written for, by the markers that it writes, and where
      # generation starts after its generation prompt: +:content+, +:thinking+, +:narration+, +:tool+ or +:header+.
      # Raises UnknownDialectError where it has the markers of none, or does not tell several apart: their names are the
      # error's +candidates+.
      #
      # +variables+ is a JSON object, as a String: those that the template is rendered with for the request at hand, such
      # as <tt>{"enable_thinking": true}</tt>, so that the start is that request's. Raises OptionError where it is none,
      # where the template cannot be rendered with them, and where the library was built without its feature +templates+.
      #
      #   dialect, start = Aside::Dialect.find_for_template(File.read("chat_template.jinja"))
      #   scanner = Aside::Scanner.new(dialect, start: start)
      def find_for_template(text, variables: "")
        text = Native.utf8(text)
        variables = Native.utf8(variables)
        capacity = Native.aside_dialect_count
        found = Native.buffer(capacity * 8)
        start = Native.buffer(4)
        count = Native.aside_dialect_find_for_template_with(text, text.bytesize, variables, variables.bytesize,
                                                            found, capacity, start)
        Error.check(Native.aside_last_status) if count.zero?
        dialects = found.unpack("J#{count}").map { |address| new(address).freeze }
        return dialects.first, Native::STARTS.key(start.unpack1("L")) if count == 1

        names = dialects.map(&:name)
        raise UnknownDialectError.new("the template fits several dialects: #{names.join(", ")}", candidates: names)
      end

      # A dialect from the text of a dialect file (TOML). Raises DialectError, which names line and key.
      def load(toml)
        toml = Native.utf8(toml)
        out = Native.buffer(8)
        Error.check(Native.aside_dialect_load(toml, toml.bytesize, out))
        new(out.unpack1("J"), :aside_dialect_free)
      end

      # The names of the built-in dialects, sorted: a frozen Array of frozen Strings.
      def list
        len = Native.buffer(8)
        Array.new(Native.aside_dialect_count) do |index|
          at = Native.aside_dialect_name_at(index, len)
          Native.text(at, len.unpack1("J")).freeze
        end.freeze
      end

      def of(dialect) # :nodoc:
        return find(dialect) unless dialect.is_a?(Dialect)

        dialect.address # raises where it is closed
        dialect
      end
    end

    # Its name, frozen.
    attr_reader :name

    # The most bytes that a scanner of this dialect holds back for what may come.
    attr_reader :max_hold

    # Where a stream of this dialect starts if the options do not say otherwise: +:content+, +:thinking+, +:narration+,
    # +:tool+ or +:header+. Of a dialect from ::find_for_model, it is the start of that model.
    attr_reader :start

    # Its address, 0 where it is closed, for the library alone, and for each call anew. Another thread may close a dialect
    # wherever a method ends, as that of #address does; from this, which has no frame of its own, into the library nobody
    # comes in between.
    attr_reader :handle # :nodoc:

    def initialize(address, free = nil) # :nodoc:
      free ? own(address, free) : @address = address
      @handle = address
      # What has a Proc cannot be moved to another Ractor, where its finalizer would not come along; but be made shareable.
      @unmovable = Handle.finalizer(free, address, nil) if free
      len = Native.buffer(8)
      @name = Native.text(Native.aside_dialect_name(address, len), len.unpack1("J")).freeze
      @max_hold = Native.aside_dialect_max_hold(address)
      @start = Native::STARTS.key(Native.aside_dialect_start(address))
    end

    # The family of the rule of an +:open+ event: what the dialect's file names as its family, or else the dialect's name.
    # nil where there is no such rule.
    #
    #   dialect.family(event.rule)
    def family(rule)
      len = Native.buffer(8)
      word(Native.aside_dialect_family(address, rule, len), len)
    end

    # What rule and tag of an +:open+ event stand for, as the dialect's file has it: the literal, the tag's name, the
    # fence's info string, the beginning of the header. nil where there is no such rule or tag.
    #
    #   dialect.opener(event.rule, event.tag)
    def opener(rule, tag)
      len = Native.buffer(8)
      word(Native.aside_dialect_opener(address, rule, tag, len), len)
    end

    # Frees a loaded dialect now. Scanners that were made from it go on. May be called again, and while other threads use
    # the dialect, but for #family and #opener: what they give is read from its memory. A frozen dialect, as the built-in
    # ones are, is left alone.
    def close
      return if frozen?

      @handle = 0
      address = disown # of several that close it at once, one has it
      Native.aside_dialect_free(address) if address
    end

    def inspect # :nodoc:
      "#<#{self.class} #{name}>"
    end

    private

    def word(at, len)
      Native.text(at, len.unpack1("J")) unless at.zero?
    end
  end
end
