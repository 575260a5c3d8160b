# frozen_string_literal: true

module Aside
  # Owning an object of the library: it is freed by +close+, or behind the last reference to its owner. In a Ractor other
  # than the main one by +close+ alone: Ruby keeps finalizers in a table that Ractors change without a lock (seen to end
  # the process in Ruby 3.1, without this gem).
  module Handle
    # It keeps what it is in from being sent to another Ractor, which would copy it without a word.
    class Lock < Thread::Mutex # :nodoc:
      def initialize_copy(_other)
        raise TypeError, "it cannot be sent to another Ractor"
      end
    end

    # The object id is that of the object which goes: Ruby gives a copy the finalizers of its original, even where
    # initialize_copy refuses the copy.
    def self.finalizer(function, address, owner) # :nodoc:
      proc { |id| Native.public_send(function, address) if id == owner }
    end

    # Whether it was closed.
    def closed?
      @address.nil?
    end

    def inspect # :nodoc:
      "#<#{self.class}#{" closed" if closed?}>"
    end

    def address # :nodoc:
      @address or raise ClosedError, "this #{self.class} is closed"
    end

    def initialize_copy(_other) # :nodoc:
      raise TypeError, "a #{self.class} cannot be copied"
    end

    private

    # For what one thread at a time may use: it has a Lock, +@lock+.
    def exclusively
      raise_busy unless @lock.try_lock
      begin
        yield
      ensure
        @lock.unlock
      end
    end

    def raise_busy
      raise BusyError, "this #{self.class} is in use by another thread"
    end

    def own(address, function)
      @address = address
      @finalized = Ractor.current == Ractor.main
      ObjectSpace.define_finalizer(self, Handle.finalizer(function, address, object_id)) if @finalized
    end

    def disown
      address = @address
      @address = nil
      ObjectSpace.undefine_finalizer(self) if @finalized
      address
    end
  end
  private_constant :Handle
end
