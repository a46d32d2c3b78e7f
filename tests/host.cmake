# SPDX-License-Identifier: Apache-2.0
# Tests of the host code alone: core, the bridge, infer and tiling, in C, with no kernel and no chip. They have the label
# host, and the target host_tests builds them; coverage, the sanitizers and qemu run exactly these, each in a build tree
# of its own. mutate.py links the objects of host_core and host_operators anew.
set(generated ${CMAKE_BINARY_DIR}/generated)
file(GLOB bridge CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/ge/*.c)
list(FILTER bridge EXCLUDE REGEX "/(registry|old[a-z]*)\\.c$") # these make a library of it

# host_objects(NAME FILES...): compiled once, linked into every program that asks for them.
function(host_objects name)
  add_library(${name} OBJECT ${ARGN})
  add_dependencies(${name} ir_headers)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/core ${generated})
endfunction()
host_objects(host_core ${ASCGRAD_CORE} ${generated}/ir_table.c)
host_objects(host_bridge ${bridge})
host_objects(host_operators ${ASCGRAD_INFER} ${ASCGRAD_TILING})
add_custom_target(host_tests)

# c_program(NAME FILES... [WITH LIBRARIES...]): with cmocka if a file asks for it. A cross compiler may have none: then
# the program is not there.
function(c_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" WITH)
  foreach(file IN LISTS arg_UNPARSED_ARGUMENTS)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
      file(STRINGS ${file} found REGEX "<cmocka.h>")
      if(found AND NOT CMOCKA)
        set_property(GLOBAL APPEND PROPERTY ascgrad_without_cmocka ${name})
        return()
      elseif(found)
        list(APPEND arg_WITH ${CMOCKA})
      endif()
    endif()
  endforeach()
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  add_dependencies(${name} ir_headers)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/core ${CMAKE_SOURCE_DIR}/twin ${generated})
  target_link_libraries(${name} PRIVATE ${arg_WITH} m)
endfunction()

# add_host_test(NAME PROGRAM WORDS...)
function(add_host_test name program)
  get_property(without GLOBAL PROPERTY ascgrad_without_cmocka)
  if(NOT program IN_LIST without)
    add_test(NAME ${name} COMMAND ${program} ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS host)
    add_dependencies(host_tests ${program})
  endif()
endfunction()

add_subdirectory(core)
add_subdirectory(ge)
add_subdirectory(op_tiling)
