#include "base/account.h"

#include "base/alloc.h"
#include "base/machine.h"

#include <pthread.h>

static td_account process = {.huge_pages = true};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of budgets that are checked and charged, and of lists */
static pthread_mutex_t evict_lock = PTHREAD_MUTEX_INITIALIZER; /* held while something cached is released */
static atomic_bool counts_process; /* the process's limit includes its code, libraries and stacks */
static _Thread_local td_account *current; /* NULL: the process's */
static _Thread_local bool helps, evicting;

td_account *td_account_process(void) { return &process; }
td_account *td_account_current(void) { return current != NULL ? current : &process; }

td_account *td_account_enter(td_account *account)
{
    td_account *before = td_account_current();
    current = account;
    return before;
}

void td_account_stand_in(td_account *account, bool evicts)
{
    current = account;
    helps = !evicts;
}

void td_account_help(td_account *account) { td_account_stand_in(account, false); }
bool td_account_evicts(void) { return !helps; }

td_status td_account_create(td_account **out, const td_option_name *names)
{
    td_account speaker = {.names = names}; /* of the refusal, if there is no memory */
    td_account *account = NULL, *before = td_account_enter(&speaker);
    td_status status = TD_NEW_ZEROED(&account, 1, "account");
    (void)td_account_enter(before);
    if (status != TD_OK) return status;
    td_account_adopt(account);
    account->names = names;
    account->references = 1;
    account->huge_pages = process.huge_pages;
    *out = account;
    return TD_OK;
}

void td_account_keep(td_account *account)
{
    if (account != &process) account->references++;
}

void td_account_release(td_account *account)
{
    if (account == NULL || account == &process) return;
    if (atomic_fetch_sub(&account->references, 1) == 1) td_free(account);
}

static uint64_t room_of(const td_account *account)
{
    uint64_t budget = account->budget, now = account->now;
    if (budget == 0) return UINT64_MAX;
    return budget > now ? budget - now : 0;
}

const td_account *td_account_binding(const td_account *account)
{
    return room_of(account) <= room_of(&process) && account->budget != 0 ? account : &process;
}

uint64_t td_account_limit(const td_account *account)
{
    return account->limit > 0 ? account->limit : account->budget;
}

td_memory_stats td_account_memory(const td_account *account)
{
    const td_account *least = td_account_binding(account);
    uint64_t now = account->now, room = room_of(least), budget = account->budget;
    if (least != account) budget = room == UINT64_MAX ? 0 : now + room;
    return (td_memory_stats){now, account->peak, budget, td_account_limit(least), td_alloc_requests()};
}

td_memory_stats td_memory(void) { return td_account_memory(td_account_current()); }

void td_memory_reset_peak(void)
{
    td_account *account = td_account_current();
    account->peak = account->now;
}

uint64_t td_memory_peak_begin(void)
{
    uint64_t before = td_account_current()->peak;
    td_memory_reset_peak();
    return before;
}

void td_memory_peak_end(uint64_t before)
{
    td_account *account = td_account_current();
    if (before > account->peak) account->peak = before;
}

void td_memory_set_budget(uint64_t bytes)
{
    process.budget = bytes;
    process.limit = 0;
    counts_process = false;
}

void td_memory_set_budget_besides(uint64_t bytes, uint64_t besides)
{
    td_memory_set_budget(bytes > besides ? bytes - besides : 1);
    process.limit = bytes;
}

void td_memory_set_limit(uint64_t bytes)
{
    td_memory_set_budget_besides(bytes, 0);
    counts_process = bytes != 0;
}

bool td_memory_counts_process(void) { return counts_process; }

void td_memory_lend(int64_t bytes)
{
    td_account *account = td_account_current();
    if (process.budget != 0) process.budget += (uint64_t)bytes;
    if (account != &process && account->budget != 0) account->budget += (uint64_t)bytes;
}

/* A limit of less than twice what the process itself takes cannot be kept: a graph in memory then gets as much as the
 * process, at most the limit, so that a larger limit never leaves less; one on disk gets half. */
