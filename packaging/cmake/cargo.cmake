# Defines CMake targets for the library that cargo builds.
set(ASIDE_CARGO "$ENV{CARGO}" CACHE FILEPATH "cargo, which builds the library")
if(NOT ASIDE_CARGO)
    unset(ASIDE_CARGO CACHE)
    find_program(ASIDE_CARGO cargo HINTS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin" REQUIRED)
endif()
# By default, cargo's usual folder, so that the results of `cargo build --release --lib` are not built again.
set(target_dir "$ENV{CARGO_TARGET_DIR}")
if(NOT target_dir)
    set(target_dir target)
endif()
get_filename_component(target_dir "${target_dir}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
set(ASIDE_TARGET_DIR "${target_dir}" CACHE PATH "cargo's target folder; builds may share one")
unset(target_dir)
set(ASIDE_RUST_TARGET "" CACHE STRING "The platform to build for, as rustc names it; empty for this one")

# The system libraries that a static library of Rust needs. A test compares the list with rustc's. The unwinder is not in the list,
# because the compiler adds the right one: a `-static` program cannot have libgcc_s.
set(ASIDE_STATIC_NAME libaside.a)
if(WIN32)
    # Windows has no links and no versions in the names of libraries; programs are linked with an import library.
    set(ASIDE_SYSTEM_LIBRARIES kernel32 ntdll userenv ws2_32 dbghelp)
    set(ASIDE_SHARED_NAMES libaside.dll.a aside.dll aside.dll)
    if(MSVC)
        set(ASIDE_STATIC_NAME aside.lib)
        set(ASIDE_SHARED_NAMES aside.dll.lib aside.dll aside.dll)
    endif()
elseif(APPLE)
    set(ASIDE_SYSTEM_LIBRARIES System c m)
    set(ASIDE_SHARED_NAMES libaside.dylib libaside.${ASIDE_ABI}.dylib libaside.${ASIDE_VERSION}.dylib)
else()
    set(ASIDE_SYSTEM_LIBRARIES util rt pthread m dl c)
    set(ASIDE_SHARED_NAMES libaside.so libaside.so.${ASIDE_ABI} libaside.so.${ASIDE_VERSION})
endif()
# The names of the library: for the linker, for programs when they start, and of the installed file.
list(GET ASIDE_SHARED_NAMES 0 ASIDE_LINK_NAME)
list(GET ASIDE_SHARED_NAMES 1 ASIDE_SONAME)
list(GET ASIDE_SHARED_NAMES 2 ASIDE_FILE_NAME)

# aside_cargo(<suffix> <profile> <cargo arguments>…) builds the library below the target folder, whose name gets the suffix, and
# makes aside_shared<suffix> and aside_static<suffix>. The profile, dev or release, is for all builds other than Debug.
function(aside_cargo suffix profile)
    set(target_dir "${ASIDE_TARGET_DIR}${suffix}")
    if(ASIDE_RUST_TARGET)
        set(built_in "${target_dir}/${ASIDE_RUST_TARGET}")
        set(platform --target ${ASIDE_RUST_TARGET})
    else()
        set(built_in "${target_dir}")
        set(platform)
    endif()
    set(debug "${built_in}/debug")
    if(profile STREQUAL dev)
        set(release "${debug}")
    else()
        set(release "${built_in}/release")
    endif()
    set(profile "$<IF:$<CONFIG:Debug>,dev,${profile}>")
    set(folder "$<IF:$<CONFIG:Debug>,${debug},${release}>")
    set(link)
    if(NOT WIN32)
        set(link COMMAND "${CMAKE_COMMAND}" -E create_symlink ${ASIDE_LINK_NAME} "${folder}/${ASIDE_SONAME}")
    endif()
    # Cargo itself knows which files are out of date. This runs `cargo build --lib`, as people do, and not `cargo rustc`: that
    # selects one package of the workspace, so dependencies get other features, and the two commands would each build the other's
    # files again. No target is named for this machine, because cargo would then put the library into a different folder.
    add_custom_target(aside_build${suffix} ALL
        COMMAND "${CMAKE_COMMAND}" -E env --unset=CARGO_BUILD_TARGET "CARGO_TARGET_DIR=${target_dir}"
                "${ASIDE_CARGO}" build --lib --profile ${profile} ${platform} ${ARGN}
        COMMAND "${CMAKE_COMMAND}" "-DLIBRARY=${folder}/${ASIDE_STATIC_NAME}" -P "${PROJECT_SOURCE_DIR}/packaging/cmake/built.cmake"
        ${link}
        BYPRODUCTS "${folder}/${ASIDE_LINK_NAME}" "${folder}/${ASIDE_STATIC_NAME}"
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
        COMMENT "cargo build --lib ${ARGN}"
        VERBATIM USES_TERMINAL)
    foreach(kind shared static)
        set(library aside_${kind}${suffix})
        string(TOUPPER ${kind} KIND)
        add_library(${library} ${KIND} IMPORTED GLOBAL)
        if(kind STREQUAL static)
            set(file ${ASIDE_STATIC_NAME})
            set_target_properties(${library} PROPERTIES INTERFACE_LINK_LIBRARIES "${ASIDE_SYSTEM_LIBRARIES}")
        elseif(WIN32)
            set(file ${ASIDE_SONAME})
            set_target_properties(${library} PROPERTIES
                IMPORTED_IMPLIB "${release}/${ASIDE_LINK_NAME}"
                IMPORTED_IMPLIB_DEBUG "${debug}/${ASIDE_LINK_NAME}")
        else()
            set(file ${ASIDE_LINK_NAME})
            set_target_properties(${library} PROPERTIES IMPORTED_SONAME ${ASIDE_SONAME})
        endif()
        set_target_properties(${library} PROPERTIES
            IMPORTED_LOCATION "${release}/${file}"
            IMPORTED_LOCATION_DEBUG "${debug}/${file}"
            INTERFACE_INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/include;${PROJECT_SOURCE_DIR}/bindings/cpp/include")
        add_dependencies(${library} aside_build${suffix})
    endforeach()
endfunction()
