/* SPDX-License-Identifier: Apache-2.0
 *
 * What the twin's Ascend C headers need, outside of any namespace.
 */
#ifndef TWIN_STANDARD_HEADERS
#define TWIN_STANDARD_HEADERS

#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "half.h"
#include "runtime.h"

#endif
