# frozen_string_literal: true

# Checks that sig/aside.rbs agrees with the code: the same classes, constants, methods and parameters on both sides, and the
# types that calls actually return. Anything with :nodoc: is not public. Needs the gem rbs, which most packages of Ruby
# contain.

require_relative "helper"

begin
  require "rbs"
rescue LoadError
  warn "signatures_test: the gem rbs is not installed"
end

class SignaturesTest < Minitest::Test
  SIG = File.join(Gem.loaded_specs["aside"]&.full_gem_path || File.join(CHECKOUT, "bindings/ruby"), "sig")

  def setup
    skip "the gem rbs is not installed" unless defined?(RBS::EnvironmentLoader)

    loader = RBS::EnvironmentLoader.new
    loader.add(path: Pathname(SIG))
    @builder = RBS::DefinitionBuilder.new(env: RBS::Environment.from_loader(loader).resolve_type_names)
  end

  def test_classes_and_constants
    named = @builder.env.class_decls.keys.map { |name| name.to_s.delete_prefix("::") }.grep(/\AAside/)
    assert_equal modules.map(&:name).sort, named.sort
    constants = modules.flat_map do |mod|
      mod.constants(false).reject { |name| mod.const_get(name).is_a?(Module) }.map { |name| "#{mod}::#{name}" }
    end
    assert_equal constants.sort, @builder.env.constant_decls.keys.map { |name| name.to_s.delete_prefix("::") }.grep(/\AAside/).sort
    modules.grep(Class).each do |mod|
      superclass = @builder.env.class_decls.fetch(type_name(mod)).primary.decl.super_class
      assert_equal mod.superclass.name, superclass ? superclass.name.to_s.delete_prefix("::") : "Object", mod
    end
  end

  def test_methods
    modules.each do |mod|
      assert_equal documented(mod.singleton_class, mod.singleton_methods(false) - Struct.singleton_methods),
                   signed(mod, @builder.build_singleton(type_name(mod))).keys.sort, "functions of #{mod}"
      # A frozen Struct has setters that cannot be used.
      methods = mod < Struct ? mod.members : documented(mod, mod.public_instance_methods(false) + inherited(mod))
      signed = signed(mod, @builder.build_instance(type_name(mod))).keys.reject { |name| mod < Struct && name.end_with?("=") }
      assert_equal methods.sort, (signed - [:initialize]).sort, "methods of #{mod}"
      assert_equal documented?(mod.instance_method(:initialize)), signed.include?(:initialize), "#{mod}.new" if mod.is_a?(Class)
    end
  end

  def test_parameters
    modules.reject { |mod| mod < Struct }.each do |mod|
      signed(mod, @builder.build_singleton(type_name(mod))).each { |name, types| compare(mod.method(name), types) }
      signed(mod, @builder.build_instance(type_name(mod))).each { |name, types| compare(mod.instance_method(name), types) }
    end
  end

  # A program that calls nearly every method, under the runtime checks of rbs.
  PROGRAM = <<~'RUBY'
    require "aside"
    Aside.strip("<think>a</think>b", "inline-think")
    Aside.join("a", "b", :qwen3, start: :thinking, markers: :escape)
    Aside.join("a", "b", "qwen3", calls: [])
    Aside.escape("<think>", Aside::Dialect.find("qwen3"))

    Aside::Dialect.preload("qwen3", :think)
    Aside::Dialect.find_for_model("Qwen3-8B")
    Aside::Dialect.find_for_template("{{ '<|turn>user' }}{% if add_generation_prompt %}{{ '<|turn>model\n<|channel>' }}{% endif %}")
    begin
      Aside::Dialect.find_for_template("{{ '[unused16]◁think▷' }}")
    rescue Aside::AmbiguousDialectError => e
      e.candidates
    end
    Aside::Dialect.names
    dialect = Aside::Dialect.load(%(name = "mine"
[[span]]
channel = "thinking"
open = ["<hm>"]
close = ["</hm>"]
))
    [dialect.name, dialect.max_hold, dialect.start, dialect.family(0), dialect.opener(0, 0), dialect.opener(9, 9)]

    scanner = Aside::Scanner.new("thought-stream", collect: 4096, budget: 3, budget_unit: :characters, budget_scope: :stream)
    scanner.start_from_prompt("")
    scanner.feed('<thinking confidence="0.9">Twice 21.</thinking>It') do |event|
      event.deconstruct_keys(nil)
      [event.kind, event.text, event.bytes, event.cause, event.rule, event.tag, event.offset, event.name, event.value, event == event]
      [event.tokens, event.first_token]
    end
    scanner.feed(" is").to_a
    scanner.feed_deltas(" 42") { |channel, text| [channel, text] }
    scanner.feed_deltas("").to_a
    scanner.feed_text("x")
    scanner.feed_tokens([["y", false]]) { |event| event }
    [scanner.held, scanner.max_hold, scanner.offset, scanner.counts(:thinking)]
    thought = scanner.take_thought
    [thought.text, thought.bytes, thought.offset, thought.cause, thought.thought_type, thought.confidence, thought.attributes,
     thought.truncated?]
    scanner.take_thought
    scanner.force_close { |event| event }
    scanner.flush { |event| event }
    scanner.dup.finish { |event| event }
    scanner.each_delta(["<thinking>a</thinking>b"]) { |channel, text| [channel, text] }
    scanner.reset.close
    scanner.closed?
    dialect.close

    calls = Aside::Dialect.load(%(name = "calls"
[[span]]
channel = "tool"
open = ["<t>"]
close = ["</t>"]
[[span.call]]
body = "object"
))
    call = %(<t>{"name": "f"}</t>)
    Aside::Scanner.new(calls, calls: true, calls_in_thinking: :never).feed(call) do |event|
      [event.kind, event.call, event.name, event.cause]
    end
    answer = Aside::Answer.new(calls, tools: %([{"name": "f"}]), id_prefix: "c", max_held: 1 << 16, start: nil, may_take_back: true)
    answer.use_tools("[]").use_tools(nil).start_from_prompt("")
    answer.feed(call) do |part|
      part.deconstruct_keys(nil)
      [part.kind, part.text, part.bytes, part.index, part.id, part.name, part.cause, part.late_id, part.from, part.to, part.made?,
       part.whole?, part.repaired?, part == part]
    end
    [answer.feed("a"), answer.feed_tokens([["b", false]]), answer.flush, answer.force_close, answer.finish(:ended), answer.finish,
     answer.held, answer.counts(:content), answer.reset.close, answer.closed?]

    rewriter = Aside::Rewriter.new("qwen3", body: :events, field: :reasoning, calls: true, tools: "[]", max_held: 1,
                                            max_tools: 9)
    rewriter.use_dialect(nil, start: nil).use_tools("[]").use_dialect("think", start: :content).start_from_prompt("")
    rewriter.feed("data: {}

")
    [rewriter.finish, rewriter.stats, rewriter.reset.close, rewriter.closed?]

    filter = Aside::InlineThinkFilter.new
    filter.feed("<think>a</think>b") { |sentinel, text| [sentinel, text] }
    filter.flush { |sentinel, text| [sentinel, text] }
    filter.close

    own = Struct.new(:id, :kept) do
      def apply(text, _input) = text.lines.first
      def lookup(_tool_id, _input) = kept
      def record(_tool_id, _input, text, time) = self.kept = [text, time]
    end
    log = "a line of a log
" * 200
    compressor = Aside::Compressor.new(filters: [own.new("first")], caches: [own.new("last")], budget: 1024)
    compressed = compressor.compress([log, 1], tool_id: :bash, input: { command: "make" }, exit_code: 0)
    [compressed.parts, compressed.text, compressed.to_s, compressed.compressed?]
    report = compressed.report
    [report.tool_id, report.before, report.after, report.filters, report.failed, report.hit, report.cut_protected?,
     report.unexplained?]
    report.parts.each { |part| part.stretches.each { |stretch| report.slice(part.part, log, stretch.range) } }
    report.close
    stream = compressor.stream(tool_id: "bash", memory: 4096)
    [stream.report, stream.feed(log), stream.finish, stream.report.close, stream.close, compressor.close]
  RUBY

  def test_the_types_of_calls
    env = { "RBS_TEST_TARGET" => "Aside,Aside::*", "RBS_TEST_OPT" => "-I #{SIG} -r json", "RBS_TEST_LOGLEVEL" => "error" }
    output, status = Support.ruby(PROGRAM, env: env, options: ["-rrbs/test/setup"])
    assert_predicate status, :success?, output
    output, status = Support.ruby("require 'aside'; Aside.strip(nil, 'think')", env: env, options: ["-rrbs/test/setup"])
    refute_predicate status, :success?
    assert_includes output, "ArgumentTypeError"
  end

  private

  # The module and all public classes in it.
  def modules(mod = Aside)
    [mod] + mod.constants(false).map { |name| mod.const_get(name) }.grep(Module).flat_map { |inner| modules(inner) }
  end

  def type_name(mod)
    RBS::TypeName.new(name: mod.name.split("::").last.to_sym,
                      namespace: RBS::Namespace.parse("::#{mod.name}").parent)
  end

  # Returns the methods that come from the private module Handle.
  def inherited(mod)
    mod.include?(Aside.const_get(:Handle)) ? Aside.const_get(:Handle).public_instance_methods(false) : []
  end

  def documented(mod, names)
    names.uniq.select { |name| documented?(mod.instance_method(name)) }.sort
  end

  # Whether a method is public and defined by the gem.
  def documented?(method)
    file, line = method.source_location
    file&.include?("/aside") && !File.readlines(file)[line - 1].include?(":nodoc:") || false
  end

  # The overloads of each method that a class itself defines.
  def signed(mod, definition)
    own = definition.methods.select { |_, method| method.defined_in == type_name(mod) }
    own.delete(:new)
    own.transform_values(&:method_types)
  end

  def compare(method, types)
    kinds = method.parameters.group_by(&:first).transform_values { |all| all.map(&:last) }
    types.map(&:type).each do |type|
      where = "#{method.inspect} and #{type}"
      assert_equal (kinds[:req] || []).size, type.required_positionals.size, where
      assert_equal (kinds[:opt] || []).size, type.optional_positionals.size, where
      assert_equal kinds.key?(:rest), !type.rest_positionals.nil?, where
      assert_equal (kinds[:keyreq] || []).sort, type.required_keywords.keys.sort, where
      # Options of a struct are checked by its table.
      keys = kinds.key?(:keyrest) ? options_of(method.owner) : kinds[:key] || []
      assert_equal keys.sort, type.optional_keywords.keys.sort, where
    end
    names = types.first.type.required_positionals.map(&:name)
    assert_equal kinds[:req] || [], names, method.inspect
  end

  def options_of(mod)
    native = Aside.const_get(:Native)
    name = "#{mod.name.split("::").last.upcase}_OPTIONS"
    own = native.const_get(name).reject { |_, kind| %i[struct zero].include?(kind) }.keys
    own + (native.const_defined?("#{name}_ANSWER") ? native.const_get("#{name}_ANSWER") : [])
  end
end
