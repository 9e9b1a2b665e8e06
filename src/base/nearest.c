#include "base/nearest.h"

#include <string.h>

enum { LONGEST = 63, SHORT = 3 };

static int smallest(int a, int b, int c)
{
    int least = a < b ? a : b;
    return least < c ? least : c;
}

/* The optimal string alignment distance of two words of at most LONGEST letters. */
static int distance(const char *a, int n, const char *b, int m)
{
    int rows[3][LONGEST + 1];
    for (int j = 0; j <= m; j++) rows[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            now[j] = smallest(above[j] + 1, now[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && two_above[j - 2] + 1 < now[j])
                now[j] = two_above[j - 2] + 1;
        }
    }
    return rows[n % 3][m];
}

int td_edits(const char *word, const char *meant)
{
    size_t length = strlen(word), other = strlen(meant);
    if (strcmp(word, meant) == 0) return 0;
    if (length >= SHORT && strncmp(meant, word, length) == 0) return 1;
    if (length > LONGEST || other > LONGEST) return -1;
    int edits = distance(word, (int)length, meant, (int)other), allowed = length <= SHORT ? 1 : (int)length / 3 + 1;
    return edits <= allowed ? edits : -1;
}

const char *td_nearest(const char *word, td_candidate_fn next, const void *context)
{
    const char *best = NULL, *candidate;
    int least = -1;
    for (int i = 0; (candidate = next(context, i)) != NULL; i++) {
        int edits = td_edits(word, candidate);
        if (edits < 0 || (best != NULL && edits >= least)) continue;
        least = edits;
        best = candidate;
    }
    return best;
}
