/* SPDX-License-Identifier: Apache-2.0
 *
 * The probe has one column, and asks nothing of it.
 */
