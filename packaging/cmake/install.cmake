# The files that `cmake --install` installs: headers, both libraries, the files of the CMake package and of pkg-config. No file
# contains the prefix, so that an installed tree can be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(FILES include/aside.h include/aside_compress.h include/aside_unstable.h
    include/aside_cdef.h include/aside_unstable_cdef.h
    bindings/cpp/include/aside.hpp bindings/cpp/include/aside_compress.hpp DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES LICENSE-APACHE LICENSE-MIT DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES $<TARGET_FILE:aside_static> DESTINATION "${CMAKE_INSTALL_LIBDIR}")
if(WIN32)
    install(PROGRAMS $<TARGET_FILE:aside_shared> DESTINATION "${CMAKE_INSTALL_BINDIR}")
    install(FILES $<TARGET_LINKER_FILE:aside_shared> DESTINATION "${CMAKE_INSTALL_LIBDIR}")
else()
    install(PROGRAMS $<TARGET_FILE:aside_shared> DESTINATION "${CMAKE_INSTALL_LIBDIR}" RENAME ${ASIDE_FILE_NAME})
    set(links "${PROJECT_BINARY_DIR}/links")
    file(MAKE_DIRECTORY "${links}")
    file(CREATE_LINK ${ASIDE_FILE_NAME} "${links}/${ASIDE_SONAME}" SYMBOLIC)
    file(CREATE_LINK ${ASIDE_SONAME} "${links}/${ASIDE_LINK_NAME}" SYMBOLIC)
    install(FILES "${links}/${ASIDE_SONAME}" "${links}/${ASIDE_LINK_NAME}" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/aside")
configure_package_config_file(packaging/cmake/asideConfig.cmake.in asideConfig.cmake
    INSTALL_DESTINATION "${package}" PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_BINDIR
    NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Below 1.0 a minor version may change what aside.hpp declares.
write_basic_package_version_file(asideConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/asideConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/asideConfigVersion.cmake"
    DESTINATION "${package}")

set(pkgconfig "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH ASIDE_PREFIX "/prefix/${pkgconfig}" /prefix)
string(REGEX REPLACE "/$" "" ASIDE_PREFIX "${ASIDE_PREFIX}")
list(TRANSFORM ASIDE_SYSTEM_LIBRARIES PREPEND -l OUTPUT_VARIABLE ASIDE_LIBS_PRIVATE)
list(JOIN ASIDE_LIBS_PRIVATE " " ASIDE_LIBS_PRIVATE)
configure_file(packaging/cmake/aside.pc.in aside.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/aside.pc" DESTINATION "${pkgconfig}")
