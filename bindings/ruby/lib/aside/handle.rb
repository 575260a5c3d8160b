# frozen_string_literal: true

module Aside
  # The ownership of an object of the library: +close+ frees it, or the garbage collector frees it with its owner. It must
  # never be used after that, nor by two threads at once.
  #
  # In a Ractor other than the main one, only +close+ frees it. Ruby keeps finalizers in a table that Ractors change without a lock;
  # in Ruby 3.1, this has ended processes, also without this gem.
  module Handle
    # A lock that refuses instead of waiting. As a Mutex it also keeps its owner in its Ractor: a Mutex can be neither copied
    # nor moved to another one, whereas Ruby would silently copy or move other objects.
    class Lock < Thread::Mutex # :nodoc:
      def initialize
        @inside = nil
        super
      end

      def initialize_copy(_other)
        raise TypeError, "it cannot be sent to another Ractor"
      end

      # Runs the block if no other thread is inside; otherwise raises BusyError.
      #
      # This does not call +try_lock+: a signal's handler, or another thread as Timeout does, could raise just as it returns,
      # and the lock would stay locked. No interrupt can come between the test of @inside and its assignment, because Ruby
      # checks for interrupts where a method or block ends (built-in ones too) and at a jump that is taken.
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

      # After a fork, forgets the thread that was inside, because it exists only in the parent process.
      def forget
        thread = @inside
        @inside = nil if thread && !thread.alive? && @inside == thread
      end
    end

    # Returns a finalizer for one object only. Ruby copies finalizers together with their object, even if initialize_copy
    # refuses the copy; +id+ identifies the object that is collected.
    def self.finalizer(function, address, owner) # :nodoc:
      proc { |id| Native.public_send(function, address) if id == owner }
    end

    # Returns whether #close was called.
    def closed?
      @address.nil?
    end

    def inspect # :nodoc:
      "#<#{self.class}#{" #{described}" if described}#{" closed" if closed?}>"
    end

    def address # :nodoc:
      @address or raise ClosedError, "this #{self.class} is closed"
    end

    def initialize_copy(_other) # :nodoc:
      @address = nil
      raise TypeError, "an #{self.class} cannot be copied"
    end

    # Refuses Marshal, because an address means nothing in another process.
    def marshal_dump # :nodoc:
      raise TypeError, "an #{self.class} cannot be dumped"
    end

    # Refuses YAML for the same reason.
    def encode_with(_coder) # :nodoc:
      marshal_dump
    end

    private

    # Returns the text that #inspect shows after the class, or nil.
    def described; end

    # Runs the block while no other thread is inside. Only for owners with a Lock in +@lock+.
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
