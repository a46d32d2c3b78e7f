/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers for the checks: exact conversions between double and the three dtypes, seeded test data,
 * and the error bound every output must keep. Kept apart from the twin, so that one does not vouch
 * for the other.
 */
#ifndef ASCGRAD_TOOLS_VALUES_H
#define ASCGRAD_TOOLS_VALUES_H

#include "../../twin/ascgrad.h"

double value_get(int32_t dtype, const void *data, int64_t index);
void value_set(int32_t dtype, void *data, int64_t index, double value); /* nearest, ties to even */

double value_ulp(int32_t dtype, double value); /* weight of the last bit at this value */
double value_largest(int32_t dtype);

enum fill { FILL_NORMAL, FILL_SMALL, FILL_ONES, FILL_ZEROS, FILL_INF, FILL_NAN };

/* NORMAL: mean 0, deviation 1. SMALL: in (-1, 1). INF, NAN: normal with such values strewn in. */
void value_fill(struct ascgrad_tensor *tensor, enum fill fill, uint64_t seed);

/* What |got - want| has beyond half an ulp of dtype at want, which rounding alone may cost, over
 * the 2^-20 * magnitude that is allowed: at most 1 is right. NaN must meet NaN and an infinity its
 * own sign; want beyond the type's range must give the infinity. 1e30 where they do not. */
double value_error(int32_t dtype, double got, double want, double magnitude);

#endif
