# frozen_string_literal: true

# Tests that the gem declares and uses the C interface, and that its documentation is true.

require_relative "helper"

class NativeTest < Minitest::Test
  # Functions that a Ruby program does not need, with the reason.
  LEFT_OUT = {
    "aside_dialect_find_for_template" => "aside_dialect_find_for_template_with takes all that it does",
    "aside_scanner_consumed" => "for feeds with a callback; aside_fed has it",
    "aside_scanner_quiet" => "to look at a chunk's bytes in Ruby costs more than the call that it saves",
    "aside_scanner_skip" => "says what that let pass",
    "aside_status_text" => "each failure has a message of its own"
  }.freeze

  # Of two functions that differ by callback and array, the gem uses the one with the array.
  def test_nothing_is_left_out
    symbols = File.readlines(File.join(CHECKOUT, "include/aside.symbols"), chomp: true)
    assert_operator symbols.size, :>, 60
    native = Aside.const_get(:Native)
    library = $LOADED_FEATURES.grep(%r{/lib/aside(/\w+)?\.rb\z}).map { |file| File.read(file) }.join
    symbols.each do |symbol|
      # aside_abi_version compares versions.
      next if symbol.start_with?("aside_version_")

      name = symbols.include?("#{symbol}_into") ? "#{symbol}_into" : symbol
      bound = native.respond_to?(name)
      assert_equal !LEFT_OUT.key?(symbol), bound, symbol
      assert_operator library.scan(/\b#{name}\b/).size, :>, 1, "#{name} is declared and not used" if bound
    end
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
    shown = eval("[#{file[/Dialect\.list +# => \[(.*), \.\.\.\]/, 1]}]")
    assert_operator shown.size, :>, 1
    assert_equal shown, Aside::Dialect.list.first(shown.size)
  end
end
