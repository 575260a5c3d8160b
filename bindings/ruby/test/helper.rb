# frozen_string_literal: true

# Helpers that the tests share. They use the installed gem: scripts/test-ruby installs it.

require "aside"
require "json"
require "minitest/autorun"
require "open3"
require "rbconfig"

CHECKOUT = ENV.fetch("ASIDE_CHECKOUT")

module Support
  # Returns the events of chunks and of the end.
  def self.scan(scanner, chunks)
    events = []
    chunks.each { |chunk| scanner.feed(chunk) { |event| events << event } }
    scanner.finish { |event| events << event }
    events
  end

  def self.joined(events, channel)
    events.select { |event| event.kind == :text && event.channel == channel }.map(&:bytes).join
  end

  # Returns the events in comparable form: pieces that were cut only by chunks are joined.
  def self.merged(events)
    events.each_with_object([]) do |event, merged|
      said = [event.kind, event.channel, event.cause, event.rule, event.tag, event.offset, event.bytes, event.name,
              event.value, event.call]
      last = merged.last
      if last && %i[text framing call_value].include?(event.kind) && last[0..1] == said[0..1] && last[5] + last[6].bytesize == event.offset
        last[6] += event.bytes
      else
        merged << said
      end
    end
  end

  # Runs a Ruby program in a separate process; returns its output and its status.
  def self.ruby(program, env: {}, options: [])
    Open3.capture2e(env, RbConfig.ruby, *options, "-W:no-experimental", "-e", program)
  end
end
