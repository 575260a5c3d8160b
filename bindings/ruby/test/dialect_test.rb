# frozen_string_literal: true

require_relative "helper"

class DialectTest < Minitest::Test
  MINE = "name = \"mine\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"<hm>\"]\nclose = [\"</hm>\"]\n"

  def test_the_names
    names = Aside::Dialect.names
    files = Dir[File.join(CHECKOUT, "dialects/*.toml")].map { |file| File.basename(file, ".toml") }.sort
    assert_equal files, names
    assert names.frozen? && names.all?(&:frozen?)
    names.each { |name| assert_equal name, Aside::Dialect.find(name).name }
  end

  def test_find
    dialect = Aside::Dialect.find("gpt-oss")
    assert_equal "harmony", dialect.name
    assert dialect.frozen? && Ractor.shareable?(dialect)
    assert_equal 7, Aside::Dialect.find(:"inline-think").max_hold
    dialect.close
    refute_predicate dialect, :closed?
    error = assert_raises(Aside::UnknownDialectError) { Aside::Dialect.find("qwen33") }
    assert_match(/qwen3/, error.message)
    assert_equal(-1003, error.status)
    [-> { Aside::Dialect.find(nil) }, -> { Aside::Scanner.new(nil) }, -> { Aside.strip("a", nil) }].each do |call|
      assert_equal "a dialect is a Dialect or the name of one, not nil", assert_raises(TypeError, &call).message
    end
  end

  def test_find_for_model
    { "unsloth/Qwen3-32B-GGUF:Q4_K_M" => "qwen3", "gpt-oss:20b" => "harmony" }.each do |model, name|
      dialect = Aside::Dialect.find_for_model(model)
      assert_equal name, dialect.name
      assert_predicate dialect, :frozen?
    end
    ["", "gpt-4o", "\xFF\0"].each do |model|
      error = assert_raises(Aside::UnknownDialectError) { Aside::Dialect.find_for_model(model) }
      assert_equal [Aside::UnknownDialectError, -1003], [error.class, error.status]
    end
    assert_raises(TypeError) { Aside::Dialect.find_for_model(nil) }
  end

  def test_the_start_of_a_model
    { "moonshotai/Kimi-K2.5" => :thinking, "kimi-k2" => :content, "gpt-oss:20b" => :header }.each do |model, start|
      assert_equal start, Aside::Dialect.find_for_model(model).start
    end
    assert_equal "Yes.", Aside.strip("hm</think>Yes.", Aside::Dialect.find_for_model("kimi-k2.5"))
    error = assert_raises(Aside::UnknownDialectError) { Aside::Dialect.find_for_model("qwen3.9") }
    assert_match(/its elder qwen3.8 writes qwen3-thinking/, error.message)
  end

  def test_preload
    assert_nil Aside::Dialect.preload("qwen3", :"gpt-oss")
    assert_nil Aside::Dialect.preload
    [%w[qwen3 qwne3], [""], ["qwen3 harmony"]].each do |names|
      assert_raises(Aside::UnknownDialectError) { Aside::Dialect.preload(*names) }
    end
    assert_raises(TypeError) { Aside::Dialect.preload(nil) }
  end

  def test_find_for_template
    { "qwen3" => :content, "deepseek-r1" => :thinking, "harmony" => :header }.each do |name, start|
      dialect, found = Aside::Dialect.find_for_template(template(name))
      assert_equal [name, start], [dialect.name, found]
      assert_predicate dialect, :frozen?
      Aside::Scanner.new(dialect, start: found)
    end
    error = assert_raises(Aside::AmbiguousDialectError) { Aside::Dialect.find_for_template("{{ '[unused16]◁think▷' }}") }
    assert_equal [%w[kimi-vl openpangu], -1015], [error.candidates, error.status]
    assert_match(/kimi-vl, openpangu/, error.message)
    assert_equal Encoding::UTF_8, error.message.encoding
    assert_kind_of Aside::UnknownDialectError, error
    assert_predicate error.candidates, :frozen?
    ["", "plain", template("no-marker")].each do |text|
      error = assert_raises(Aside::UnknownDialectError) { Aside::Dialect.find_for_template(text) }
      assert_equal [Aside::UnknownDialectError, -1003], [error.class, error.status]
      assert_match(/no dialect/, error.message)
    end
  end

  def test_the_words_of_an_open_event
    dialect = Aside::Dialect.load(MINE.sub("[\"<hm>\"]", "[\"<hm>\", \"<think>\"]\nfamily = \"tags\""))
    event = Aside::Scanner.new(dialect).feed("<think>").first
    assert_equal ["tags", "<think>"], [dialect.family(event.rule), dialect.opener(event.rule, event.tag)]
    assert_equal [nil, nil, nil], [dialect.family(1), dialect.opener(1, 0), dialect.opener(0, 2)]
    assert_equal "mine", Aside::Dialect.load(MINE).family(0)
    dialect.close
    assert_raises(Aside::ClosedError) { dialect.family(0) }
    assert_raises(Aside::ClosedError) { dialect.opener(0, 0) }
  end

  def test_load
    dialect = Aside::Dialect.load(MINE)
    assert_equal "mine", dialect.name
    assert_equal "ab", Aside.strip("a<hm>x</hm>b", dialect)
    error = assert_raises(Aside::DialectError) { Aside::Dialect.load("name = \"x\"\nnames = 1\n") }
    assert_match(/line 2/, error.message)
    assert_equal Encoding::UTF_8, error.message.encoding
  end

  def test_from_response_template
    template = '{"start_anchor": "<a>", "fields": {"thinking": {"open": "<t>", "close_pattern": "</t>%s"}, "content": {}}}'
    dialect = Aside::Dialect.from_response_template(format(template, "\\\\s*"))
    assert_equal "Yes.", Aside.strip("<t>hm</t> Yes.", dialect)
    error = assert_raises(Aside::DialectError) { Aside::Dialect.from_response_template(format(template, ".*")) }
    assert_match(%r{fields.thinking.close_pattern: the pattern `</t>\.\*`}, error.message)
  end

  def test_close_leaves_scanners_alone
    dialect = Aside::Dialect.load(MINE)
    scanner = Aside::Scanner.new(dialect)
    2.times { dialect.close }
    assert_predicate dialect, :closed?
    assert_raises(Aside::ClosedError) { Aside::Scanner.new(dialect) }
    assert_equal "mine", dialect.name
    assert_equal %i[open text], scanner.feed("<hm>a").map(&:kind)
    assert_raises(TypeError) { Aside::Dialect.load(MINE).dup }
  end

  private

  def template(name)
    File.read(File.join(CHECKOUT, "tests/templates/#{name}.jinja"))
  end

  def test_what_inspect_shows
    compressor = Aside::Compressor.new(budget: 2048)
    compressed = compressor.compress("a line\n" * 300, tool_id: "bash")
    { Aside::Dialect.find("qwen3") => "Dialect qwen3", Aside::Scanner.new("qwen3") => "Scanner qwen3",
      Aside::Rewriter.new("think").tap(&:close) => "Rewriter think closed", compressor => "Compressor budget=2048",
      Aside::Compressor.new => "Compressor", compressor.stream(tool_id: "bash", memory: 8192) => "ToolStream bash",
      compressed => "Compressed bash 2100 -> #{compressed.report.after} repeats" }.each do |object, shown|
      assert_equal "#<Aside::#{shown}>", object.inspect
    end
  end
end
