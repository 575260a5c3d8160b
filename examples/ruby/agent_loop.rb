# frozen_string_literal: true

# The tool loop of an agent: runs each command that the model asks for, makes its output shorter under a budget, and gives
# it back for the model to read. The arguments stand in for the model: the commands, in the order in which it asks for them.
#
#   ruby examples/ruby/agent_loop.rb "ls -lR /usr/lib" "make -C somewhere"

require "aside"
require "open3"

# What the model may read of one result, in bytes.
BUDGET = 2_000

COMPRESSOR = Aside::Compressor.new(budget: BUDGET, last_run: 1 << 20)

# Runs a command. Gives what the model reads of it.
def run(command)
  # Both streams as a terminal shows them; the bytes may be of any kind.
  output, status = Open3.capture2e("sh", "-c", command, binmode: true)
  # JSON has no place for what is not UTF-8.
  input = { command: command.scrub }
  result = COMPRESSOR.compress(output, tool_id: "bash", input: input, exit_code: status.exitstatus)
  report = result.report
  report.failed.each { |failed| warn "#{failed.id} was passed over: #{failed.reason}" }

  # Nor has a message to a model, which is JSON too.
  text = result.text.dup.force_encoding(Encoding::UTF_8).scrub
  text << "\n" unless text.empty? || text.end_with?("\n")
  ending = status.signaled? ? "killed by signal #{status.termsig}" : "exit #{status.exitstatus}"
  text << "(#{ending}, #{report.after} of #{report.before} characters)"
end

ARGV.each { |command| puts "$ #{command}", run(command) }
