/* What a mistyped word may have meant: names of options, commands, programs and
 * settings are all guessed by one measure. */
#ifndef TD_BASE_NEAREST_H
#define TD_BASE_NEAREST_H

/* Edits between two words if they are so few that one may have been meant by the other, otherwise -1. An edit
 * inserts, drops or replaces a letter or swaps two neighbours; a word of up to three letters has one, longer ones
 * one more for every three letters. A word's beginning is one edit away from it. */
int td_edits(const char *word, const char *meant);

/* The candidate with the fewest edits, or NULL if none is near. `next` yields candidates until NULL. */
typedef const char *(*td_candidate_fn)(const void *context, int index);
const char *td_nearest(const char *word, td_candidate_fn next, const void *context);

#endif
