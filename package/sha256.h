/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-256 (FIPS 180-4), piece by piece.
 */
#ifndef ASCGRAD_SETUP_SHA256_H
#define ASCGRAD_SETUP_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
    uint32_t h[8];
    uint8_t rest[64];
    uint64_t size;
};

void sha256_begin(struct sha256 *sum);
void sha256_add(struct sha256 *sum, const void *data, size_t size);
void sha256_end(struct sha256 *sum, char hex[65]);

#endif
