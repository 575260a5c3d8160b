# Run by the build after cargo: says why, if the library is not in the folder that CMake knows.
if(NOT EXISTS "${LIBRARY}")
    message(FATAL_ERROR "cargo has not built ${LIBRARY}: a configuration file of cargo's names a target or a folder for what \
it builds, which this build cannot follow (`build.target`, `build.target-dir`)")
endif()
