/* Accounts: for whom a thread works.
 *
 * An account has the memory that is held for a session (or, the default, for the process), its budget, its request to
 * stop, the names that its messages use for options, and what it caches and can do without. Every thread has a current
 * account: td_session_enter sets the session's, and whatever starts a thread or hands work to one hands its account
 * over (td_account_help). A block of memory stays charged to the account that it was taken from, whichever thread frees
 * it and whether or not the session still exists: blocks and owners count as references.
 *
 * The process's account contains all others: a request must fit the budget of its own account and the process's. */
#ifndef TD_BASE_ACCOUNT_H
#define TD_BASE_ACCOUNT_H

#include "base/status.h"

#include <stdatomic.h>

/* Something cached between runs. While its account lists it, nobody uses it, and a request for memory that exceeds the
 * budget releases it. */
typedef struct td_kept {
    struct td_kept *next; /* younger */
    struct td_account *account; /* that lists it, or NULL */
    void (*release)(struct td_kept *kept);
} td_kept;

typedef struct td_account {
    _Atomic uint64_t now, peak; /* bytes */
    _Atomic uint64_t budget;    /* 0: none */
    _Atomic uint64_t limit;     /* the budget and what the process holds besides; 0: the same as the budget */
    _Atomic uint64_t references;
    atomic_bool cancelled;
    atomic_int holds;           /* cancel.h */
    atomic_bool huge_pages;
    const td_option_name *names; /* that its face has for options (names.h); NULL: the neutral ones */
    td_kept *oldest;
} td_account;

td_status td_account_create(td_account **out, const td_option_name *names); /* with one reference */
void td_account_keep(td_account *account);
void td_account_release(td_account *account); /* NULL is fine */

td_account *td_account_process(void);
td_account *td_account_current(void);
td_account *td_account_of(const void *block); /* that the block is charged to */

/* From here on the calling thread works for the account (NULL: the process's). Returns the one before, to be entered
 * again. */
td_account *td_account_enter(td_account *account);

/* The same for a thread that works beside another one: it does not release what the account caches, which the other
 * thread may be about to use. */
void td_account_help(td_account *account);

/* The same for a thread that works while another one waits for it, which had this td_account_evicts. */
void td_account_stand_in(td_account *account, bool evicts);
bool td_account_evicts(void); /* whether the calling thread may release what its account caches */

/* The account whose budget leaves least room: `account`, or the process's. */
const td_account *td_account_binding(const td_account *account);

/* Lists what is cached as the youngest of the current account; takes it out again, because it is used or gone. */
void td_kept_offer(td_kept *kept, void (*release)(td_kept *kept));
void td_kept_take(td_kept *kept);

/* For the allocator. */

/* What an account and the process hold with what has just been charged. */
typedef struct td_account_levels {
    uint64_t own, all;
} td_account_levels;

/* False: a budget forbids it, although all that may be released has been. */
bool td_account_charge(td_account *account, uint64_t bytes, td_account_levels *out);
void td_account_credit(td_account *account, uint64_t bytes);
void td_account_raise_peak(td_account *account, td_account_levels now);
uint64_t td_account_limit(const td_account *account); /* or the budget; 0: none */
void td_account_adopt(void *block); /* the process's account has the block, whichever was charged; alloc.c */

#endif
