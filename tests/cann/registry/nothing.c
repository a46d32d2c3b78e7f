/* SPDX-License-Identifier: Apache-2.0
 *
 * A libregister.so with nothing of GE in it.
 */
typedef int nothing;
