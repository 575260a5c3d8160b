# frozen_string_literal: true

require "json"

# Shortens tool results: see Compressor.
module Aside
  # Shortens tool results before a model reads them. It removes text that a terminal does not show, repeats, and lines without
  # information; under a budget, everything but verdicts, errors, tail and head. Marker lines say how much text was omitted, and the
  # Report can return that text. A result that does not get shorter stays unchanged, to the byte.
  #
  #   compressor = Aside::Compressor.new(budget: 4_000)
  #   log = "#{"warning: the same again\n" * 200}make: *** [all] Error 1\n"
  #   result = compressor.compress(log, tool_id: "bash", input: { command: "make" }, exit_code: 2)
  #   puts result.text.lines.last(3)
  #
  # A filter in Ruby is an object with these methods:
  #
  # +id+:: returns its name in banners and reports
  # <tt>apply(text, input)</tt>:: returns a shorter text, or nil if there is nothing to do
  # +tool_ids+:: returns the ids of the tools whose results the filter is for; an empty list means all. Optional
  # <tt>matches?(tool_id, input)</tt>:: returns whether the filter is for a call. Optional
  #
  # A cache, which is unstable, has +id+, +tool_ids+ and
  #
  # <tt>lookup(tool_id, input)</tt>:: returns the recorded text and its time (a Time or Integer), as an Array, or nil
  # <tt>record(tool_id, input, text, time)</tt>:: stores the raw text parts, joined with line feeds, and a Time <tt>observe(tool_id,
  # input)</tt>:: receives every call, before any cache's +lookup+ is called. Optional
  #
  # A text is a new String in UTF-8, valid if the tool's output was. +input+ is the call's input, parsed from JSON and frozen,
  # with String keys. A recorded result is used only if the fresh text equals the recorded text.
  #
  # [Exceptions in filters and caches] The object is skipped for that call, the others still run, and the report has its id and
  #                                    the exception. A StandardError is not raised, so that a filter's defect loses no
  #                                    result. Anything else, such as Interrupt, is raised at the end of the call. Throwing or
  #                                    yielding out of the object's method, or exiting the thread, counts as an exception too.
  # [Strings] Texts are Strings of any encoding. Changed texts are new Strings in UTF-8, valid if the original was.
  # [Threads] Only its caches change, so any number of threads may use a compressor at once; filters and caches in Ruby must
  #           allow that. They run in the thread that compresses, and must not use the compressor that called them: BusyError.
  #           While the library works, no other thread runs Ruby code, and Timeout waits until the call is over. A compressor
  #           stays in the Ractor that made it; in a Ractor other than the main one, close it and its reports. Filters and
  #           caches in Ruby work in the main Ractor only.
  # [Errors] Every method raises ClosedError after #close.
  class Compressor
    include Handle

    # The library refuses JSON with a deeper nesting.
    MAX_NESTING = 127
    private_constant :MAX_NESTING

    # Makes a compressor.
    #
    # +budget+:: the limit in bytes for a result's text parts together, banners and markers included; at least 1,024. nil: no
    #            budget. Protected and short parts stay whole, and every other part may have 1,024 bytes, so that a result of
    #            100 parts may have 100 KiB under any budget
    # +budget_tokens+:: the limit in tokens, at least 512, estimated from the shape of the text. If both budgets are set, both apply
    # +count+:: an object with +call+, such as a Proc, that returns the number of tokens of a String, in place of the estimate. It
    #           is called at most eight times for one result. If it raises an exception, the estimate counts, and the report has a
    #           failure of +count+
    # +memory+:: the longest text, in bytes, that #compress works on as a whole. A longer text is read window by window, as in a
    #            ToolStream with that much memory, and the report has no stretches of it. nil: a text of any length is worked on as
    #            a whole, which needs several times its length in memory
    # +switch_off+:: the banner's last sentence, which says how to switch compression off on this host
    # +built_in+:: false: leave out the built-in filters
    # +minify_json+:: true: add the filter that minifies JSON, the only one that changes protected text. Unstable
    # +filters+:: more filters, in order: texts of filter files (TOML) and objects as above. A filter replaces an earlier one with
    #             the same id
    # +last_run+:: the number of bytes for the library's own cache, which keeps the last result of each call; nil: no such
    #              cache. Unstable
    # +caches+:: more caches, objects as above. Unstable
    #
    # Raises FilterError for a text that is not a filter file, OptionError for a budget that is too small,
    # and TypeError for an object without the methods.
    def initialize(budget: nil, budget_tokens: nil, count: nil, memory: nil, switch_off: nil, built_in: true,
                   minify_json: false, filters: [], last_run: nil, caches: [])
      raise OptionError, "budget is below 1024" if budget&.zero?
      raise OptionError, "budget_tokens is below 512" if budget_tokens&.zero?
      raise TypeError, "#{count.inspect} has no method `call`" if count && !count.respond_to?(:call)

      switch_off = Native.fixed(Native.utf8(switch_off || ""))
      options = [Native::COMPRESSOR_OPTIONS_SIZE, Native.count("budget", budget || 0), switch_off, switch_off.bytesize,
                 Native.count("memory", memory || 0), Native.count("budget_tokens", budget_tokens || 0)]
      @lock = Lock.new
      @budget = budget
      @inside = {}.compare_by_identity # calls in progress, each with its thread
      @hosts = count ? [Host::Named.new("count", count).freeze] : []
      options = [*options, count ? Host::COUNT.address : 0, 0, 0].pack(Native::COMPRESSOR_OPTIONS_PACK)
      registry = Error.check_address(Native.aside_registry_new(built_in ? 1 : 0))
      begin
        Error.check(Native.aside_registry_minify_json(registry)) if minify_json
        filters.each { |filter| add(registry, filter) }
        Error.check(Native.aside_registry_add_last_run(registry, Native.count("last_run", last_run))) if last_run
        caches.each { |cache| add_cache(registry, cache) }
        @hosts.freeze
        own(Error.check_address(Native.aside_compressor_new(registry, options)), :aside_compressor_free)
      ensure
        Native.aside_registry_free(registry)
      end
    end

    # Compresses one tool's result, and returns a Compressed. The result is a String, or an Array of parts, in which a String is
    # text and anything else stays unchanged.
    #
    # +tool_id+:: the tool, a String or Symbol
    # +input+:: the tool's input: an object that JSON can represent, or a String of JSON. The input of a terminal tool has
    #           +command+, and may have +cwd+ and +exit_code+
    # +exit_code+:: an Integer that is added to the input, which must be an object (or nil)
    # +now+:: the time, for caches
    #
    # The output depends on nothing but text, input, options, caches and time. Raises TypeError and ArgumentError for arguments of a
    # wrong type or value, and OptionError for an input that is not JSON.
    def compress(result, tool_id:, input: nil, exit_code: nil, now: Time.now)
      text = String.try_convert(result)
      parts = text ? [result] : Array.try_convert(result)&.dup or
        raise TypeError, "a result must be a String or an Array of parts, not #{result.class}"
      tool_id = Native.name(tool_id)
      texts = parts.map { |part| (text = String.try_convert(part)) && Native.fixed(Native.utf8(text)) }
      list = texts.flat_map { |one| [one, one ? one.bytesize : 0] }.pack(Native::BYTES_PACK * texts.size)
      called = called(tool_id, input, exit_code, now)
      using do |call|
        # An exception from another thread waits for the end of the call; by then the Report owns the result and frees it.
        report = Report.new(Error.check_address(Native.aside_compress(address, called, list, texts.size)), tool_id, call.failed)
        Compressed.new(parts.each_with_index.map { |part, index| outcome(report, index, part) }, report)
      end
    end

    # Returns a ToolStream for one tool's output, which holds up to +memory+ bytes of it. +memory+ must be at least 4,096 and
    # at least four times the budget; otherwise OptionError is raised. The compressor may be closed before the stream.
    #
    #   stream = compressor.stream(tool_id: "bash", memory: 16_000, input: { command: "make" })
    def stream(tool_id:, memory:, input: nil, exit_code: nil)
      tool_id = Native.name(tool_id)
      called = called(tool_id, input, exit_code, 0)
      memory = Native.count("memory", memory)
      using do
        ToolStream.new(Error.check_address(Native.aside_tool_stream_new(address, called, memory)), @hosts, tool_id)
      end
    end

    # Frees the compressor at once, without waiting for Ruby to collect it. Its streams remain usable. May be called again; every
    # other method then raises ClosedError. Raises BusyError while it compresses. Returns nil.
    def close
      @lock.synchronize do
        raise BusyError, "this #{self.class} is in use" if @inside.values.any?(&:alive?) # after a fork, some threads do not exist

        Native.aside_compressor_free(disown) unless closed?
      end
      nil
    end

    private

    def described
      "budget=#{@budget}" if @budget
    end

    def using
      Host::Call.within(@hosts) do |call|
        @lock.synchronize do
          address
          @inside[call] = Thread.current
        end
        yield call
      ensure
        @inside.delete(call) # deleted without the lock, because waiting for the lock can be interrupted
      end
    end

    def add(registry, filter)
      if (toml = String.try_convert(filter))
        toml = Native.utf8(toml)
        Error.check(Native.aside_registry_add_toml(registry, toml, toml.bytesize))
      else
        matches = filter.respond_to?(:matches?) ? Host::MATCHES.address : 0
        host = registered(Native::FILTER_SIZE, Native::FILTER_PACK, filter, [:apply], [matches, Host::APPLY.address])
        Error.check(Native.aside_registry_add_filter(registry, host))
      end
    end

    def add_cache(registry, cache)
      observe = cache.respond_to?(:observe) ? Host::OBSERVE.address : 0
      callbacks = [observe, Host::LOOKUP.address, Host::RECORD.address]
      host = registered(Native::CACHE_SIZE, Native::CACHE_PACK, cache, %i[lookup record], callbacks)
      Error.check(Native.aside_registry_add_cache(registry, host))
    end

    # Returns the struct of a filter or cache. The library passes its number to the callbacks; there is nothing to release.
    def registered(size, format, object, methods, callbacks)
      missing = [:id, *methods].find { |method| !object.respond_to?(method) }
      raise TypeError, "#{object.inspect} has no method `#{missing}`" if missing

      id = Native.fixed(Native.name(object.id))
      tool_ids = Native.names(object.respond_to?(:tool_ids) ? object.tool_ids : [])
      @hosts << Host::Named.new(id, object).freeze
      [size, id, id.bytesize, tool_ids.first, tool_ids.last, *callbacks, 0, @hosts.size - 1].pack(format)
    end

    # Returns the struct that describes one run of a tool.
    def called(tool_id, input, exit_code, now)
      input = json(input, exit_code)
      tool_id = Native.fixed(tool_id)
      [Native::INVOCATION_SIZE, tool_id, tool_id.bytesize, input, input.bytesize, Native.count("now", now.to_i)]
        .pack(Native::INVOCATION_PACK)
    end

    def json(input, exit_code)
      text = String.try_convert(input)
      return Native.fixed(Native.utf8(text)) if text && !exit_code

      input = JSON.parse(Native.utf8(text), max_nesting: MAX_NESTING) if text
      if exit_code
        input = Hash.try_convert(input || {}) or raise ArgumentError, "exit_code needs an input that is an object"
        input = input.transform_keys(&:to_s).merge("exit_code" => Integer(exit_code))
      end
      Native.fixed(JSON.generate(input, max_nesting: MAX_NESTING))
    rescue JSON::JSONError, EncodingError => e
      raise ArgumentError, "input is not JSON: #{e.message}"
    end

    def outcome(report, index, part)
      out = Native.buffer(Native::BYTES_SIZE)
      status = Error.check(Native.aside_compressed_part(report.address, index, out))
      return part if status == Native::NONE

      at, len = out.unpack(Native::BYTES_UNPACK)
      Native.text(at, len) unless len.zero?
    end
  end
end
