"""The C and C++ library for Conan 2, both kinds in one package, built from this checkout by CMake and cargo, which must be
installed.

    conan create packaging/conan

In CMake, `find_package(aside CONFIG REQUIRED)` finds the project's own targets, as docs/linking.md describes them.
"""

import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")


class AsideConan(ConanFile):
    name = "aside"
    description = "Splits what a language model writes into thinking, content, narration and tool calls, from a stream cut anywhere."
    license = "MIT OR Apache-2.0"
    homepage = "https://aside.example"
    topics = ("llm", "reasoning", "streaming", "parser")
    settings = "os", "arch", "compiler", "build_type"

    def set_version(self):
        manifest = load(self, os.path.join(ROOT, "Cargo.toml"))
        self.version = manifest.split('\nversion = "')[1].split('"')[0]

    def configure(self):
        # The library is the same for all compilers of C++.
        self.settings.rm_safe("compiler.libcxx")
        self.settings.rm_safe("compiler.cppstd")

    def export_sources(self):
        excludes = [".git/*", "target*", "build/*", "dist/*", "fuzz/target/*"]
        copy(self, "*", ROOT, self.export_sources_folder, excludes=excludes)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["ASIDE_EXAMPLES"] = False
        toolchain.cache_variables["ASIDE_TESTS"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        licences = os.path.join(self.package_folder, "licenses")
        copy(self, "LICENSE-*", self.source_folder, licences)
        script = os.path.join(self.source_folder, "scripts", "licences")
        self.run(f'"{script}" "{os.path.join(licences, "third-party")}"')

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "aside")]
        self.cpp_info.libs = ["aside"]
