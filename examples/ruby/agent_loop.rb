# frozen_string_literal: true

# The tool loop of an agent: runs each command that the model asks for, shortens its output under a budget, and returns it
# to the model. There is no real model: the arguments are the commands that it asks for, in order.
#
#   ruby examples/ruby/agent_loop.rb "ls -lR /usr/lib" "make -C somewhere"

require "aside"
require "open3"

# The maximum size of a result in bytes.
BUDGET = 2_000

COMPRESSOR = Aside::Compressor.new(budget: BUDGET, last_run: 1 << 20)

# Runs a command, and returns the text for the model.
def run(command)
  # Reads both streams together, as a terminal shows them. They may contain any bytes.
  output, status = Open3.capture2e("sh", "-c", command, binmode: true)
  # The input becomes JSON, which must be UTF-8.
  input = { command: command.scrub }
  result = COMPRESSOR.compress(output, tool_id: "bash", input: input, exit_code: status.exitstatus)
  report = result.report
  report.failed.each { |failed| warn "#{failed.id} was skipped: #{failed.reason}" }

  # The message to the model must be UTF-8 too.
  text = result.text.dup.force_encoding(Encoding::UTF_8).scrub
  text << "\n" unless text.empty? || text.end_with?("\n")
  ending = status.signaled? ? "killed by signal #{status.termsig}" : "exit #{status.exitstatus}"
  text << "(#{ending}, #{report.after} of #{report.before} bytes)"
end

ARGV.each { |command| puts "$ #{command}", run(command) }
