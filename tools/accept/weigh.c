/* SPDX-License-Identifier: Apache-2.0
 *
 * What one output is worth: against double precision by our contract and by the vendor's standard,
 * and against the twin's bits.
 */
#include <math.h>
#include <string.h>

#include "accept.h"

const double accept_bin_end[ACCEPT_BINS - 1] = {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1, 2, 8, 32};
const int32_t accept_type[ACCEPT_TYPES] = {ASCGRAD_TYPE_FP32, ASCGRAD_TYPE_FP16, ASCGRAD_TYPE_BF16};

/* The vendor's published standard for operators of its community (opbase,
 * ops_precision_standard/experimental_standard.md): |a - g| <= atol + rtol |g| for 99 % of the
 * elements, and no error above a limit or 32 ulp. */
struct standard {
    double rtol, atol, limit;
};

static struct standard standard_of(int32_t dtype) {
    if (dtype == ASCGRAD_TYPE_FP16) return (struct standard){0x1p-9, 0x1p-9, 1e-1};
    if (dtype == ASCGRAD_TYPE_BF16) return (struct standard){0x1p-6, 0x1p-6, 1};
    return (struct standard){0x1p-10, 0x1p-16, 1e-2};
}

static int type_index(int32_t dtype) {
    for (int i = 0; i < ACCEPT_TYPES; i++)
        if (accept_type[i] == dtype) return i;
    return 0;
}

/* What is finite in the type: a value beyond its range becomes infinite, and that is right. */
static bool comparable(int32_t dtype, double got, double want) {
    return isfinite(got) && isfinite(want) && fabs(want) <= value_largest(dtype);
}

static void weigh(struct accept *a, struct accept_output *o, int32_t dtype, double got,
                  const struct ref_tensor *want, int64_t i, int64_t *matched) {
    const double error = value_error(dtype, got, want->value[i], want->magnitude[i]);
    const struct standard s = standard_of(dtype);
    if (error > o->contract) o->contract = error, o->worst = i;
    if (!comparable(dtype, got, want->value[i])) {
        *matched += error <= 1;
        if (error > 1) o->vendor = false;
        return;
    }
    const double off = fabs(got - want->value[i]), ulp = off / value_ulp(dtype, want->value[i]);
    int bin = 0;
    while (bin < ACCEPT_BINS - 1 && ulp > accept_bin_end[bin])
        bin++;
    if (a) a->histogram[type_index(dtype)][bin]++;
    *matched += off <= s.atol + s.rtol * fabs(want->value[i]);
    if (ulp > o->ulp) o->ulp = ulp;
    if (off > o->absolute) o->absolute = off;
    if (off > s.limit && ulp > 32) o->vendor = false;
}

void accept_weigh(struct accept *a, struct accept_output *o, const struct ascgrad_tensor *t,
                  const void *data, const struct ref_tensor *want) {
    int64_t matched = 0;
    *o = (struct accept_output){.elements = text_tensor_elements(t), .vendor = true};
    const int64_t size = o->elements ? text_tensor_bytes(t) / o->elements : 0;
    for (int64_t i = 0; i < o->elements; i++) {
        const double got = value_get(t->dtype, data, i), twin = value_get(t->dtype, t->data, i);
        const bool same = memcmp((const char *)data + i * size, (const char *)t->data + i * size,
                                 (size_t)size) == 0 ||
                          (isnan(got) && isnan(twin));
        if (!same && o->differ++ == 0) o->other = i;
        weigh(a, o, t->dtype, got, want, i, &matched);
    }
    o->matched = o->elements ? (double)matched / (double)o->elements : 1;
    o->vendor = o->vendor && o->matched >= 0.99;
    const int64_t at = o->contract > 1 ? o->worst : o->other;
    if (o->elements) {
        o->got = value_get(t->dtype, data, at);
        o->want = o->contract > 1 ? want->value[at] : value_get(t->dtype, t->data, at);
    }
}
