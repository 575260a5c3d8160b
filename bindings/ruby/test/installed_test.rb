# frozen_string_literal: true

# Tests the gem as a package: its files, where it finds the library, and the programs in its documentation.

require_relative "helper"
require "fileutils"

class InstalledTest < Minitest::Test
  def gem_folder
    Gem.loaded_specs.fetch("aside").full_gem_path
  end

  def test_it_is_the_installed_gem_that_runs
    refute gem_folder.start_with?(CHECKOUT)
    assert(["lib/aside.rb", "lib/aside/libaside.so", "README.md", "sig/aside.rbs", "LICENSE-MIT", "LICENSE-APACHE"].all? { |file| File.file?(File.join(gem_folder, file)) })
    refute_empty Dir[File.join(gem_folder, "third-party/memchr-*/LICENSE*")]
    assert_equal Gem::Platform.local.to_s, Gem.loaded_specs["aside"].platform.to_s
    maps = File.readlines("/proc/self/maps").grep(/libaside/).map { |line| line.split.last }.uniq
    assert_equal [File.join(gem_folder, "lib/aside/libaside.so")], maps
  end

  def test_its_version_is_the_projects
    assert_includes File.read(File.join(CHECKOUT, "Cargo.toml")), "version = \"#{Aside::VERSION}\""
    assert_includes File.read(File.join(CHECKOUT, "include/aside.h")), "#define ASIDE_VERSION \"#{Aside::VERSION}\""
  end

  def test_a_library_that_is_named
    library = File.join(gem_folder, "lib/aside/libaside.so")
    copy = File.join(Dir.pwd, "named.so")
    IO.copy_stream(library, copy)
    output, = Support.ruby("require 'aside'; puts File.read('/proc/self/maps').scan(/\\S*named.so/).uniq", env: { "ASIDE_LIBRARY" => copy })
    assert_equal "#{copy}\n", output
  end

  def test_errors_say_where_it_looked
    program = "begin; require 'aside'; rescue LoadError => e; puts e.class, e.message; end"
    output, = Support.ruby(program, env: { "ASIDE_LIBRARY" => "/nowhere/libaside.so" })
    assert_match(%r{\AAside::LibraryError\n.*/nowhere/libaside.so \(ASIDE_LIBRARY\)}m, output)
    bare = File.join(Dir.pwd, "bare")
    FileUtils.rm_rf(bare)
    FileUtils.cp_r(File.join(gem_folder, "lib"), bare)
    FileUtils.rm(File.join(bare, "aside/libaside.so"))
    output, = Support.ruby(program, options: ["-I#{bare}"])
    assert_match(%r{#{bare}/aside/libaside.so \(the gem's folder\).*libaside.so.1 \(the system\).*ASIDE_LIBRARY is not set}m, output)
    output, = Support.ruby(program, env: { "ASIDE_LIBRARY" => "libm.so.6" })
    assert_match(/libm.so.6 is not a libaside/, output)
  end

  def test_a_library_of_another_version
    %w[abi unstable].each do |which|
      output, = Support.ruby(<<~RUBY)
        require "ffi"
        FFI::Library.prepend(Module.new do
          def attach_function(name, *)
            super
            define_singleton_method(name) { 99 } if name == :aside_#{which}_version
          end
        end)
        begin
          require "aside"
        rescue LoadError => e
          puts e.class, e.message
        end
      RUBY
      assert_match(/\AAside::LibraryError\n.* 99 .*; this gem needs 1\n\z/, output)
    end
  end

  def test_the_readmes_run_as_written
    section = File.read(File.join(CHECKOUT, "docs/start.md"))[/^### Ruby\n(.*?)(?=^#)/m, 1]
    shown = section.scan(/^```ruby\n(.*?)^```/m).flatten
    output, status = Support.ruby(shown.first)
    assert_predicate status, :success?, output
    assert_equal "thinking: Twice 21.\ncontent: It is 42.\n", output
    shown = File.read(File.join(CHECKOUT, "docs/adopting.md")).scan(/^```ruby\n(.*?)^```/m).flatten
    assert_equal "thinking: hm\ncontent: Yes.\n", Support.ruby(shown.first).first
    shown = File.read(File.join(CHECKOUT, "docs/users.md")).scan(/^```ruby\n(.*?)^```/m).flatten
    assert_equal "thinking: hm\ncontent: Yes.\n", Support.ruby(shown.first).first
    shown = File.read(File.join(gem_folder, "README.md")).scan(/^```ruby\n(.*?)^```/m).flatten
    assert_equal "It is 42.\n", Support.ruby(shown.first).first
    assert_equal "Let me look.\nCall get_time\n{\"city\": \"Oslo\"}\n", Support.ruby("require 'aside'\n#{shown[1]}").first
    printed = File.read(File.join(gem_folder, "README.md"))[/^```text\n(.*?)^```/m, 1]
    assert_equal printed, Support.ruby(shown.find { |program| program.include?("Compressor") }).first
  end

  def test_the_rails_controller
    model, controller = File.read(File.join(CHECKOUT, "docs/users.md")).scan(/^```ruby\n(.*?)^```/m).flatten
    output, status = Support.ruby(<<~RUBY)
      begin
        require "action_controller"
      rescue LoadError
        abort "no Rails"
      end
      #{model}
      module Model
        def self.chunks(question) = ["<thi", "nk>", question, "</think>Y", "es."]
      end
      #{controller}
      request = Rack::MockRequest.env_for("/?question=hm")
      status, headers, body = AnswersController.action(:show).call(request)
      puts status, headers["Content-Type"], body.to_enum.to_a.join
    RUBY
    skip "Rails is not there (Debian's package ruby-actionpack)" if output == "no Rails\n"
    assert_predicate status, :success?, output
    events = [%w[thinking hm], %w[content Y], %w[content es.]]
    events = events.map { |channel, text| "event: #{channel}\ndata: #{text.to_json}\n\n" }
    assert_equal "thinking: hm\ncontent: Yes.\n200\ntext/event-stream\n#{events.join}", output
  end

  def test_the_example_over_loopback
    output, status = Open3.capture2e(RbConfig.ruby, File.join(CHECKOUT, "examples/ruby/event_stream.rb"))
    assert_predicate status, :success?, output
    assert_equal "[thinking] Twice 21 is 42; say so – 短く.\n[content] It is 42. 答えは 42 です。\n", output
  end

  def test_the_agent_loop
    commands = ["for n in $(seq 300); do echo \"compiling file $n\"; done; echo 'main.c:3: error: no such thing'; exit 2",
                "echo short; echo of both >&2", "kill -9 $$"]
    output, status = Open3.capture2e(RbConfig.ruby, File.join(CHECKOUT, "examples/ruby/agent_loop.rb"), *commands)
    assert_predicate status, :success?, output
    first, second, third = output.split(/^\$ .*\n/).drop(1)
    assert_match(/\A\[Output compressed by .*budget/, first)
    assert_includes first, "main.c:3: error: no such thing\n"
    assert_match(/^\[… \d+ lines, [\d,]+ bytes left out\]$/, first)
    assert_operator first.bytesize, :<, 2_200
    assert_equal "short\nof both\n(exit 0, 14 of 14 bytes)\n", second
    assert_includes third, "(killed by signal 9, "
    assert_match(/\$ .*\n.*exit 2, \d+ of 5\d{3} bytes/m, output)
  end

  def test_the_agent_loop_with_a_command_that_is_not_utf8
    output, status = Open3.capture2e(RbConfig.ruby, File.join(CHECKOUT, "examples/ruby/agent_loop.rb"), "echo short # \xFF")
    assert_predicate status, :success?, output.scrub
    assert output.b.end_with?("\nshort\n(exit 0, 6 of 6 bytes)\n"), output.scrub
  end

  def test_the_comments_run_as_written
    { "compressor.rb" => "warning: the same again\n[… 199 lines as above]\nmake: *** [all] Error 1\n",
      "tool_stream.rb" => /\Acompiling file 1\n.*\[… [\d,]+ lines, [\d,]+ bytes left out\]\n.*compiling file 10000\n\z/m,
      "answer.rb" => 'Let me add.add {"a": 40}', "part.rb" => 'add({"a": 40})',
      "scanner.rb" => "It is 42.", "thought.rb" => "Twice 21.0.9", "inline_think_filter.rb" => "It is 42.",
      "rewriter.rb" => "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"Twice 21.\"}}]}\n\n" }.each do |file, wanted|
      comment = File.read(File.join(gem_folder, "lib/aside", file))[/\A.*?^  class /m]
      text = comment.scan(/^  #\n((?:  #   .*\n)+)/).flatten.join.lines.map { |line| line[6..] }
      program = text.reject { |line| line.include?("Rubino") }.join
      assert_operator wanted, :===, Support.ruby("require 'aside'\n#{program}").first
    end
  end
end
