# frozen_string_literal: true

# Tests that the gem declares and uses the C interface, and that its documentation is true.

require_relative "helper"

class NativeTest < Minitest::Test
  # Functions that a Ruby program does not need, with the reason.
  LEFT_OUT = {
    "aside_dialect_grammar" => "for the languages of engines: docs/bindings.md",
    "aside_scanner_consumed" => "for feeds with a callback; aside_event_array has it",
    "aside_scanner_quiet" => "to look at a chunk's bytes in Ruby costs more than the call that it saves",
    "aside_scanner_skip" => "says what that let pass",
    "aside_status_text" => "each failure has a message of its own"
  }.freeze

  # If two functions differ only by callback and array, the gem uses the one with the array.
  def test_nothing_is_left_out
    symbols = File.readlines(File.join(CHECKOUT, "include/aside.symbols"), chomp: true)
    assert_operator symbols.size, :>, 60
    # layout.rb declares them all.
    files = $LOADED_FEATURES.grep(%r{/lib/aside(/\w+)?\.rb\z}).reject { |file| file.end_with?("/layout.rb") }
    library = files.map { |file| File.read(file) }.join
    symbols.each do |symbol|
      # aside_abi_version compares versions.
      next if symbol.start_with?("aside_version_")

      name = symbols.include?("#{symbol}_into") ? "#{symbol}_into" : symbol
      assert_equal !LEFT_OUT.key?(symbol), library.match?(/\b#{name}\b/), symbol
    end
  end

  def test_each_status_that_a_program_can_meet_has_a_class
    native = Aside.const_get(:Native)
    failures = native.constants.grep(/\AERROR_/) - %i[ERROR_LENGTH ERROR_SIZE ERROR_RANGE]
    assert_operator failures.size, :>, 10
    assert_equal failures.map { |name| native.const_get(name) }.sort, Aside::Error.const_get(:BY_STATUS).keys.sort
  end

  def test_what_the_comments_say_comes_out
    said = Dir[File.join(File.dirname($LOADED_FEATURES.grep(%r{/lib/aside\.rb\z}).first), "**/*.rb")].flat_map do |file|
      File.read(file).scan(/^ *#   (Aside[.:].*\S) +# => (".*")$/)
    end
    said.reject! { |program, _| program.include?("dialect)") } # part of an example of several lines
    assert_operator said.size, :>, 3
    said.each { |program, wanted| assert_equal eval(wanted), eval(program), program }
  end

  def test_the_list_that_the_comments_show
    file = File.read(File.join(File.dirname($LOADED_FEATURES.grep(%r{/lib/aside\.rb\z}).first), "aside/dialect.rb"))
    shown = eval("[#{file[/Dialect\.names +# => \[(.*), \.\.\.\]/, 1]}]")
    assert_operator shown.size, :>, 1
    assert_equal shown, Aside::Dialect.names.first(shown.size)
  end
end
