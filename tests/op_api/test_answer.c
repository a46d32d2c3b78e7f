/* SPDX-License-Identifier: Apache-2.0
 *
 * test_answer TYPE: makes a good call and prints its code and the messages of it.
 */
#include "call.h"

#include "acl/acl.h"

#include <stdio.h>

static const struct {
    const char *type, *row;
} good[] = {
    {"ExpSegsumGrad", "grad_output=*[2,3,8,8] grad_self=*[2,3,8,8]"},
    {"RopeGrad", "q=*[11,128] k=*[11,128] cos=*[11,64] sin=*[11,64] qSeqLen=2,1,4,4"},
    {"RotaryPositionEmbeddingGrad", "dy=*[2,3,4,32] cos=*[1,3,1,32] sin=*[1,3,1,32]"},
};

int main(int argc, char **argv) {
    static struct call call;
    struct call_workspace workspace = {0};
    for (size_t i = 0; argc == 2 && i < sizeof good / sizeof good[0]; i++) {
        if (strcmp(argv[1], good[i].type) == 0 && aclInit(NULL) == ACL_SUCCESS &&
            call_read(&call, good[i].type, good[i].row, "fp16", 1)) {
            call_make(&call, false);
            const aclnnStatus code = call_run(&call, &workspace);
            const char *message = aclGetRecentErrMsg();
            printf("%d %s\n", code, message ? message : "");
            call_end(&call);
            if (workspace.at) {
                aclrtFree(workspace.at);
            }
            return 0;
        }
    }
    return 1;
}
