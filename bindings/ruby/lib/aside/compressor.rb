# frozen_string_literal: true

require "json"

module Aside
  # Texts shorter than this, in UTF-16 code units, are never made shorter.
  MIN_COMPRESSIBLE_LENGTH = 1024

  # Makes tool results shorter before a model reads them: what a terminal does not show, repeats, lines that say nothing,
  # and under a budget all but verdicts, errors, tail and head. Marker lines count what was left out, and the Report can give
  # it back. Where nothing gets shorter, the result stays as it was, to the byte.
  #
  #   compressor = Aside::Compressor.new(budget: 4_000)
  #   log = "#{"warning: the same again\n" * 200}make: *** [all] Error 1\n"
  #   result = compressor.compress(log, tool_id: "bash", input: { command: "make" }, exit_code: 2)
  #   puts result.text.lines.last(3)
  #
  # Filters in Ruby have
  #
  # +id+:: the name in banners and reports
  # <tt>apply(text, input)</tt>:: the shorter text; nil where there is nothing to do
  # +tool_ids+:: ids of the tools whose results it is for; none, or no such method: all tools
  # <tt>matches?(tool_id, input)</tt>:: whether it is for a call; may be left out
  #
  # and caches +id+, +tool_ids+, and
  #
  # <tt>lookup(tool_id, input)</tt>:: the recorded text and its time (a Time or Integer), as an Array; nil where there is none
  # <tt>record(tool_id, input, text, time)</tt>:: is given the raw text parts, joined with line feeds, and a Time
  # <tt>observe(tool_id, input)</tt>:: sees every call before any cache looks up; may be left out
  #
  # A text is UTF-8 and the object's own, valid if the tool's output was; +input+ is what JSON made of the call's input,
  # frozen, its keys Strings. A hit of a cache counts only where the fresh text is the recorded one.
  #
  # Exceptions in them end there. The filter is passed over for that call, the others go on, and the report has id and
  # exception. A StandardError is not raised afterwards, so that no result is lost by a filter's defect; anything else, as
  # Interrupt and SystemExit, is raised when the call of the library is over, which then gives nothing. They run in the
  # thread that compresses, in a Fiber of their own: to throw or yield past it, or to exit the thread, is an exception as
  # well. What another thread sends meanwhile, as Timeout does, waits until the call is over. A signal's handler may raise, but
  # not throw past the call.
  #
  # Strings. Texts are read as Aside.strip reads one. What changed is UTF-8, and valid if it was.
  #
  # Threads. A compressor never changes, its caches apart: any number of threads may use one at once, and filters and caches
  # in Ruby must stand it. They may use the library, but for the compressor that called them: BusyError. While the library
  # works, no other thread runs Ruby code. A Ractor makes its own compressor, and closes it and its reports; filters and
  # caches in Ruby work in the main Ractor alone.
  class Compressor
    include Handle

    # No JSON that is deeper is read by the library.
    MAX_NESTING = 127
    private_constant :MAX_NESTING

    # A compressor.
    #
    # +budget+:: how many bytes the text parts of a result may have together, banners and markers included, at least 1,024;
    #            nil: no budget. Text that is never touched stays whole all the same, and each other text part has at least
    #            1,024 for itself: 100 of them may come to 100 KiB, however small the budget is
    # +switch_off+:: the banner's last sentence: how a user of this host switches compression off
    # +built_in+:: false: without the built-in filters
    # +without+:: ids of built-in filters that are left out
    # +minify_json+:: true: with the filter that minifies JSON, the only one for text that is protected
    # +filters+:: more filters, in their order: texts of filter files (TOML) and objects as above. One that has the id of
    #             another takes its place
    # +last_run+:: how many bytes of results the library's own cache holds; nil: it is not there
    # +caches+:: more caches, objects as above
    #
    # Raises FilterError for a text that is no filter file, OptionError for a budget that is too small and for an id that is
    # none, TypeError for an object without the methods.
    def initialize(budget: nil, switch_off: nil, built_in: true, without: [], minify_json: false, filters: [],
                   last_run: nil, caches: [])
      raise OptionError, "budget is below 1024" if budget&.zero?

      switch_off = Native.fixed(Native.utf8(switch_off || ""))
      options = [Native::COMPRESSOR_OPTIONS_SIZE, Native.count("budget", budget || 0), switch_off, switch_off.bytesize]
                .pack(Native::COMPRESSOR_OPTIONS)
      @lock = Lock.new
      @inside = {}.compare_by_identity # of calls, their threads
      @hosts = []
      registry = Error.check_address(Native.aside_registry_new(built_in ? 1 : 0))
      begin
        without.each { |id| remove(registry, Native.name(id)) }
        Error.check(Native.aside_registry_minify_json(registry)) if minify_json
        filters.each { |filter| add(registry, filter) }
        Error.check(Native.aside_registry_add_last_run(registry, Native.count("last_run", last_run))) if last_run
        caches.each { |cache| add_cache(registry, cache) }
        @hosts.freeze
        own(Error.check_address(Native.aside_compressor_new(registry, options)), :aside_compressor_free)
        registry = nil
      ensure
        Native.aside_registry_free(registry) if registry
      end
    end

    # Compresses one tool's result: a String, or an Array of parts, in which a String is text and anything else passes
    # untouched. Returns a Compressed.
    #
    # +tool_id+:: the tool, a String or Symbol
    # +input+:: what it was called with: what JSON can say, or a String of JSON, as models send it. A terminal tool's has
    #           +command+, and may have +cwd+ and +exit_code+
    # +exit_code+:: an Integer that is put into the input, which is then an object
    # +now+:: the time, for caches
    #
    # The same text, input, options, caches and time give the same bytes.
    def compress(result, tool_id:, input: nil, exit_code: nil, now: Time.now)
      text = String.try_convert(result)
      parts = text ? [result] : Array.try_convert(result)&.dup or
        raise TypeError, "a result is a String or an Array of parts, not #{result.class}"
      tool_id = Native.name(tool_id)
      texts = parts.map { |part| (text = String.try_convert(part)) && Native.fixed(Native.utf8(text)) }
      list = texts.flat_map { |one| [one, one ? one.bytesize : 0] }.pack(Native::TEXT * texts.size)
      called = called(tool_id, input, exit_code, now)
      out = Native.buffer(8)
      using do |call|
        begin
          Error.check(Native.aside_compress(address, called, list, texts.size, out))
        ensure
          # Also where a signal's handler raises: then it is freed with the Report.
          report = Report.new(out.unpack1("J"), tool_id, call.failed) unless out.unpack1("J").zero?
        end
        Compressed.new(parts.each_with_index.map { |part, index| outcome(report, index, part) }, report)
      end
    end

    # A ToolStream for one tool's output, with +memory+ bytes for it: at least four times the budget, and at least 4,096.
    # OptionError where that is too little.
    def stream(tool_id:, memory:, input: nil, exit_code: nil)
      tool_id = Native.name(tool_id)
      called = called(tool_id, input, exit_code, 0)
      memory = Native.count("memory", memory)
      using do
        ToolStream.new(Error.check_address(Native.aside_tool_stream_new(address, called, memory)), @hosts, tool_id)
      end
    end

    # Frees the compressor now, and not when Ruby collects it. Its streams go on. May be called again; anything else then
    # raises ClosedError. BusyError while it compresses.
    def close
      @lock.synchronize do
        raise BusyError, "this #{self.class} is in use" if @inside.values.any?(&:alive?) # behind a fork, some are not

        Native.aside_compressor_free(disown) unless closed?
      end
      nil
    end

    private

    def using
      Host::Call.within(@hosts) do |call|
        begin
          @lock.synchronize do
            address
            @inside[call] = Thread.current
          end
          yield call
        ensure
          @inside.delete(call) # without the lock: who waits for it may be interrupted
        end
      end
    end

    def remove(registry, id)
      return unless Error.check(Native.aside_registry_remove(registry, id, id.bytesize)) == Native::NONE

      raise OptionError, "no built-in filter is called `#{id}`"
    end

    def add(registry, filter)
      if (toml = String.try_convert(filter))
        toml = Native.utf8(toml)
        Error.check(Native.aside_registry_add_toml(registry, toml, toml.bytesize))
      else
        matches = filter.respond_to?(:matches?) ? Host::MATCHES.address : 0
        host = registered(Native::HOST_FILTER_SIZE, filter, [:apply], [matches, Host::APPLY.address])
        Error.check(Native.aside_registry_add_filter(registry, host))
      end
    end

    def add_cache(registry, cache)
      observe = cache.respond_to?(:observe) ? Host::OBSERVE.address : 0
      callbacks = [observe, Host::LOOKUP.address, Host::RECORD.address]
      host = registered(Native::HOST_CACHE_SIZE, cache, %i[lookup record], callbacks)
      Error.check(Native.aside_registry_add_cache(registry, host))
    end

    # The struct of a filter or cache. What stands for it is its number; nothing is to be released.
    def registered(size, object, methods, callbacks)
      missing = [:id, *methods].find { |method| !object.respond_to?(method) }
      raise TypeError, "#{object.inspect} has no method `#{missing}`" if missing

      id = Native.fixed(Native.name(object.id))
      tool_ids = Native.names(object.respond_to?(:tool_ids) ? object.tool_ids : [])
      @hosts << Host::Named.new(id, object).freeze
      [size, id, id.bytesize, tool_ids.first, tool_ids.last, *callbacks, 0, @hosts.size - 1]
        .pack("JpJpJ#{"J" * callbacks.size}J2")
    end

    # The struct of a call.
    def called(tool_id, input, exit_code, now)
      input = json(input, exit_code)
      tool_id = Native.fixed(tool_id)
      [Native::CALL_SIZE, tool_id, tool_id.bytesize, input, input.bytesize, Native.count("now", now.to_i)].pack(Native::CALL)
    end

    def json(input, exit_code)
      text = String.try_convert(input)
      return Native.fixed(Native.utf8(text)) if text && !exit_code

      input = JSON.parse(Native.utf8(text), max_nesting: MAX_NESTING) if text
      if exit_code
        input = Hash.try_convert(input || {}) or raise ArgumentError, "exit_code is for an input that is an object"
        input = input.transform_keys(&:to_s).merge("exit_code" => Integer(exit_code))
      end
      Native.fixed(JSON.generate(input, max_nesting: MAX_NESTING))
    rescue JSON::JSONError, EncodingError => e
      raise ArgumentError, "input is no JSON: #{e.message}"
    end

    def outcome(report, index, part)
      at = Native.buffer(8)
      len = Native.buffer(8)
      status = Error.check(Native.aside_compressed_part(report.address, index, at, len))
      return part if status == Native::NONE

      len = len.unpack1("J")
      Native.text(at.unpack1("J"), len) unless len.zero?
    end
  end
end
