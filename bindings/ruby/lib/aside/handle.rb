# frozen_string_literal: true

module Aside
  # Owning an object of the library: it is freed by +close+, or behind the last reference to its owner. In a Ractor other
  # than the main one by +close+ alone: Ruby keeps finalizers in a table that Ractors change without a lock (seen to end
  # the process in Ruby 3.1, without this gem).
  module Handle
    # It also keeps its owner from being sent to another Ractor, which would copy it without a word, or move it: a Mutex
    # cannot be moved.
    class Lock < Thread::Mutex # :nodoc:
      def initialize
        @inside = nil
        super
      end

      def initialize_copy(_other)
        raise TypeError, "it cannot be sent to another Ractor"
      end

      # For one at a time: the others get an error.
      #
      # With +try_lock+ it would stay locked where a signal, or another thread as Timeout does, raises as that returns.
      # Between the look at @inside and its change nothing can: Ruby lets others in where a method or block ends, its own
      # ones too, and at a jump that is taken.
      def hold(owner)
        thread = Thread.current
        forget if @inside
        if @inside.nil?
          begin
            @inside = thread
            yield
          ensure
            @inside = nil
          end
        else
          raise BusyError, "this #{owner.class} is in use by another thread"
        end
      end

      private

      # Who was inside when another thread forked stays in the first process.
      def forget
        thread = @inside
        @inside = nil if thread && !thread.alive? && @inside == thread
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
      @address = nil
      raise TypeError, "an #{self.class} cannot be copied"
    end

    # Its address means nothing to who loads it.
    def marshal_dump # :nodoc:
      raise TypeError, "an #{self.class} cannot be dumped"
    end

    # The same for YAML.
    def encode_with(_coder) # :nodoc:
      marshal_dump
    end

    private

    # For what one thread at a time may use: it has a Lock, +@lock+.
    def exclusively
      @lock.hold(self) { yield }
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
