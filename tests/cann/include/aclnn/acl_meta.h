/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for CANN's header of the same name, and like it does for C++ only.
 */
#ifndef STANDIN_ACL_META_H
#define STANDIN_ACL_META_H

#include <cstdint>
#include <cstdlib>

#include "ascgrad_acl.h"

constexpr aclnnStatus OK = 0;

#endif
