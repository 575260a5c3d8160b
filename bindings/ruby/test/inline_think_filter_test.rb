# frozen_string_literal: true

require_relative "helper"

class InlineThinkFilterTest < Minitest::Test
  Filter = Aside::InlineThinkFilter

  def split(chunks, filter = Filter.new)
    texts = { content: +"", thinking: +"" }
    emit = lambda do |sentinel, text|
      refute_empty text
      assert_equal [Encoding::UTF_8, true, false], [text.encoding, text.valid_encoding?, text.frozen?]
      texts.fetch(sentinel) << text
    end
    chunks.each { |chunk| assert_nil filter.feed(chunk, &emit) }
    assert_nil filter.flush(&emit)
    texts.values
  end

  def test_the_cases_of_the_class_that_it_replaces
    { "\n  <think>reasoning</think>answer" => ["\n  answer", "reasoning"],
      "<Think>x</THINK>answer" => %w[answer x],
      "<think>still going" => ["", "still going"],
      "ALPHA<think>BETA</think>GAMMA" => ["ALPHA<think>BETA</think>GAMMA", ""],
      "<think>plan</think>here:\n```html\n<think>hi</think>\n```\n" => ["here:\n```html\n<think>hi</think>\n```\n", "plan"],
      "<think>a</think>\n <think>b</think>c" => ["\n c", "ab"],
      "<think>a <think>b</think> c</think>ans" => [" c</think>ans", "a <think>b"],
      "</think>y" => ["</think>y", ""], "<think >x" => ["<think >x", ""], "<thi" => ["<thi", ""], "" => ["", ""] }.each do |text, wanted|
      assert_equal wanted, split([text])
      assert_equal wanted, split(text.chars)
      (1...text.size).each { |cut| assert_equal wanted, split([text[0...cut], text[cut..]]) }
    end
  end

  def test_its_surface
    assert_equal [/<think>/i, %r{</think>}i, /```/, 8], [Filter::OPEN_RE, Filter::CLOSE_RE, Filter::FENCE_RE, Filter::TAG_MAX_LEN]
    assert_equal 0, Filter.instance_method(:initialize).arity
    assert_equal [%i[key final], %i[block block]], Filter.instance_method(:flush).parameters
    assert_raises(TypeError) { Filter.new.feed(nil) {} }
    assert_raises(LocalJumpError) { Filter.new.feed("a") }
  end

  def test_what_it_takes_and_gives
    filter = Filter.new
    seen = []
    emit = ->(sentinel, text) { seen << [sentinel, text] }
    chunk = +"a" * 100
    filter.feed(chunk, &emit)
    chunk.replace("b")
    ["c".freeze, "é".b, "é".encode("UTF-16LE"), "d\xFF", ""].each { |one| filter.feed(one, &emit) }
    assert_equal [["a" * 100], ["c"], ["é"], ["é"], ["d\u{FFFD}"]].map { |text| [:content, *text] }, seen
    refute(seen.any? { |_, text| text.frozen? })
    filter.close
    assert_raises(Aside::ClosedError) { filter.feed("a", &emit) }
  end

  def test_a_copy_goes_on_by_itself
    first = Aside::InlineThinkFilter.new
    first.feed("<think>a</th") {}
    second = first.dup
    said = { first => "ink>b", second => "e c" }.map do |filter, chunk|
      pieces = []
      filter.feed(chunk) { |sentinel, text| pieces << [sentinel, text] }
      pieces
    end
    assert_equal [[[:content, "b"]], [[:thinking, "</the c"]]], said
  end

  def test_the_migration_is_two_lines_and_no_warning
    page = File.read(File.join(CHECKOUT, "docs/start.md"))
    lines = page[/^```ruby\n(Rubino.*?)^```/m, 1]
    program = "require 'aside'; module Rubino; module LLM; class InlineThinkFilter; end; end; end\n#{lines}\n" \
              "filter = Rubino::LLM::InlineThinkFilter.new\n" \
              "emit = ->(sentinel, text) { puts \"\#{sentinel}: \#{text}\" }\n" \
              "filter.feed('<think>a</think>b', &emit); filter.flush(&emit)"
    assert_equal "thinking: a\ncontent: b\n", Support.ruby(program).first
  end

  def test_flush_keeps_the_state
    filter = Filter.new
    seen = []
    emit = ->(sentinel, text) { seen << [sentinel, text] }
    filter.feed("<think>a</th", &emit)
    filter.flush(&emit)
    filter.feed("b</think>c", &emit)
    filter.flush(&emit)
    assert_equal [[:thinking, "a</thb"], [:content, "c"]], seen.chunk_while { |a, b| a[0] == b[0] }.map { |run| [run[0][0], run.map(&:last).join] }
    # Flushed content counts as the beginning of the answer.
    filter = Filter.new
    content = +""
    filter.feed("<thi") { |_, text| content << text }
    filter.flush { |_, text| content << text }
    filter.feed("<think>x") { |_, text| content << text }
    filter.flush { |sentinel, text| content << text if sentinel == :content }
    assert_equal "<thi<think>x", content
  end

  def test_flush_between_messages
    filter = Filter.new
    seen = []
    emit = ->(sentinel, text) { seen << [sentinel, text] }
    filter.feed("<thi", &emit)
    filter.flush(final: false, &emit)
    filter.feed("nk>secret</think>visible", &emit)
    filter.flush(final: false, &emit)
    assert_equal [[:thinking, "secret"], [:content, "visible"]], seen
  end

  def test_a_block_that_raises
    filter = Filter.new
    seen = []
    emit = ->(sentinel, text) { seen << [sentinel, text] }
    assert_raises(IOError) { filter.feed("<think>a</think>b<think>c") { |sentinel, text| emit.call(sentinel, text) && raise(IOError, "ui broke") } }
    filter.feed("d", &emit)
    filter.flush(&emit)
    assert_equal [[:thinking, "a"], [:content, "b<think>cd"]], seen.chunk_while { |a, b| a[0] == b[0] }.map { |run| [run[0][0], run.map(&:last).join] }
  end

  # Compares with the recorded outputs of the replaced class, and with those of a reference, whole and cut at each of
  # their chunk boundaries.
  def test_the_vectors_of_the_dialect
    files = Dir[File.join(CHECKOUT, "tests/vectors/*.jsonl"), File.join(CHECKOUT, "../shared/vectors/*.jsonl")]
    cases = files.flat_map { |file| File.readlines(file) }.map { |line| JSON.parse(line) }
                 .select { |one| one["dialect"] == "inline-think" && one["chunks"] && one["content"] && !one["start"] }
    refute_empty cases
    cases.each do |one|
      wanted = one.values_at("content", "thinking")
      [one["chunks"], [one["chunks"].join], one["chunks"].join.chars].each { |chunks| assert_equal wanted, split(chunks), one.inspect }
    end
  end
end
