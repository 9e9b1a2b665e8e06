/* A finished run and the claims it makes: which verifier (programs/verify) checks
 * it, and with which parameters. */
#ifndef TD_RUN_VERIFY_RUN_H
#define TD_RUN_VERIFY_RUN_H

#include "run/run.h"

/* TD_OK with what was checked in words, or TD_VERIFY naming the claim that fails
 * and where; TD_UNSUPPORTED if the run makes no claim that can be checked (it was
 * stopped before its end, or nobody wrote a verifier for the program). */
td_status td_run_verify(const td_run *run, td_pool *pool, const char **claims);

bool td_run_verifies(const char *program); /* whether there is a verifier for it */

#endif
