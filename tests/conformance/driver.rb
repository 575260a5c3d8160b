# frozen_string_literal: true

# The driver of Ruby: README.md says what it reads and writes.

require "aside"

CHANNELS = %i[content thinking narration tool].freeze

def bytes(hex)
  [hex.delete_prefix("-")].pack("H*")
end

def hex(bytes)
  bytes.empty? ? "-" : bytes.unpack1("H*")
end

def each(dialect, chunks, **options, &)
  scanner = Aside::Scanner.new(dialect, **options)
  chunks.each { |chunk| scanner.feed(bytes(chunk), &) }
  scanner.finish(&)
  scanner.close
end

def scan(dialect, start, chunks)
  texts = CHANNELS.to_h { |channel| [channel, "".b] }
  each(dialect, chunks, start:) do |event|
    case event.kind
    when :text
      texts[event.channel] << event.bytes
    when :reclassify
      other = event.channel == :thinking ? :content : :thinking
      texts[event.channel] << texts[other]
      texts[other] = "".b
    end
  end
  texts.values.map { |text| hex(text) }.join(" ")
end

def calls(dialect, start, tools, chunks)
  writer = Aside::CallWriter.new(dialect, tools: tools == "-" ? nil : bytes(tools))
  said = []
  each(dialect, chunks, start:, calls: true) do |event|
    next unless (delta = writer.feed(event))

    said << [delta.name, +"", "0"] if delta.first?
    said.last[1] << delta.arguments
    said.last[2] = "1" if delta.whole?
  end
  said.map { |name, arguments, whole| "#{hex(name)} #{hex(arguments)} #{whole}" }.join(" ")
end

def rewrite(dialect, start, chunks)
  rewriter = Aside::Rewriter.new(dialect, start:)
  out = "".b
  chunks.each { |chunk| out << rewriter.feed(bytes(chunk)).b }
  out << rewriter.finish.b
  hex(out)
end

# The error of a scanner that was closed, after a failure with another message.
def gone(dialect)
  scanner = Aside::Scanner.new(dialect)
  scanner.close
  begin
    Aside::Dialect.find("nobody")
  rescue Aside::Error
    scanner.feed("a")
  end
rescue Aside::Error => e
  [e.class.name.delete_prefix("Aside::"), e.message].map { |text| hex(text) }.join(" ")
end

def answer(what, dialect, start, *rest)
  start = start == "-" ? nil : start.to_sym
  case what
  when "scan" then scan(dialect, start, rest)
  when "gone" then gone(dialect)
  when "calls" then calls(dialect, start, rest.shift, rest)
  else rewrite(dialect, start, rest)
  end
rescue Aside::Error => e
  "! #{e.message}"
end

$stdout.sync = true
$stdin.each_line(chomp: true) { |line| puts answer(*line.split) }
