# frozen_string_literal: true

module Aside
  # What one call of a Compressor did, or one ToolStream. Lengths are UTF-16 code units, offsets bytes. What it gives is
  # frozen.
  class Report
    include Handle

    # A filter or cache that failed in the call and was passed over: its +id+, the +reason+, and the +error+, which is
    # the exception of a filter or cache in Ruby, else nil.
    Failed = Struct.new(:id, :reason, :error)

    # A text part that filters changed: +part+ is its place in the result that came in, +bytesize+ and +hash_value+ those of
    # its original, and +stretches+ are the original, tiled.
    Part = Struct.new(:part, :bytesize, :hash_value, :stretches)

    # A stretch of an original: its +range+ in bytes, the +change+ (+:kept+, +:replaced+ by other bytes, +:left_out+), the
    # id of the +filter+ that did it, nil for what was kept, and +hash_value+. Hashes are XXH3 (64 bits, seed 0).
    Stretch = Struct.new(:range, :change, :filter, :hash_value)

    CHANGES = %i[kept replaced left_out].freeze
    private_constant :CHANGES

    # The tool whose result it was.
    attr_reader :tool_id

    # The text parts' length before, and after, banners included.
    attr_reader :before, :after

    # Ids of the filters that changed something, in the order of their first change.
    attr_reader :filters

    # What failed: an Array of Failed.
    attr_reader :failed

    # The id of the cache that had the same output, or nil.
    attr_reader :hit

    def initialize(address, tool_id, errors) # :nodoc:
      own(address, :aside_compressed_free)
      @lock = Lock.new
      @tool_id = tool_id.freeze # a copy of the caller's
      report = [Native::REPORT_SIZE].pack("J").ljust(Native::REPORT_SIZE, "\0")
      Error.check(Native.aside_compressed_report(address, report))
      @before, @after, filters, filter_count, failed, failed_count, parts, part_count, hit, hit_len, cut =
        report.unpack(Native::REPORT)
      @filters = Native.array(filters, filter_count, *Native::BYTES).map { |at, len| Native.text(at, len).freeze }.freeze
      @failed = failures(Native.array(failed, failed_count, *Native::FAILED), errors.dup).freeze
      @hit = Native.text(hit, hit_len).freeze unless hit_len.zero?
      # Copies: a long log has many stretches, and few ask for them.
      @changed = Native.array(parts, part_count, *Native::PART_REPORT).map do |*fields, stretches, count|
        [*fields, Native.text(stretches, count * Native::STRETCH.last)]
      end
      @cut_protected = cut == 1
    end

    # The parts that filters changed: an Array of Part. None for a stream that outgrew its memory.
    def parts
      @parts ||= @changed.map { |fields| part(*fields) }.freeze
    end

    # Whether text of a machine format was cut, because it outgrew a stream's memory and there was a budget.
    def cut_protected?
      @cut_protected
    end

    # The bytes at +range+ of a part's original, to give back what was left out. +original+ is the text of the part number
    # +part+ as it came in. Raises OriginalError where it is another text, or no filter changed that part, and Error where
    # the range does not lie in the text. The String is the caller's: UTF-8, as valid as its bytes are.
    #
    #   report.parts.each do |part|
    #     part.stretches.each { |stretch| puts report.slice(part.part, log, stretch.range) if stretch.change == :left_out }
    #   end
    def slice(part, original, range)
      original = Native.utf8(original)
      start = Native.count("the range's begin", range.begin || 0)
      ending = Native.count("the range's end", range.end || original.bytesize)
      ending += 1 if range.end && !range.exclude_end?
      len = (ending - start).clamp(0, 0xFFFF_FFFF_FFFF_FFFF)
      out = Native.buffer(8)
      exclusively do
        Error.check(Native.aside_compressed_slice(address, Native.count("part", part), original, original.bytesize, start,
                                                  len, out))
        Native.text(out.unpack1("J"), len)
      end
    end

    # Frees what #slice needs now, and not when Ruby collects the report; the rest stays. May be called again.
    def close
      exclusively { Native.aside_compressed_free(disown) unless closed? }
      nil
    end

    def inspect # :nodoc:
      "#<#{self.class} #{tool_id} #{before} -> #{after} #{filters.join(", ")}>"
    end

    private

    # The library's list, with the exceptions.
    def failures(known, errors)
      known.map do |id, id_len, reason, reason_len|
        id = Native.text(id, id_len).freeze
        at = errors.index { |name, _| name == id }
        error = errors.delete_at(at).last if at
        Failed.new(id, Native.text(reason, reason_len).freeze, error).freeze
      end
    end

    def part(part, bytesize, hash, stretches)
      stretches = Native.structs(stretches, *Native::STRETCH).map do |start, len, hash_value, change, filter|
        filter = filter == Native::NO_FILTER ? nil : @filters[filter]
        Stretch.new(start...start + len, CHANGES[change], filter, hash_value).freeze
      end
      Part.new(part, bytesize, hash, stretches.freeze).freeze
    end
  end
end
