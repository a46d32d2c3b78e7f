/* SPDX-License-Identifier: Apache-2.0
 *
 * CANN's functions for messages, by their names in its libraries: the message that a failing call
 * shows to the user (it moved from namespace ge, 8.1, to error_message, 2026), and the operator
 * log.
 */
#ifndef ASCGRAD_LOG_H
#define ASCGRAD_LOG_H

#define CANN_REPORT_8_1  "_ZN2ge23ReportUserDefinedErrMsgEPKcS1_z"
#define CANN_REPORT_2026 "_ZN13error_message23ReportUserDefinedErrMsgEPKcS1_z"
#define CANN_LOG         "DlogRecord"

/* EU0000..EU9999 are the codes set aside for operators of users. */
#define CANN_USER_CODE "EU0001"

enum { CANN_LOG_OP = 63, CANN_LOG_ERROR = 3 };

#endif
