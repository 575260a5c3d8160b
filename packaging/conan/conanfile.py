"""The C and C++ library for Conan 2, built from this checkout by CMake and cargo, which has to be there.

    conan create packaging/conan -o "aside/*:shared=True"
"""

import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")


class AsideConan(ConanFile):
    name = "aside"
    description = "Splits what a language model writes into thinking, content, narration and tool calls, from a stream cut anywhere."
    license = "MIT OR Apache-2.0"
    homepage = "https://aside.example"
    topics = ("llm", "reasoning", "streaming", "parser")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": False}

    def set_version(self):
        manifest = load(self, os.path.join(ROOT, "Cargo.toml"))
        self.version = manifest.split('\nversion = "')[1].split('"')[0]

    def configure(self):
        # The same library for all compilers of C and C++.
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
        copy(self, "LICENSE-*", self.source_folder, os.path.join(self.package_folder, "licenses"))
        # Conan writes those for the compiler's settings, and has both kinds of library as two packages.
        for folder in ("cmake", "pkgconfig"):
            rmdir(self, os.path.join(self.package_folder, "lib", folder))
        rmdir(self, os.path.join(self.package_folder, "share"))
        if self.options.shared:
            os.remove(os.path.join(self.package_folder, "lib", "libaside.a"))
        else:
            for name in os.listdir(os.path.join(self.package_folder, "lib")):
                if ".so" in name or ".dylib" in name:
                    os.remove(os.path.join(self.package_folder, "lib", name))

    def package_info(self):
        self.cpp_info.set_property("cmake_target_name", "aside::aside")
        self.cpp_info.libs = ["aside"]
        if not self.options.shared and self.settings.os == "Linux":
            self.cpp_info.system_libs = ["util", "rt", "pthread", "m", "dl"]
        if not self.options.shared and self.settings.os == "Windows":
            self.cpp_info.system_libs = ["kernel32", "ntdll", "userenv", "ws2_32", "dbghelp"]
