/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for CANN's header of the same name.
 */
#ifndef STANDIN_ACLNN_BASE_H
#define STANDIN_ACLNN_BASE_H

#include "aclnn/acl_meta.h"

extern "C" {
aclnnStatus aclnnInit(const char *configPath);
aclnnStatus aclnnFinalize();
}

#endif
