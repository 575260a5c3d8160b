# Run by the build behind cargo: says why where the library is not in the folder that CMake knows.
if(NOT EXISTS "${LIBRARY}")
    message(FATAL_ERROR "cargo has built no ${LIBRARY}: a configuration file of cargo's names a target or a folder for what \
it builds, which this build cannot follow (`build.target`, `build.target-dir`)")
endif()
