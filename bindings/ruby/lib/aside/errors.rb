# frozen_string_literal: true

module Aside
  # The superclass of the errors that Aside raises when the library refuses or fails. Each status of +aside.h+ that a Ruby program
  # can meet has its own class. An argument of a wrong type is a TypeError, and an unknown symbol an ArgumentError.
  #
  #   begin
  #     Aside::Dialect.find("qwen33")
  #   rescue Aside::UnknownDialectError => e
  #     warn e.message  # lists the nearest names
  #   end
  class Error < StandardError
    # The status of the library, a negative Integer; nil if the error is not from the library.
    attr_reader :status

    def initialize(message = nil, status: nil) # :nodoc:
      super(message)
      @status = status
    end

    # Raises the error of a negative status; returns any other status. The library keeps the message for each native thread, so
    # no other call of the library may come between the failed call and this one.
    def self.check(status) # :nodoc:
      return status if status >= 0

      raise BY_STATUS.fetch(status, Error).new(Native.last_error, status: status)
    end

    # Raises the last error if a function has returned NULL; returns any other address.
    def self.check_address(address) # :nodoc:
      check(Native.aside_last_status) if address.zero?
      address
    end
  end

  # No built-in dialect has that name, or no dialect is known for that model or template. The message lists the nearest names.
  class UnknownDialectError < Error; end

  # A chat template fits several dialects equally well.
  class AmbiguousDialectError < UnknownDialectError
    # The names of these dialects, sorted and frozen.
    attr_reader :candidates

    def initialize(message = nil, status: nil, candidates: []) # :nodoc:
      super(message, status: status)
      @candidates = candidates.freeze
    end
  end

  # A text is not a dialect file. The message names the line and the key.
  class DialectError < Error; end

  # An option has a value that it cannot have, or that the dialect does not support.
  class OptionError < Error; end

  # Another thread, or a callback that encloses this call, is using the object. Nothing has changed.
  class BusyError < Error; end

  # A start was set after the stream's first byte, or a tool's output was fed after its end. Nothing has changed.
  class OrderError < Error; end

  # A text cannot be joined or escaped. The message says which byte of which part would be read as a marker, or the form that the
  # dialect lacks.
  class JoinError < Error; end

  # A text is not a filter file, or the filter fails its own tests. The message names the line and the key.
  class FilterError < Error; end

  # A text is not the original that a report describes.
  class OriginalError < Error; end

  # Memory ran out. A scanner, answer or rewriter stays in this error until +reset+.
  class OutOfMemoryError < Error; end

  # The library caught a defect in itself. The object keeps this error: make a new one.
  class DefectError < Error; end

  # An object was used after +close+.
  class ClosedError < Error; end

  # The native library was not found, or has another version. The message lists the places that were searched.
  class LibraryError < LoadError; end

  class Error
    BY_STATUS = {
      Native::ERROR_NULL => ClosedError, # NULL: the object was closed by another thread
      Native::ERROR_UNKNOWN => UnknownDialectError,
      Native::ERROR_AMBIGUOUS => AmbiguousDialectError,
      Native::ERROR_DIALECT => DialectError,
      Native::ERROR_OPTION => OptionError,
      Native::ERROR_BUSY => BusyError,
      Native::ERROR_ORDER => OrderError,
      Native::ERROR_MEMORY => OutOfMemoryError,
      Native::ERROR_PANIC => DefectError,
      Native::ERROR_JOIN => JoinError,
      Native::ERROR_FILTER => FilterError,
      Native::ERROR_ORIGINAL => OriginalError
    }.freeze
    private_constant :BY_STATUS
  end
end
