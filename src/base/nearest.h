/* Suggestions for mistyped names of options, commands, programs and settings. */
#ifndef TD_BASE_NEAREST_H
#define TD_BASE_NEAREST_H

/* The number of edits between two words, or -1 if there are too many for a typing error. An edit inserts, drops or
 * replaces a letter or swaps two neighbours. A word of up to three letters may have one edit, a longer one another per
 * three letters. A prefix of a word is one edit away from it. */
int td_edits(const char *word, const char *meant);

/* The candidate with the fewest edits, or NULL if none is near. `next` yields candidates until NULL. */
typedef const char *(*td_candidate_fn)(const void *context, int index);
const char *td_nearest(const char *word, td_candidate_fn next, const void *context);

#endif
