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

def scan(dialect, start, chunks)
  texts = CHANNELS.to_h { |channel| [channel, "".b] }
  scanner = Aside::Scanner.new(dialect, start:)
  take = lambda do |event|
    case event.kind
    when :text
      texts[event.channel] << event.bytes
    when :reclassify
      other = event.channel == :thinking ? :content : :thinking
      texts[event.channel] << texts[other]
      texts[other] = "".b
    end
  end
  chunks.each { |chunk| scanner.feed(bytes(chunk), &take) }
  scanner.finish(&take)
  scanner.close
  texts.values.map { |text| hex(text) }.join(" ")
end

def read(dialect, start, tools, chunks)
  answer = Aside::Answer.new(dialect, start:, tools: tools == "-" ? nil : bytes(tools))
  texts = { thinking: "".b, content: "".b }
  calls = []
  parts = chunks.flat_map { |chunk| answer.feed(bytes(chunk)) } + answer.finish
  parts.each do |part|
    case part.kind
    when :thinking, :content then texts[part.kind] << part.bytes
    when :call then calls << [part.name, +"", "0"]
    when :arguments then calls.last[1] << part.text
    when :call_end then calls.last[2] = "1" if part.whole?
    end
  end
  answer.close
  [*texts.values.map { |text| hex(text) }, *calls.map { |name, json, whole| "#{hex(name)} #{hex(json)} #{whole}" }].join(" ")
end

def rewrite(dialect, start, chunks)
  rewriter = Aside::Rewriter.new(dialect, start:)
  out = "".b
  chunks.each { |chunk| out << rewriter.feed(bytes(chunk)).b }
  out << rewriter.finish.b
  hex(out)
end

# Returns the error of a closed scanner. Another failure with another message precedes it.
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

def reply(what, dialect, start, *rest)
  start = start == "-" ? nil : start.to_sym
  case what
  when "scan" then scan(dialect, start, rest)
  when "gone" then gone(dialect)
  when "answer" then read(dialect, start, rest.shift, rest)
  else rewrite(dialect, start, rest)
  end
rescue Aside::Error => e
  "! #{e.message}"
end

$stdout.sync = true
$stdin.each_line(chomp: true) { |line| puts reply(*line.split) }
