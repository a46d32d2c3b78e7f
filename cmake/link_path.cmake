# SPDX-License-Identifier: Apache-2.0
# link_path(OUT PATH): a path as an option of linking may have it. CMake doubles every '$' in such options; Ninja links in
# the build folder, so that the way from there to a file of ours need not have the folder's name in it.
function(link_path out path)
  if(CMAKE_GENERATOR STREQUAL "Ninja")
    file(RELATIVE_PATH relative "${CMAKE_BINARY_DIR}" "${path}")
    string(FIND "${path}" "$" dollar)
    if(NOT dollar EQUAL -1)
      set(path "${relative}")
    endif()
  endif()
  set(${out} "${path}" PARENT_SCOPE)
endfunction()
