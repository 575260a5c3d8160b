# frozen_string_literal: true

module Aside
  # Defines which bytes of a stream are markers, and their effect. A dialect never changes, so any number of threads may use
  # one at once. Built-in dialects are frozen and may be shared between Ractors; call <tt>Ractor.make_shareable</tt> for a loaded
  # dialect.
  #
  #   Aside::Dialect.names                # => ["any", "apertus", ...]
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

      # Returns the built-in dialect with this name or alias, a String or Symbol. Raises UnknownDialectError, which lists the
      # nearest names.
      def find(name)
        raise TypeError, "a dialect is a Dialect or the name of one, not nil" if name.nil?

        name = name.name if name.is_a?(Symbol)
        name = Native.utf8(name)
        new(Error.check_address(Native.aside_dialect_find(name, name.bytesize))).freeze
      end

      # Returns the built-in dialect that a model writes. +model+ is the name that a hub, a registry or an API has for it, or
      # a file's path, in upper or lower case. The dialect has this model's start: see #start.
      #
      # Raises UnknownDialectError if no dialect is known for the model, or several fit equally well. The message lists those
      # dialects, or the nearest known models with their dialects, or says that the model is known to write no thinking in its text.
      #
      #   Aside::Dialect.find_for_model("unsloth/Qwen3-32B-GGUF:Q4_K_M").name  # => "qwen3"
      def find_for_model(model)
        model = Native.utf8(model)
        new(Error.check_address(Native.aside_dialect_find_for_model(model, model.bytesize))).freeze
      end

      # Returns the built-in dialect at an address of the library.
      def built_in(address) # :nodoc:
        new(address).freeze
      end

      # Loads the built-in dialects with these names or aliases, or all of them if there are no names. Finding them later then
      # allocates nothing in the library. Call it once, before serving. Returns nil.
      #
      #   Aside::Dialect.preload("qwen3", "harmony")
      #
      # Raises UnknownDialectError for an unknown name; the dialects before it are loaded. If memory runs out while loading,
      # the process ends.
      def preload(*names)
        names.map! { |name| Native.utf8(name.is_a?(Symbol) ? name.name : name) }
        odd = names.find { |name| name.strip.empty? || name.split.size > 1 }
        raise UnknownDialectError, "no dialect #{odd.inspect}: a name has no white space" if odd

        all = names.join(" ")
        Error.check(Native.aside_dialect_preload(all, all.bytesize))
        nil
      end

      # Returns the built-in dialect that a chat template (Jinja) is written for, and where generation starts after its
      # generation prompt: +:content+, +:thinking+, +:narration+, +:tool+ or +:header+. It reads the template and does not render
      # it: the markers that the template writes decide, and the start is that of the branches taken by default. Raises
      # UnknownDialectError if the markers fit no dialect, and AmbiguousDialectError if they fit several.
      #
      #   dialect, start = Aside::Dialect.find_for_template(File.read("chat_template.jinja"))
      #   scanner = Aside::Scanner.new(dialect, start: start)
      def find_for_template(text)
        text = Native.utf8(text)
        room = Native.buffer(names.size * 8)
        match = [Native::TEMPLATE_MATCH_SIZE, room, room.bytesize / 8, 0, 0, 0].pack(Native::TEMPLATE_MATCH_PACK)
        address = Native.aside_dialect_find_for_template(text, text.bytesize, match)
        _, _, count, start = match.unpack(Native::TEMPLATE_MATCH_UNPACK)
        return new(address).freeze, Native::START.key(start) unless address.zero?

        Error.check_address(address) if count.zero?
        message = Native.last_error
        candidates = room.unpack("J#{count}").map { |candidate| new(candidate).name }
        raise AmbiguousDialectError.new(message, status: Native::ERROR_AMBIGUOUS, candidates: candidates)
      end

      # Returns a dialect read from the text of a dialect file (TOML). Raises DialectError, which names the line and the key.
      def load(toml)
        toml = Native.utf8(toml)
        new(Error.check_address(Native.aside_dialect_load(toml, toml.bytesize)), :aside_dialect_free)
      end

      # Returns a dialect read from a response template (JSON): the +response_template+ of a model's +tokenizer_config.json+, which
      # describes how its text is divided. +json+ is the template or that file. Raises DialectError, which names the part that
      # cannot be read.
      #
      #   json = '{"start_anchor": "<a>", "fields": {"thinking": {"open": "[t]", "close": "[/t]"}, "content": {}}}'
      #   dialect = Aside::Dialect.from_response_template(json)
      #   Aside.strip("[t]hm[/t]Yes.", dialect) # => "Yes."
      def from_response_template(json)
        json = Native.utf8(json)
        new(Error.check_address(Native.aside_dialect_from_response_template(json, json.bytesize)), :aside_dialect_free)
      end

      # Returns the names of the built-in dialects, sorted: a frozen Array of frozen Strings.
      def names
        len = Native.buffer(8)
        names = []
        until (at = Native.aside_dialect_name_at(names.size, len)).zero?
          names << Native.text(at, len.unpack1("J")).freeze
        end
        names.freeze
      end

      def of(dialect) # :nodoc:
        return find(dialect) unless dialect.is_a?(Dialect)

        dialect.address # raises where it is closed
        dialect
      end
    end

    # The name, frozen.
    attr_reader :name

    # The largest number of bytes that a scanner of this dialect holds back.
    attr_reader :max_hold

    # The start of a stream of this dialect if the options name no start: +:content+, +:thinking+, +:narration+, +:tool+ or
    # +:header+. A dialect from ::find_for_model has the start of that model.
    attr_reader :start

    # The address for a call of the library, 0 if closed; read it again for each call. Another thread may close the dialect wherever
    # a method ends, also at the end of #address. An attribute reader has no frame, so nothing can come between it and the call.
    attr_reader :handle # :nodoc:

    def initialize(address, free = nil) # :nodoc:
      free ? own(address, free) : @address = address
      @handle = address
      # The Proc keeps a dialect from being moved to another Ractor, where it would lose its finalizer; the dialect can still be
      # made shareable.
      @unmovable = Handle.finalizer(free, address, nil) if free
      len = Native.buffer(8)
      @name = Native.text(Native.aside_dialect_name(address, len), len.unpack1("J")).freeze
      @max_hold = Native.aside_dialect_max_hold(address)
      @start = Native::START.key(Native.aside_dialect_start(address))
    end

    # Returns the family of the rule of an +:open+ event: the family that the dialect's file names, or else the dialect's
    # name; nil if there is no such rule. Raises ClosedError.
    #
    #   dialect.family(event.rule)
    def family(rule)
      len = Native.buffer(8)
      word(Native.aside_dialect_family(address, rule, len), len)
    end

    # Returns the words for the rule and tag of an +:open+ event, as the dialect's file has them: the literal, the tag's name,
    # the fence's info string, or the beginning of the header; nil if there is no such rule or tag. Raises ClosedError.
    #
    #   dialect.opener(event.rule, event.tag)
    def opener(rule, tag)
      len = Native.buffer(8)
      word(Native.aside_dialect_opener(address, rule, tag, len), len)
    end

    # Frees a loaded dialect at once. Scanners and rewriters that were made from it remain usable. May be called again. Another
    # thread may use the dialect at the same time, except in #family and #opener, which read its memory. Does nothing to a frozen
    # dialect, such as a built-in one. Returns nil.
    def close
      return if frozen?

      @handle = 0
      address = disown # if several threads close it, only one gets the address
      Native.aside_dialect_free(address) if address
      nil
    end

    private

    def described
      name
    end

    def word(at, len)
      Native.text(at, len.unpack1("J")) unless at.zero?
    end
  end
end
