# SPDX-License-Identifier: Apache-2.0
# What every kernel on the twin stands on, ours and anybody's (cmake/ascgrad_kernel.cmake): the runtime's sources
# (twin_runtime), the arithmetic (twin_prims), the tables of the cycle model (target cycle_tables), and
# count_instructions. The includer has set `generated`, a folder for what is generated, and ASCGRAD_WRITE.
set(twin_folder ${CMAKE_CURRENT_LIST_DIR})

# Vector arithmetic, once per instruction set; the best one is chosen at run time.
set(base_flags "")
set(v3_flags -march=x86-64-v3)
set(v4_flags -march=x86-64-v4)
set(bf16_flags -march=x86-64-v4 -mavx512bf16)
set(levels base)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  list(APPEND levels v3 v4 bf16)
endif()
set(twin_prims "")
foreach(level IN LISTS levels)
  add_library(prims_${level} OBJECT ${twin_folder}/prims.c)
  target_compile_definitions(prims_${level} PRIVATE TWIN_ISA=${level})
  target_compile_options(prims_${level} PRIVATE -O3 -fno-trapping-math -fno-math-errno ${${level}_flags})
  list(APPEND twin_prims $<TARGET_OBJECTS:prims_${level}>)
endforeach()

# count_instructions(TARGET FILES): kernels that tell the cycle model how much scalar code of FILES they run. Always with
# -O1, so that all count alike; a sanitizer's own code is not worth counting.
function(count_instructions target files)
  target_compile_options(${target} PRIVATE -O1)
  if(ASCGRAD_SANITIZE)
    return()
  endif()
  set(dir ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  set(launcher sh ${dir}/count.sh ${files} ${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_LAUNCHER})
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${launcher}")
  get_target_property(sources ${target} SOURCES)
  set_property(SOURCE ${sources} PROPERTY OBJECT_DEPENDS "${dir}/count.sh;${dir}/count.awk")
endfunction()

# The cycle model's constants as data, for `ascgrad accept --calibrate`.
foreach(what names values table)
  add_custom_command(
    OUTPUT ${generated}/cycle_${what}.inc
    COMMAND ${ASCGRAD_WRITE} ${generated}/cycle_${what}.inc awk -v what=${what} -f ${twin_folder}/constants.awk
            ${twin_folder}/cycle_constants.h
    DEPENDS ${twin_folder}/constants.awk ${twin_folder}/cycle_constants.h
    VERBATIM)
endforeach()
add_custom_target(cycle_tables DEPENDS ${generated}/cycle_names.inc ${generated}/cycle_values.inc
                                       ${generated}/cycle_table.inc)

# All of it but what knows operators: ascgrad.c and describe.c.
file(GLOB twin_runtime CONFIGURE_DEPENDS ${twin_folder}/*.c)
list(FILTER twin_runtime EXCLUDE REGEX "/(prims|ascgrad|describe)\\.c$")
