# frozen_string_literal: true

require "ffi"

module Aside
  # Finds the native library and attaches the functions of the C headers, which layout.rb declares. Handles are Integers and
  # buffers are Strings: not every version of FFI can make its own objects outside the main Ractor, and a String can be
  # unpacked without a copy.
  module Native # :nodoc:
    extend FFI::Library

    # The version of aside_unstable.h.
    UNSTABLE_VERSION = 1
    # The library's file name with the number of its binary interface.
    SONAME = FFI::Platform.mac? ? "libaside.1.dylib" : "libaside.so.1"

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

      # Returns a copy of a text for calls in which Ruby code runs. That code cannot change the copy, and the copy is too large to
      # be embedded in its object, which the garbage collector may move.
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
        [(names.flat_map { |name| [name, name.bytesize] }.pack(BYTES_PACK * names.size) unless names.empty?), names.size]
      end

      # Returns the fields of each struct in an array of the library.
      def array(address, count, format, size)
        structs(text(address, count * size), format, size)
      end

      # Returns the fields of each struct in a copy of an array of the library.
      def structs(bytes, format, size)
        return [] if bytes.empty?

        count = bytes.bytesize / size
        fields = bytes.unpack(format * count)
        fields.each_slice(fields.size / count).to_a
      end

      # Returns a copy of a text that is borrowed from the library. The block calls the function that writes it.
      def borrowed
        out = buffer(BYTES_SIZE)
        Error.check(yield(out))
        text(*out.unpack(BYTES_UNPACK))
      end

      # Returns a copy of a text that the library has allocated, and frees the text. The block calls the function that returns the
      # text's address and writes its length. An exception from another thread, such as Timeout's, waits until the text is freed.
      def made
        len = buffer(8)
        Thread.handle_interrupt(Object => :never) do
          at = Error.check_address(yield(len))
          text(at, len.unpack1("J"))
        ensure
          aside_free(at) if at
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

      # Returns the set of a symbol, or of several.
      def bits(name, values, numbers)
        Array(values).map { |value| number(name, value, numbers) }.reduce(0, :|)
      end

      # Returns the bytes of a struct of options. +kinds+ are its options, and +given+ those that are set.
      def options(kinds, size, format, given)
        unknown = given.keys - kinds.keys
        raise ArgumentError, "unknown keyword: #{unknown.first.inspect}" unless unknown.empty?

        [size, *kinds.flat_map { |name, kind| field(name, kind, given[name]) }].pack(format)
      end

      def answer_options(given) = options(ANSWER_OPTIONS, ANSWER_OPTIONS_SIZE, ANSWER_OPTIONS_PACK, given)

      def rewriter_options(given) = options(REWRITER_OPTIONS, REWRITER_OPTIONS_SIZE, REWRITER_OPTIONS_PACK, given)

      # Returns a number, which must fit into 64 unsigned bits.
      def count(name, value)
        return value if value.is_a?(Integer) && value.between?(0, 0xFFFF_FFFF_FFFF_FFFF)

        raise ArgumentError, "#{name} must be a number, 0 or more, not #{value.inspect}"
      end

      # Returns the counts of a channel. The block calls the function that fills their struct.
      def counts(channel)
        number = CHANNEL.index(channel) or raise ArgumentError, "channel must be one of #{CHANNEL}, not #{channel.inspect}"
        filled(COUNTS_SIZE, COUNTS_UNPACK) { |out| Error.check(yield(number, out)) }
      end

      # Returns the joined text of tokens, and the length and the mark of each.
      def tokens(tokens)
        chunk = +""
        lengths = tokens.flat_map do |text, special|
          text = utf8(text)
          chunk << text
          [text.bytesize, special ? 1 : 0]
        end
        [chunk, lengths]
      end

      def last_error
        aside_last_error.force_encoding(Encoding::UTF_8)
      end

      # Returns a whole text as UTF-8. Bytes without an encoding are not converted.
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
        String.new(string) # a plain String that nobody else can change
      end

      private

      def sized(text)
        [text, text.bytesize]
      end

      # Returns the fields of an option; a value of nil is the default.
      def field(name, kind, value)
        case kind
        when :text then value ? sized(utf8(value)) : [nil, 0]
        when :flag then value ? 1 : 0
        when :count then count(name, value || 0)
        when :struct then value
        when :zero then 0
        when Array then bits(name, value, kind.first)
        else value.nil? ? 0 : number(name, value, kind)
        end
      end

      # Returns the path or name of the library: that of ASIDE_LIBRARY if it is set; otherwise the gem's own library, or the
      # system's if the gem's does not load.
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
      FUNCTIONS.each { |name, (parameters, result)| attach_function name, parameters, result }
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

    # Ruby 3.1 looks up the keywords of String.new, without a lock, on the first call with keywords. If two Ractors made their
    # first calls at once, one could find only half of the keywords and raise an ArgumentError. So the first call is made here.
    fixed("")

    freeze
  end
  private_constant :Native
end
