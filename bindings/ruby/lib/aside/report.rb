# frozen_string_literal: true

module Aside
  # Describes one call of a Compressor, or one ToolStream. Lengths and offsets are in bytes.
  # Everything that it returns is frozen, except the String of #slice. Any number of threads may read a report; only one at a time
  # may call #slice or #close, and a second thread gets a BusyError. #failed, #parts and #slice are unstable.
  #
  #   report = Aside::Compressor.new.compress(log, tool_id: "bash").report
  #   puts "#{report.before} -> #{report.after} by #{report.filters.join(", ")}"
  class Report
    include Handle

    # A filter or cache that failed in the call and was skipped: its +id+, the +reason+, and the +error+, which is the
    # exception of a filter or cache in Ruby, otherwise nil.
    Failed = Struct.new(:id, :reason, :error)

    # A text part that filters changed: its index +part+ in the original result, +bytesize+ and +hash_value+ of its original, and
    # the +stretches+, which together are the whole original.
    Part = Struct.new(:part, :bytesize, :hash_value, :stretches)

    # A stretch of an original: its +range+ in bytes; the +change+, which is +:kept+, +:replaced+ (by other bytes) or
    # +:left_out+; the id of the +filter+ that changed it, nil if it was kept; and its +hash_value+. Hashes are XXH3 (64 bits, seed
    # 0).
    Stretch = Struct.new(:range, :change, :filter, :hash_value) # rubocop:disable Lint/StructNewOverride

    # The id of the tool.
    attr_reader :tool_id

    # The length of the text parts before.
    attr_reader :before

    # The length of the text parts after, banners included.
    attr_reader :after

    # The lengths +before+ and +after+ in UTF-16 code units, as in banners.
    attr_reader :before_units, :after_units

    # The ids of the filters that changed something, in the order of their first change.
    attr_reader :filters

    # An Array of Failed: the filters and caches that were skipped.
    attr_reader :failed

    # The id of the cache that had the same output, or nil.
    attr_reader :hit

    # An Array of Part: the parts that filters changed. Empty for a stream that outgrew its memory.
    attr_reader :parts

    def initialize(address, tool_id, errors) # :nodoc:
      own(address, :aside_compressed_free)
      @lock = Lock.new
      @tool_id = tool_id.freeze # already a copy
      @before, @after, @before_units, @after_units, filters, filter_count, failed, parts, hit, hit_len, cut, unexplained =
        filled(Native::REPORT_SIZE, Native::REPORT_UNPACK) { |out| Native.aside_compressed_report(address, out) }
      filters = Native.array(filters, filter_count, Native::BYTES_UNPACK, Native::BYTES_SIZE)
      @filters = filters.map { |at, len| Native.text(at, len).freeze }.freeze
      failed = Array.new(failed) do |index|
        filled(Native::FAILED_SIZE, Native::FAILED_UNPACK) { |out| Native.aside_compressed_failed(address, index, out) }
      end
      @failed = failures(failed, errors.dup).freeze
      @hit = Native.text(hit, hit_len).freeze unless hit_len.zero?
      @parts = Array.new(parts) { |index| part(index) }.freeze
      @cut_protected = cut == 1
      @unexplained = unexplained == 1
    end

    # Returns whether text in a machine format, or text that was compressed before, was cut, because it did not fit into the
    # budget.
    def cut_protected?
      @cut_protected
    end

    # Returns whether the command failed, by its exit code, and the remaining text says only that it passed.
    def unexplained?
      @unexplained
    end

    # Returns the bytes at +range+ of a part's original, so that omitted text can be shown after all. +original+ is the unchanged
    # text of part number +part+. The result is a new String, marked as UTF-8.
    #
    # Raises OriginalError if +original+ is a different text or no filter changed that part, Error if the range is outside
    # the text, and ClosedError.
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
      part = Native.count("part", part)
      exclusively do
        Native.borrowed do |out|
          Native.aside_compressed_slice(address, part, original, original.bytesize, start, len, out)
        end
      end
    end

    # Frees the memory for #slice at once, without waiting for Ruby to collect the report. Everything else stays valid. May be
    # called again. Returns nil.
    def close
      exclusively { Native.aside_compressed_free(disown) unless closed? }
      nil
    end

    def inspect # :nodoc:
      "#<#{self.class} #{tool_id} #{before} -> #{after} #{filters.join(", ")}>"
    end

    private

    # Adds the exceptions of Ruby code to the library's list.
    def failures(known, errors)
      known.map do |id, id_len, reason, reason_len|
        id = Native.text(id, id_len).freeze
        at = errors.index { |name, _| name == id }
        error = errors.delete_at(at).last if at
        Failed.new(id, Native.text(reason, reason_len).freeze, error).freeze
      end
    end

    def part(index)
      part, bytesize, hash, count =
        filled(Native::PART_REPORT_SIZE, Native::PART_REPORT_UNPACK) do |out|
          Native.aside_compressed_part_report(address, index, out)
        end
      stretches = Array.new(count) do |at|
        start, len, hash_value, change, filter =
          filled(Native::STRETCH_SIZE, Native::STRETCH_UNPACK) { |out| Native.aside_compressed_stretch(address, index, at, out) }
        filter = filter == Native::NO_FILTER ? nil : @filters[filter]
        Stretch.new(start...start + len, Native::CHANGE[change], filter, hash_value).freeze
      end
      Part.new(part, bytesize, hash, stretches.freeze).freeze
    end

    # Returns the fields of a struct. The block calls the function that fills it.
    def filled(size, format)
      Native.filled(size, format) { |out| Error.check(yield(out)) }
    end
  end
end