void td_memory_apply_limit(bool on_disk)
{
    uint64_t limit = process.limit, held = process.now, resident = td_machine_resident();
    if (!counts_process) return;
    uint64_t besides = resident > held ? resident - held : 0;
    uint64_t most = on_disk ? limit / 2 : limit > besides ? limit - besides : 0;
    td_memory_set_budget_besides(limit, besides < most ? besides : most);
    counts_process = true;
}

/* Caching. */

static void unlink_kept(td_kept *kept)
{
    td_kept **at = &kept->account->oldest;
    while (*at != kept) at = &(*at)->next;
    *at = kept->next;
    kept->account = NULL;
}

void td_kept_offer(td_kept *kept, void (*release)(td_kept *kept))
{
    td_kept_take(kept);
    pthread_mutex_lock(&lock);
    *kept = (td_kept){.account = td_account_current(), .release = release};
    td_kept **last = &kept->account->oldest;
    while (*last != NULL) last = &(*last)->next;
    *last = kept;
    pthread_mutex_unlock(&lock);
}

void td_kept_take(td_kept *kept)
{
    pthread_mutex_lock(&lock);
    if (kept->account != NULL) unlink_kept(kept);
    pthread_mutex_unlock(&lock);
}

/* Charging. */

static bool charge_once(td_account *account, uint64_t bytes, td_account_levels *out)
{
    bool granted = bytes <= room_of(account) && bytes <= room_of(&process);
    if (!granted) return false;
    out->all = atomic_fetch_add(&process.now, bytes) + bytes;
    out->own = account != &process ? atomic_fetch_add(&account->now, bytes) + bytes : out->all;
    return true;
}

/* Never overshoots, not even for a moment: another thread's request that fits must not fail because of one that does
 * not. Budgets are checked under the lock; without any there is nothing to check. */
static bool charge_within(td_account *account, uint64_t bytes, td_account_levels *out)
{
    bool limited = account->budget != 0 || process.budget != 0;
    if (limited) pthread_mutex_lock(&lock);
    bool granted = charge_once(account, bytes, out);
    if (limited) pthread_mutex_unlock(&lock);
    return granted;
}

/* Takes the oldest of what the account caches off its list; NULL: there is nothing. */
static td_kept *take_oldest(td_account *account)
{
    pthread_mutex_lock(&lock);
    td_kept *kept = account->oldest;
    if (kept != NULL) unlink_kept(kept);
    pthread_mutex_unlock(&lock);
    return kept;
}

/* Releases what is cached, oldest first, until the request fits. One thread does so at a time: another one's request
 * waits for the memory instead of finding the list empty. */
static bool charge_evicting(td_account *account, uint64_t bytes, td_account_levels *out)
{
    td_kept *kept;
    pthread_mutex_lock(&evict_lock);
    evicting = true;
    bool granted = charge_within(account, bytes, out);
    while (!granted && (kept = take_oldest(account)) != NULL) {
        kept->release(kept);
        granted = charge_within(account, bytes, out);
    }
    evicting = false;
    pthread_mutex_unlock(&evict_lock);
    return granted;
}

bool td_account_charge(td_account *account, uint64_t bytes, td_account_levels *out)
{
    if (charge_within(account, bytes, out)) return true;
    bool may_evict = !helps && !evicting && account == td_account_current();
    return may_evict && charge_evicting(account, bytes, out);
}

void td_account_credit(td_account *account, uint64_t bytes)
{
    process.now -= bytes;
    if (account != &process) account->now -= bytes;
}

static void raise_to(_Atomic uint64_t *peak, uint64_t now)
{
    uint64_t before = *peak;
    while (now > before && !atomic_compare_exchange_weak(peak, &before, now)) {}
}

/* Called when the system has given what was charged: a refused request is no peak. */
void td_account_raise_peak(td_account *account, td_account_levels now)
{
    raise_to(&process.peak, now.all);
    if (account != &process) raise_to(&account->peak, now.own);
}
