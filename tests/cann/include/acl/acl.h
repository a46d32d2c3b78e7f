/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for CANN's header of the same name.
 */
#ifndef STANDIN_ACL_H
#define STANDIN_ACL_H

#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

aclError aclInit(const char *configPath);
aclError aclFinalize(void);

/* The messages of this thread since the last time, or NULL; valid until the next call of it. */
const char *aclGetRecentErrMsg(void);

#ifdef __cplusplus
}
#endif
#endif
