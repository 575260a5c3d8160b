# frozen_string_literal: true

module Aside
  # The version of this gem and of the library inside it.
  VERSION = "0.1.0"
end
