# The build runs this after cargo. It prints the reason if the library is not in the folder that CMake expects.
if(NOT EXISTS "${LIBRARY}")
    message(FATAL_ERROR "cargo has not built ${LIBRARY}: a configuration file of cargo's names a target or a folder for what \
it builds, which this build cannot follow (`build.target`, `build.target-dir`)")
endif()
