# SPDX-License-Identifier: Apache-2.0
# cmake -DFILE=page.html -DNAME=page -DTO=page.c -P embed.cmake: a text file as a C string, NUL at its end.
file(READ "${FILE}" bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE "${TO}" "extern const char ${NAME}[];\nconst char ${NAME}[] = {\n${bytes}0};\n")
