# frozen_string_literal: true

# Runs the project's conformance cases: cut as they say, whole, and at every split into two. tests/vectors/README.md explains
# the format; ASIDE_VECTORS names another folder.

require_relative "helper"

class VectorsTest < Minitest::Test
  FOLDER = ENV.fetch("ASIDE_VECTORS", File.join(CHECKOUT, "tests/vectors"))

  Dir[File.join(FOLDER, "*.jsonl")].sort.each do |file|
    define_method("test_#{File.basename(file, ".jsonl")}") { run_file(file) }
  end

  def test_there_are_cases
    refute_empty Dir[File.join(FOLDER, "*.jsonl")]
  end

  def test_a_wrong_case_fails
    { "content" => "b", "thoughts" => ["a"], "causes" => ["marker"], "attributes" => [%w[a b]] }.each do |key, value|
      assert_raises(Minitest::Assertion) { run_case({ "dialect" => "qwen3", "chunks" => ["a"], key => value }, "here") }
    end
  end

  private

  def run_file(file)
    File.foreach(file).with_index(1) do |line, number|
      run_case(JSON.parse(line), "#{file}, line #{number}") unless line.strip.empty?
    end
  end

  def run_case(one, where)
    chunks = one["chunks"]&.map(&:b) || one["chunks_b64"].map { |chunk| chunk.unpack1("m") }
    text = chunks.join.b
    scanner = Aside::Scanner.new(one["dialect"], start: one["start"]&.to_sym, collect: 1 << 26)
    whole = outcome(scanner, [text])
    judge(one, whole, "#{where}, whole")
    judge(one, outcome(scanner, chunks), "#{where}, as cut")
    (1...text.bytesize).each do |cut|
      split = outcome(scanner, [text.byteslice(0, cut), text.byteslice(cut, text.bytesize)])
      # Compared first, because an assertion is expensive.
      assert_equal whole, split, "#{where}, cut at #{cut}" unless whole == split
    end
  end

  def outcome(scanner, chunks)
    events = Support.scan(scanner, chunks)
    thoughts = []
    while (thought = scanner.take_thought)
      thoughts << [thought.bytes, thought.thought_type, thought.confidence]
    end
    [Support.merged(events), thoughts]
  end

  # Returns the text of a channel. Content may be reclassified as thinking.
  def text_of(events, channel)
    turn = events.index { |event| event[0] == :reclassify } || 0
    texts = events.each_with_index.select do |event, index|
      is = index < turn && event[1] == :content ? :thinking : event[1]
      event[0] == :text && is == channel
    end
    texts.map { |event, _| event[6] }.join
  end

  def judge(one, (events, thoughts), where)
    %w[content thinking narration tool].each do |channel|
      wanted = one[channel]&.b || one["#{channel}_b64"]&.unpack1("m")
      got = text_of(events, channel.to_sym)
      assert_equal wanted, got.b, "#{where}, #{channel}" if wanted
    end
    if one["thoughts"]
      wanted = one["thoughts"].map do |thought|
        thought.is_a?(String) ? thought.b : [thought["thought"].b, thought["thought_type"], thought["confidence"]]
      end
      got = thoughts.each_with_index.map { |thought, index| wanted[index].is_a?(Array) ? thought : thought[0] }
      assert_equal wanted, got, "#{where}, thoughts"
    end
    if one["attributes"]
      assert_equal one["attributes"], events.select { |event| event[0] == :attribute }.map { |event| event[7..8] }, "#{where}, attributes"
    end
    return unless one["causes"]

    assert_equal one["causes"], events.map { |event| event[2]&.to_s&.tr("_", " ") }.compact, "#{where}, causes"
  end
end
