# frozen_string_literal: true

# Measures one feed of a token, compared with an FFI call with the same arguments into a function that does nothing, and with a
# plain Ruby filter. All times include the loop over the text. It prints a line for each figure:
#
#     ruby -I lib bench/feed.rb EMPTY FILE       EMPTY is the library of benches/c/empty.c, FILE a short workload
#
# scripts/benchmarks runs it. The shortest of several rounds counts, and compared programs take turns.

require "aside"

# A library whose functions do nothing.
module Empty
  extend FFI::Library
  ffi_lib ARGV.fetch(0)
  attach_function :empty_feed_text, %i[size_t buffer_in size_t], :int32
end

# A method around such a call: a lower bound for any binding.
class Calling
  def initialize
    @handle = 1
  end

  def feed(chunk)
    Empty.empty_feed_text(@handle, chunk, chunk.bytesize)
  end
end

# Splits text that begins with <think>…</think>, written by hand, which does the same work as the class that InlineThinkFilter
# replaces: it searches for a tag in the kept text, always keeps the last characters because a tag may begin in them, and counts
# code fences in the content.
class PlainFilter
  OPEN = /<think>/i
  CLOSE = %r{</think>}i
  FENCE = /```/
  HOLD = 7

  def initialize
    @buffer = +""
    @inside = false
    @leads = true
    @fences = 0
  end

  def feed(chunk)
    @buffer << chunk
    while (@inside || @leads) && (match = (@inside ? CLOSE : OPEN).match(@buffer))
      text = match.pre_match
      break unless @inside || text.strip.empty?

      @buffer = match.post_match
      yield tell(text), text unless text.empty?
      @inside = !@inside
    end
    settled = @buffer.length - HOLD
    return unless settled.positive?

    text = @buffer.slice!(0, settled)
    yield tell(text), text
  end

  private

  def tell(text)
    return :thinking if @inside

    @fences += text.scan(FENCE).length
    @leads &&= @fences.even? && text.strip.empty?
    :content
  end
end

def chunks(path)
  file = File.binread(path)
  chunks = []
  at = 0
  while at < file.bytesize
    len = file.unpack1("L<", offset: at)
    chunks << file.byteslice(at + 4, len).force_encoding(Encoding::UTF_8).freeze if len.positive?
    at += 4 + len
  end
  chunks
end

# Many short rounds, so that some of them are not interrupted.
ROUNDS = 200
FED = chunks(ARGV.fetch(1)).freeze
LARGE = FED.each_slice(16).map { |slice| slice.join.freeze }.freeze

# Each run returns the number of bytes of text that it received. The chunks are made before the run.
empty = lambda do |_|
  bytes = 0
  FED.each do |chunk|
    Empty.empty_feed_text(1, chunk, chunk.bytesize)
    bytes += chunk.bytesize
  end
  bytes
end
called = lambda do |calling|
  bytes = 0
  FED.each do |chunk|
    calling.feed(chunk)
    bytes += chunk.bytesize
  end
  bytes
end
events = lambda do |scanner, chunks|
  bytes = 0
  chunks.each { |chunk| scanner.feed(chunk) { |event| bytes += event.text.bytesize } }
  bytes
end
texts = lambda do |scanner|
  bytes = 0
  FED.each do |chunk|
    if scanner.feed_text(chunk)
      bytes += chunk.bytesize
    else
      scanner.feed_deltas(chunk) { |_, text| bytes += text.bytesize }
    end
  end
  bytes
end
deltas = lambda do |scanner|
  bytes = 0
  FED.each { |chunk| scanner.feed_deltas(chunk) { |_, text| bytes += text.bytesize } }
  bytes
end
filtered = lambda do |filter|
  bytes = 0
  FED.each { |chunk| filter.feed(chunk) { |_, text| bytes += text.bytesize } }
  bytes
end
# A host that already has several deltas joins them.
joined = lambda do |filter|
  bytes = 0
  FED.each_slice(16) { |chunks| filter.feed(chunks.join) { |_, text| bytes += text.bytesize } }
  bytes
end
nothing = -> {}
scanner = -> { Aside::Scanner.new("inline-think") }

RUNS = {
  "empty call" => [nothing, empty],
  "empty call in a method" => [-> { Calling.new }, called],
  "Scanner#feed" => [scanner, ->(scanner) { events.call(scanner, FED) }],
  "Scanner#feed of 16" => [scanner, ->(scanner) { events.call(scanner, LARGE) }],
  "Scanner#feed_deltas" => [scanner, deltas],
  "Scanner#feed_text" => [scanner, texts],
  "InlineThinkFilter#feed" => [-> { Aside::InlineThinkFilter.new }, filtered],
  "InlineThinkFilter#feed of 16" => [-> { Aside::InlineThinkFilter.new }, joined],
  "plain filter" => [-> { PlainFilter.new }, filtered],
  "plain filter of 16" => [-> { PlainFilter.new }, joined]
}.freeze

best = Hash.new(Float::INFINITY)
ROUNDS.times do
  RUNS.each do |name, (prepare, run)|
    fed = prepare.call
    start = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    run.call(fed)
    best[name] = [best[name], Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - start].min
  end
end
best.each { |name, seconds| puts "ruby\t#{name}\t#{(seconds * 1e9 / FED.size).round(1)}" }
