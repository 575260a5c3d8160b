# frozen_string_literal: true

# Tests the rewriting of a request's history.

require_relative "helper"

class HistoryTest < Minitest::Test
  BODY = '{"messages":[{"role":"assistant","content":"b","reasoning_content":"a"}]}'

  def test_the_thinking_goes_under_the_name_that_the_server_reads
    format = Aside.history_format("/v1/chat/completions?x")
    assert_equal :chat, format
    assert_nil Aside.history_format("/v1/models")
    {
      "vllm" => '{"messages":[{"role":"assistant","content":"b","reasoning":"a"}]}',
      "sglang" => BODY,
      minimax: '{"messages":[{"role":"assistant","content":"<think>\na\n</think>\n\nb"}]}'
    }.each do |server, wanted|
      body, report = Aside.rewrite_history(BODY, **Aside.history_server(server, format))
      assert_equal wanted, body
      assert_equal Encoding::UTF_8, body.encoding
      assert_equal [:read, wanted == BODY ? 0 : 1, false], [report.outcome, report.changed, report.thinking_off]
    end
    assert_includes Aside.history_servers, "deepseek"
    assert_nil Aside.history_server("mistral", :responses)
  end

  def test_every_format_and_outcome
    made = '{"thinking":{"type":"enabled"},"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"a"},{"type":"tool_use"}]}]}'
    body, report = Aside.rewrite_history(made, format: :messages, made: :remove)
    assert_equal '{"thinking":{"type":"disabled"},"messages":[{"role":"assistant","content":[{"type":"tool_use"}]}]}', body
    assert_equal [1, true], [report.changed, report.thinking_off]
    {
      "[]" => :not_request, "\xFF" => :not_utf8, '{"a":1,"a":2}' => :repeated, '{"conversation":"c","input":[]}' => :stored,
      '{"input":[]}' => :read, "#{' ' * 100}{}" => :too_long
    }.each do |given, outcome|
      body, report = Aside.rewrite_history(given, format: :responses, turns: :none, missing: :remove, max_body: 99)
      assert_equal [given.b, outcome], [body.b, report.outcome]
    end
    assert_equal ['{"messages":[{"role":"assistant","content":"[t]a[/t]b"}]}', 1],
                 Aside.rewrite_history(BODY, format: :chat, name: :text, dialect: dialect).then { |out, report| [out, report.changed] }
  end

  def dialect
    Aside::Dialect.load("name = 'mine'\n[[span]]\nchannel = 'thinking'\nopen = ['[t]']\nclose = ['[/t]']\n")
  end

  def test_faults
    assert_raises(Aside::UnknownDialectError) { Aside.history_server("vlm", :chat) }
    error = assert_raises(Aside::DialectError) { Aside.load_history_server("name = 3", :chat) }
    assert_includes error.message, "line 1"
    file = "name = 'mine'\n[chat]\nmissing = 'empty'\nsources = []\n"
    assert_equal :empty, Aside.load_history_server(file, :chat)[:missing]
    error = assert_raises(ArgumentError) { Aside.rewrite_history("{}", format: :ollama) }
    assert_includes error.message, "format must be one of"
    assert_raises(ArgumentError) { Aside.rewrite_history("{}", format: :chat, turns: :some) }
    assert_raises(Aside::Error) { Aside.rewrite_history("{}", format: :chat, name: :text) }
  end
end
