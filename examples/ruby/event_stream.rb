# frozen_string_literal: true

# Reads an OpenAI-style event stream over HTTP and splits the content of its deltas. The server is also in this file: it listens on
# the loopback interface and sends its bytes in pieces of arbitrary size.
#
#   ruby examples/ruby/event_stream.rb

require "aside"
require "json"
require "net/http"
require "socket"

# The answer of a model's server: events with pieces of the text, which are cut anywhere.
ANSWER = "<think>Twice 21 is 42; say so – 短く.</think>It is 42. 答えは 42 です。"
DELTAS = ANSWER.chars.each_slice(5).map do |piece|
  "data: #{JSON.generate(choices: [{ index: 0, delta: { content: piece.join } }])}\n\n"
end
EVENTS = [*DELTAS, "data: [DONE]\n\n"].join.freeze

def serve(server)
  client = server.accept
  nil until client.gets.strip.empty?
  client << "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
  EVENTS.b.scan(/.{1,37}/mn) { |piece| client << piece }
  client.close
end

# Yields the text of each event as it arrives. Pieces are joined into lines before they are parsed.
def deltas(uri)
  return enum_for(:deltas, uri) unless block_given?

  line = +"".b
  Net::HTTP.start(uri.host, uri.port) do |http|
    http.request_get(uri) do |response|
      response.read_body do |piece|
        line << piece
        while (event = line.slice!(/\A.*\n/n))
          data = event.force_encoding(Encoding::UTF_8)[/\Adata: (.*)/, 1]
          next if data.nil? || data == "[DONE]"

          content = JSON.parse(data).dig("choices", 0, "delta", "content")
          yield content if content
        end
      end
    end
  end
end

server = TCPServer.new("127.0.0.1", 0)
thread = Thread.new { serve(server) }

last = nil
Aside::Scanner.new("inline-think").each_delta(deltas(URI("http://127.0.0.1:#{server.addr[1]}/"))) do |channel, text|
  print last ? "\n" : "", "[#{channel}] " unless channel == last
  print text
  last = channel
end
puts
thread.join
