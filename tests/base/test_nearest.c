#include "test.h"

#include "base/nearest.h"

TEST(few_edits_are_counted)
{
    CHECK_EQ(td_edits("output", "output"), 0);
    CHECK_EQ(td_edits("ouptut", "output"), 1); /* neighbours swapped */
    CHECK_EQ(td_edits("outpt", "output"), 1);
    CHECK_EQ(td_edits("outputs", "output"), 1);
    CHECK_EQ(td_edits("oatpat", "output"), 2);
    CHECK_EQ(td_edits("emn", "emu"), 1);
}

TEST(a_beginning_of_three_letters_or_more_is_near)
{
    CHECK_EQ(td_edits("rep", "replication"), 1);
    CHECK_EQ(td_edits("re", "replication"), -1);
}

TEST(words_with_many_edits_are_strangers)
{
    CHECK_EQ(td_edits("cpu", "emu"), -1);
    CHECK_EQ(td_edits("", "step"), -1);
    CHECK_EQ(td_edits("balance", "gather"), -1);
    char a[200], b[200];
    memset(a, 'x', sizeof a);
    memset(b, 'x', sizeof b);
    a[150] = b[199] = '\0';
    a[0] = 'y';
    CHECK_EQ(td_edits(a, b), -1); /* too long to be mistyped */
}

static const char *candidate(const void *context, int index)
{
    const char *const *words = context;
    return words[index];
}

TEST(the_nearest_of_several_is_found_or_none)
{
    static const char *const words[] = {"delta", "direction", "data", NULL};
    CHECK_STR(td_nearest("dat", candidate, words), "data");
    CHECK_STR(td_nearest("delat", candidate, words), "delta");
    CHECK_STR(td_nearest("direktion", candidate, words), "direction");
    CHECK(td_nearest("colour", candidate, words) == NULL);
}

TEST_MAIN
