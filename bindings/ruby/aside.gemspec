# frozen_string_literal: true

# Describes a platform gem if the library is in lib/aside, where scripts/build-gem puts it; otherwise a gem that needs a
# library on the system.

require_relative "lib/aside/version"

Gem::Specification.new do |spec|
  spec.name = "aside"
  spec.version = Aside::VERSION
  spec.authors = ["The aside authors"]
  spec.summary = "Splits the streamed output of a language model into thinking, content and tool calls."
  spec.description = "Splits the streamed output of a language model into thinking, content, narration and tool " \
                     "calls, through the native library libaside. Chunking does not change the result. " \
                     "Shortens the output of tools before a model reads it."
  spec.licenses = ["MIT", "Apache-2.0"]
  spec.homepage = "https://aside.example"
  spec.required_ruby_version = ">= 3.0"
  spec.metadata = { "rubygems_mfa_required" => "true" }

  Dir.chdir(__dir__) do
    library = Dir["lib/aside/libaside.{so,dylib}"]
    platform = ENV.fetch("ASIDE_GEM_PLATFORM", "")
    platform = Gem::Platform.local if platform.empty? && !library.empty?
    spec.platform = platform unless platform.to_s.empty?
    spec.files = Dir["lib/**/*.rb"] + Dir["sig/*.rbs"] + library + Dir["README.md"] + Dir["LICENSE-*"] + Dir["third-party/*/*"]
  end
  spec.extra_rdoc_files = ["README.md"]
  spec.rdoc_options = ["--main", "README.md"]

  spec.add_dependency "ffi", "~> 1.15"
end
