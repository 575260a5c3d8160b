# frozen_string_literal: true

module Aside
  # The result of Compressor#compress: the parts after the call, and a report. Frozen.
  #
  #   result = Aside::Compressor.new.compress(log, tool_id: "bash")
  #   puts result.text if result.compressed?
  class Compressed
    # A frozen Array with one element for each part of the call: a new String (UTF-8) if the part changed, nil if it is left out
    # because another part has the same text, otherwise the part itself.
    attr_reader :parts

    # The Report.
    attr_reader :report

    def initialize(parts, report) # :nodoc:
      @parts = parts.freeze
      @report = report
      freeze
    end

    # Returns the remaining text parts, joined with line feeds. For a single String, that is its shorter form.
    def text
      texts = parts.filter_map { |part| String.try_convert(part) }
      texts.size == 1 ? texts.first : texts.map { |text| Native.utf8(text) }.join("\n")
    end
    alias to_s text

    # Returns whether anything changed.
    def compressed?
      !report.filters.empty? || !report.hit.nil?
    end

    def inspect # :nodoc:
      "#<#{self.class} #{report.tool_id} #{report.before} -> #{report.after} #{report.filters.join(", ")}>"
    end
  end
end
