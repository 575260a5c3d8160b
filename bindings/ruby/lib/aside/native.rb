# frozen_string_literal: true

require "ffi"

module Aside
  # Finds the native library and declares the functions of the C headers. Handles are Integers and buffers are Strings: not every
  # version of FFI can make its own objects outside of the main Ractor, and a String can be unpacked without a copy.
  module Native # :nodoc:
    extend FFI::Library

    ABI_VERSION = 1
    # The version of aside_unstable.h.
    UNSTABLE_VERSION = 1
    # The library's file name with the number of its binary interface.
    SONAME = FFI::Platform.mac? ? "libaside.1.dylib" : "libaside.so.1"

    OK = 0
    MORE = 2
    NONE = 3

    STARTS = { nil => 0, content: 1, thinking: 2, narration: 3, tool: 4, header: 5 }.freeze
    STRAY_CLOSES = { dialect: 0, text: 1 }.freeze
    CALLS_IN_THINKING = { dialect: 0, never: 1 }.freeze

    # By number.
    KINDS = [nil, :open, :attribute, :text, :framing, :close, :reclassify, :budget, :call, :call_name, :call_id, :call_key,
             :call_type, :call_value, :call_value_end, :call_end].freeze
    CHANNELS = %i[content thinking narration tool].freeze
    CAUSES = %i[marker implied end_of_stream forced malformed].freeze

    # The structs of the C headers for String#pack and String#unpack. Each unpacked number costs time, so the fields of an event and
    # of a feed's result that every text needs are apart from the others.
    OPTIONS = "JL2Q2L6"
    OPTIONS_SIZE = 56
    REWRITER_OPTIONS = "JL4QL2pJQL6"
    REWRITER_OPTIONS_SIZE = 88
    REWRITER_STATS = "x8Q12L"
    REWRITER_STATS_SIZE = 112
    EXCHANGE = "JL2pJpJpJpJ"
    EXCHANGE_SIZE = 80
    COUNTS = "x8Q4"
    COUNTS_SIZE = 40
    # kind, channel, offset, len; cause, rule; tag; text_at, name_len, value_len.
    EVENT = "L2x8Q2x32"
    EVENT_SIZE = 64
    EVENT_CAUSE_AT = 8
    EVENT_RULE_TAG = "Lx16L2"
    EVENT_RULE_AT = 12
    EVENT_ATTRIBUTE = "L3"
    EVENT_ATTRIBUTE_AT = 36
    WHOLE_EVENT = "L4Q2L8"
    # count, offset; consumed; held, held_len; attributes.
    FED = "Jx8Q"
    FED_SIZE = 56
    FED_CONSUMED = "@8J"
    FED_HELD = "@24J2"
    FED_ATTRIBUTES = "@40J"
    THOUGHT = "J3QL4J2dJ2"
    THOUGHT_SIZE = 88
    ATTRIBUTE = "J4"
    ATTRIBUTE_SIZE = 32
    CALL_WRITER_OPTIONS = "JpJpJQ"
    CALL_WRITER_OPTIONS_SIZE = 48
    CALL_DELTA = "x8Q2J8L4"
    CALL_DELTA_SIZE = 104
    JOIN_CALL = "pJpJpJ"
    JOIN_CALL_SIZE = 48
    JOIN_OPTIONS = "JpJpJpJ2L2"
    JOIN_OPTIONS_SIZE = 72
    # A text's address and length: as an argument, and as a result.
    TEXT = "pJ"
    BYTES = ["J2", 16].freeze
    COMPRESSOR_OPTIONS = "JQpJQ"
    COMPRESSOR_OPTIONS_SIZE = 40
    INVOCATION = "JpJpJQ"
    INVOCATION_SIZE = 48
    # tool_id, input, now.
    GIVEN_INVOCATION = "x8J4Q"
    HOST_FILTER_SIZE = 72
    HOST_CACHE_SIZE = 80
    REPORT = "x8Q4J6L2"
    REPORT_SIZE = 96
    FAILED = "x8J4"
    FAILED_SIZE = 40
    PART_REPORT = "x8JQ2J"
    PART_REPORT_SIZE = 40
    STRETCH = "x8Q3Ll"
    STRETCH_SIZE = 40
    NO_FILTER = -1
    COMMAND = "x8J6L2"
    COMMAND_SIZE = 64

    class << self
      # Returns a String for the library to write into.
      def buffer(size)
        "\0".b * size
      end

      # Returns a copy of +len+ bytes of the library's memory, as UTF-8.
      def text(address, len)
        string = buffer(len)
        memcpy(string, address, len) if len.positive?
        string.force_encoding(Encoding::UTF_8)
      end

      # Returns a copy of a text for calls in which Ruby code runs: nobody changes it, and it is too large to be embedded and
      # moved.
      def fixed(string)
        String.new(capacity: [string.bytesize, 1024].max) << string
      end

      # Returns the text of a String or Symbol.
      def name(object)
        utf8(object.is_a?(Symbol) ? object.name : object)
      end

      # Returns the array that passes several texts to the library, nil for none, and their number.
      def names(objects)
        names = Array(objects).map { |object| fixed(name(object)) }
        [(names.flat_map { |name| [name, name.bytesize] }.pack(TEXT * names.size) unless names.empty?), names.size]
      end

      # Returns the fields of each struct in an array of the library.
      def array(address, count, format, size)
        structs(text(address, count * size), format, size)
      end

      # Returns the fields of each struct in a copy of such an array.
      def structs(bytes, format, size)
        return [] if bytes.empty?

        count = bytes.bytesize / size
        fields = bytes.unpack(format * count)
        fields.each_slice(fields.size / count).to_a
      end

      # Returns a copy of a text that is borrowed from the library. The block calls the function that writes it.
      def borrowed
        out = buffer(BYTES.last)
        Error.check(yield(out))
        text(*out.unpack(BYTES.first))
      end

      # Returns a copy of a text that the library has made, and frees it. The block calls the function that returns its address
      # and writes its length.
      def made
        len = buffer(8)
        at = Error.check_address(yield(len))
        begin
          text(at, len.unpack1("J"))
        ensure
          aside_free(at)
        end
      end

      # Returns the fields of a struct that begins with its size. The block calls the function that fills it, and returns whether
      # it did.
      def filled(size, format)
        out = [size].pack("J").ljust(size, "\0")
        out.unpack(format) if yield(out)
      end

      # Returns the number of a symbol.
      def number(name, value, numbers)
        numbers.fetch(value) do
          raise ArgumentError, "#{name} must be one of #{numbers.keys.compact}, not #{value.inspect}"
        end
      end

      # Returns a number if it is an unsigned one of 64 bits.
      def count(name, value)
        return value if value.is_a?(Integer) && value.between?(0, 0xFFFF_FFFF_FFFF_FFFF)

        raise ArgumentError, "#{name} must be a number, 0 or more, not #{value.inspect}"
      end

      def last_error
        aside_last_error.force_encoding(Encoding::UTF_8)
      end

      # Returns a whole text as UTF-8. Bytes without an encoding are taken as they are.
      def utf8(string)
        string = string(string)
        case string.encoding
        when Encoding::UTF_8 then string
        when Encoding::BINARY, Encoding::US_ASCII then string.force_encoding(Encoding::UTF_8)
        else string.encode(Encoding::UTF_8, invalid: :replace, undef: :replace)
        end
      end

      def string(object)
        string = String.try_convert(object) or
          raise TypeError, "text must be a String, not #{object.nil? ? "nil" : object.class}"
        String.new(string) # a copy that nobody else can change, and not of a subclass
      end

      private

      # Returns the path or name of the library: the one that ASIDE_LIBRARY names, and no other; without it, the first that
      # loads of the gem's own and the system's.
      def locate
        named = ENV.fetch("ASIDE_LIBRARY", "")
        own = File.join(__dir__, "libaside.#{FFI::Platform::LIBSUFFIX}")
        places = named.empty? ? { own => "the gem's folder", SONAME => "the system" } : { named => "ASIDE_LIBRARY" }
        tried = places.map do |path, place|
          FFI::DynamicLibrary.open(path, FFI::DynamicLibrary::RTLD_LAZY | FFI::DynamicLibrary::RTLD_LOCAL)
          return path
        rescue LoadError => e
          "  #{path} (#{place}): #{e.message}"
        end
        tried << "  (ASIDE_LIBRARY is not set)" if named.empty?
        raise LibraryError, "libaside was not found. Looked at:\n#{tried.join("\n")}"
      end
    end

    path = locate
    ffi_lib path, FFI::Library::LIBC

    typedef :size_t, :address

    begin
      attach_function :aside_abi_version, [], :uint32
      attach_function :aside_version, [], :string
      attach_function :aside_last_error, [], :string
      attach_function :aside_last_status, [], :int32

      attach_function :aside_dialect_find, %i[buffer_in size_t], :address
      attach_function :aside_dialect_find_for_model, %i[buffer_in size_t], :address
      attach_function :aside_dialect_find_for_template_with,
                      %i[buffer_in size_t buffer_in size_t buffer_out size_t buffer_out], :size_t
      attach_function :aside_dialect_load, %i[buffer_in size_t buffer_out], :int32
      attach_function :aside_dialect_free, [:address], :void
      attach_function :aside_dialect_name, %i[address buffer_out], :address
      attach_function :aside_dialect_family, %i[address uint32 buffer_out], :address
      attach_function :aside_dialect_opener, %i[address uint32 uint32 buffer_out], :address
      attach_function :aside_dialect_max_hold, [:address], :size_t
      attach_function :aside_dialect_start, [:address], :uint32
      attach_function :aside_dialect_preload, %i[buffer_in size_t], :int32
      attach_function :aside_dialect_count, [], :size_t
      attach_function :aside_dialect_name_at, %i[size_t buffer_out], :address

      attach_function :aside_scanner_new, %i[address buffer_in], :address
      attach_function :aside_scanner_clone, [:address], :address
      attach_function :aside_scanner_free, [:address], :void
      attach_function :aside_scanner_start_from_prompt, %i[address buffer_in size_t buffer_out], :int32
      attach_function :aside_scanner_feed_text, %i[address buffer_in size_t], :int32
      attach_function :aside_scanner_feed_into, %i[address buffer_in size_t buffer_out size_t size_t buffer_out], :int32
      attach_function :aside_scanner_feed_tokens_into,
                      %i[address buffer_in size_t buffer_in size_t buffer_out size_t size_t buffer_out], :int32
      attach_function :aside_scanner_finish_into, %i[address buffer_out size_t size_t buffer_out], :int32
      attach_function :aside_scanner_flush_into, %i[address buffer_out size_t size_t buffer_out], :int32
      attach_function :aside_scanner_force_close_into, %i[address buffer_out size_t size_t buffer_out], :int32
      attach_function :aside_scanner_reset, [:address], :int32
      attach_function :aside_scanner_held, [:address], :size_t
      attach_function :aside_scanner_max_hold, [:address], :size_t
      attach_function :aside_scanner_offset, [:address], :uint64
      attach_function :aside_scanner_counts, %i[address uint32 buffer_inout], :int32
      attach_function :aside_scanner_take_thought, %i[address buffer_inout], :int32
      attach_function :aside_scanner_lost_thoughts, [:address], :uint64

      attach_function :aside_call_writer_new, %i[address buffer_in], :address
      attach_function :aside_call_writer_free, [:address], :void
      attach_function :aside_call_writer_feed, %i[address buffer_in buffer_in buffer_inout], :int32
      attach_function :aside_call_writer_reset, [:address], :int32

      attach_function :aside_rewriter_new, %i[address buffer_in], :address
      attach_function :aside_rewriter_free, [:address], :void
      attach_function :aside_rewriter_feed, %i[address buffer_in size_t buffer_out], :int32
      attach_function :aside_rewriter_finish, %i[address buffer_out], :int32
      attach_function :aside_rewriter_reset, [:address], :int32
      attach_function :aside_rewriter_use_dialect, %i[address address uint32], :int32
      attach_function :aside_rewriter_use_tools, %i[address buffer_in size_t], :int32
      attach_function :aside_rewriter_start_from_prompt, %i[address buffer_in size_t buffer_out], :int32
      attach_function :aside_rewriter_get_stats, %i[address buffer_inout], :int32
      attach_function :aside_rewriter_wants, %i[buffer_in buffer_out], :int32
      attach_function :aside_request_hint, %i[buffer_in buffer_out], :int32
      attach_function :aside_request_model, %i[buffer_in size_t buffer_out size_t buffer_out], :int32

      attach_function :aside_strip, %i[address buffer_in size_t buffer_out], :address
      attach_function :aside_join, %i[address buffer_in buffer_out], :address
      attach_function :aside_escape, %i[address buffer_in size_t buffer_out], :address
      attach_function :aside_free, [:address], :void

      attach_function :aside_registry_new, [:uint32], :address
      attach_function :aside_registry_free, [:address], :void
      attach_function :aside_registry_add_toml, %i[address buffer_in size_t], :int32
      attach_function :aside_registry_add_filter, %i[address buffer_in], :int32
      attach_function :aside_registry_add_cache, %i[address buffer_in], :int32
      attach_function :aside_registry_add_last_run, %i[address size_t], :int32
      attach_function :aside_registry_minify_json, [:address], :int32
      attach_function :aside_registry_remove, %i[address buffer_in size_t], :int32
      attach_function :aside_filter_check, %i[buffer_in size_t], :int32
      attach_function :aside_reply_write, %i[address buffer_in size_t], :int32

      attach_function :aside_compressor_new, %i[address buffer_in], :address
      attach_function :aside_compressor_free, [:address], :void
      attach_function :aside_compress, %i[address buffer_in buffer_in size_t], :address
      attach_function :aside_compressed_part, %i[address size_t buffer_out], :int32
      attach_function :aside_compressed_report, %i[address buffer_inout], :int32
      attach_function :aside_compressed_failed, %i[address size_t buffer_inout], :int32
      attach_function :aside_compressed_part_report, %i[address size_t buffer_inout], :int32
      attach_function :aside_compressed_stretch, %i[address size_t size_t buffer_inout], :int32
      attach_function :aside_compressed_slice,
                      %i[address size_t buffer_in size_t uint64 uint64 buffer_out], :int32
      attach_function :aside_compressed_free, [:address], :void
      attach_function :aside_tool_stream_new, %i[address buffer_in size_t], :address
      attach_function :aside_tool_stream_free, [:address], :void
      attach_function :aside_tool_stream_feed, %i[address buffer_in size_t buffer_out], :int32
      attach_function :aside_tool_stream_set_exit_code, %i[address int64], :int32
      attach_function :aside_tool_stream_finish, %i[address buffer_out], :int32
      attach_function :aside_tool_stream_report, [:address], :address

      attach_function :aside_command_line_parse, %i[buffer_in size_t], :address
      attach_function :aside_command_line_command, %i[address size_t buffer_inout], :int32
      attach_function :aside_command_line_free, [:address], :void

      attach_function :aside_is_protected, %i[buffer_in size_t], :int32
      attach_function :aside_format_banner, %i[buffer_in size_t uint64 uint64 buffer_out], :address
      attach_function :aside_min_compressible, [], :size_t
      attach_function :aside_min_budget, [], :size_t
      attach_function :aside_unstable_version, [], :uint32
    rescue FFI::NotFoundError => e
      raise LibraryError, "#{path} is not a libaside of version #{VERSION}: #{e.message}"
    end

    attach_function :memcpy, %i[buffer_out address size_t], :address
    attach_function :memcpy_to, :memcpy, %i[address buffer_in size_t], :address

    unless aside_abi_version == ABI_VERSION
      raise LibraryError, "#{path} has the binary interface #{aside_abi_version} (libaside #{aside_version}); " \
                          "this gem needs #{ABI_VERSION}"
    end
    unless aside_unstable_version == UNSTABLE_VERSION
      raise LibraryError, "#{path} has version #{aside_unstable_version} of aside_unstable.h (libaside #{aside_version}); " \
                          "this gem needs #{UNSTABLE_VERSION}"
    end

    # Ruby 3.1 looks up the keywords of String.new on the first call that has some, without a lock. If two Ractors came first
    # at once, one could find only half of them and raise an ArgumentError. So the first call is made here.
    fixed("")

    freeze
  end
  private_constant :Native
end
