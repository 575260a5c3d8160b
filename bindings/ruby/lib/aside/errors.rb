# frozen_string_literal: true

module Aside
  # What Aside raises where the library refuses or fails. Each status of +aside.h+ that a Ruby program can meet has a
  # class of its own; a wrong type of argument is a TypeError, an unknown symbol an ArgumentError.
  class Error < StandardError
    # The status of the library, an Integer below 0; nil where it was not asked.
    attr_reader :status

    def initialize(message = nil, status: nil) # :nodoc:
      super(message)
      @status = status
    end

    # Raises what a status below 0 stands for; gives any other back. The message belongs to the native thread: nothing
    # may come between the call that failed and this.
    def self.check(status) # :nodoc:
      return status if status >= 0

      raise BY_STATUS.fetch(status, Error).new(Native.last_error, status: status)
    end

    # The same for functions that give NULL.
    def self.check_address(address) # :nodoc:
      check(Native.aside_last_status) if address.zero?
      address
    end
  end

  # No dialect of that name is built in (the message names the nearest ones), or known for that model or template.
  class UnknownDialectError < Error
    # The names of the dialects that a chat template fits equally well, sorted; otherwise empty. Frozen.
    attr_reader :candidates

    def initialize(message = nil, status: nil, candidates: []) # :nodoc:
      super(message, status: status)
      @candidates = candidates.freeze
    end
  end

  # A dialect's text is not one. The message names line and key.
  class DialectError < Error; end

  # An option that the dialect has no use for, or a value that cannot be.
  class OptionError < Error; end

  # What one thread at a time may use is in use by another, or by its own callback. Nothing has changed.
  class BusyError < Error; end

  # A start that is said behind the stream's first byte, or output behind its end. Nothing has changed.
  class OrderError < Error; end

  # A text cannot be joined or escaped. The message says which part and which byte of it would be read as something else,
  # or what the dialect lacks.
  class JoinError < Error; end

  # A filter file's text is not one, or does not pass its own tests. The message names line and key.
  class FilterError < Error; end

  # A text is not the one that a report is about.
  class OriginalError < Error; end

  # Memory ran out. A scanner or rewriter that says so stays in error until its +reset+.
  class OutOfMemoryError < Error; end

  # A defect of the library. What has said so says it for ever; make a new one.
  class DefectError < Error; end

  # A scanner, a dialect or the like was used after its +close+.
  class ClosedError < Error; end

  # The native library was not found, or is of another version. The message says where it was looked for.
  class LibraryError < LoadError; end

  class Error
    BY_STATUS = {
      -1001 => ClosedError, # NULL, which stands for what was closed meanwhile
      -1003 => UnknownDialectError,
      -1004 => DialectError,
      -1005 => OptionError,
      -1007 => BusyError,
      -1008 => OrderError,
      -1009 => OutOfMemoryError,
      -1011 => DefectError,
      -1012 => JoinError,
      -1013 => FilterError,
      -1014 => OriginalError
    }.freeze
    private_constant :BY_STATUS
  end
end
