# trilemma_version_target(<name>): a library target <name> without sources that gives its users "trilemma_version.h".
#
# Included from CMakeLists.txt, this file defines the function. Run as `cmake -P`, it writes the header: at every build,
# so that the commit is that of the sources compiled and not of the last configuration, and only if its text changed.

# Sets <result> to the short commit of <source_dir>, with "-dirty" if tracked files differ from it; "unknown" if the
# folder is not the top of a git work tree (an unpacked archive inside another project must not borrow its commit).
function(trilemma_commit source_dir result)
  set(${result} "unknown" PARENT_SCOPE)
  find_program(TRILEMMA_GIT git)
  if(NOT TRILEMMA_GIT)
    return()
  endif()
  # The folder may belong to another user than the builder, as in containers; its build description is trusted already.
  set(git ${TRILEMMA_GIT} -C ${source_dir} -c safe.directory=${source_dir} --no-optional-locks)
  execute_process(COMMAND ${git} rev-parse --show-prefix
    OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE outside)
  execute_process(COMMAND ${git} rev-parse --short HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE no_commit)
  if(outside OR no_commit OR NOT prefix STREQUAL "")
    return()
  endif()
  execute_process(COMMAND ${git} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    string(APPEND commit "-dirty")
  endif()
  set(${result} ${commit} PARENT_SCOPE)
endfunction()

# Sets <result> to "ns-3 3.37, FFTW 3.3.10, ...". Packages that the project has not looked up yet are looked up here.
function(trilemma_library_versions result)
  foreach(package IN ITEMS ns3 Eigen3 yaml-cpp Boost fmt)
    if(NOT ${package}_VERSION)
      find_package(${package} QUIET)
    endif()
    if(NOT ${package}_VERSION)
      set(${package}_VERSION "unknown")
    endif()
  endforeach()
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(TRILEMMA_FFTW QUIET fftw3)
  endif()
  if(NOT TRILEMMA_FFTW_VERSION)
    set(TRILEMMA_FFTW_VERSION "unknown")
  endif()
  set(versions "ns-3 ${ns3_VERSION}" "FFTW ${TRILEMMA_FFTW_VERSION}"
    "Eigen ${Eigen3_VERSION}" "yaml-cpp ${yaml-cpp_VERSION}" "Boost ${Boost_VERSION}" "fmt ${fmt_VERSION}")
  list(JOIN versions ", " versions)
  set(${result} ${versions} PARENT_SCOPE)
endfunction()

function(trilemma_version_target name)
  set(folder ${PROJECT_BINARY_DIR}/generated)
  set(header ${folder}/trilemma_version.h)
  trilemma_library_versions(libraries)
  set(write_header ${CMAKE_COMMAND}
    -D "SOURCE_DIR=${PROJECT_SOURCE_DIR}"
    -D "HEADER=${header}"
    -D "TRILEMMA_VERSION=${PROJECT_VERSION}"
    -D "TRILEMMA_BUILD_TYPE=${CMAKE_BUILD_TYPE}"
    -D "TRILEMMA_COMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
    -D "TRILEMMA_LIBRARIES=${libraries}"
    -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE})
  # clang-tidy needs the header in a tree that is configured and never built.
  execute_process(COMMAND ${write_header} COMMAND_ERROR_IS_FATAL ANY)
  add_custom_target(${name}_header COMMAND ${write_header} BYPRODUCTS ${header}
    COMMENT "Recording the version" VERBATIM)
  add_library(${name} INTERFACE)
  target_include_directories(${name} INTERFACE ${folder})
  add_dependencies(${name} ${name}_header)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  trilemma_commit(${SOURCE_DIR} TRILEMMA_COMMIT)
  # configure_file leaves a file alone whose text would stay the same.
  configure_file(${CMAKE_CURRENT_LIST_DIR}/version.h.in ${HEADER} @ONLY)
endif()
