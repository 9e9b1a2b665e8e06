#include "test.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/outfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Files in a folder, hidden ones too. */
static int files_in(const char *folder)
{
    DIR *dir = opendir(folder);
    CHECK(dir != NULL);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return count;
}

static const char *fresh_folder(void)
{
    static char folder[512];
    static int count;
    snprintf(folder, sizeof folder, "%s/folder%d", test_folder(), count++);
    CHECK_EQ(mkdir(folder, 0777), 0);
    return folder;
}

static const char *inside(const char *folder, const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void check_content(const char *path, const char *wanted)
{
    char seen[256] = "";
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    size_t bytes = fread(seen, 1, sizeof seen - 1, file);
    fclose(file);
    seen[bytes] = '\0';
    CHECK_STR(seen, wanted);
}

static td_status write_words(const char *path)
{
    td_status status = TD_OK;
    td_outfile *file = NULL;
    TD_TRY(td_outfile_create(&file, path, TD_OUT_TEXT));
    TD_TRY(td_outfile_write(file, "seven ", 6));
    TD_TRY(td_outfile_print(file, "times %d\n", 8));
    TD_TRY(td_outfile_commit(file));
done:
    td_outfile_close(file);
    return status;
}

TEST(a_committed_file_is_alone_in_its_folder)
{
    const char *folder = fresh_folder();
    CHECK_OK(write_words(inside(folder, "words")));
    check_content(inside(folder, "words"), "seven times 8\n");
    CHECK_EQ(files_in(folder), 1);
}

TEST(nothing_is_seen_before_the_commit_and_nothing_stays_without_one)
{
    const char *folder = fresh_folder();
    td_outfile *file = NULL;
    CHECK_OK(td_outfile_create(&file, inside(folder, "words"), TD_OUT_BINARY));
    CHECK_OK(td_outfile_write(file, "some", 4));
    CHECK(access(inside(folder, "words"), F_OK) != 0);
    td_outfile_close(file);
    CHECK_EQ(files_in(folder), 0);
}

/* `left`: what may be allocated while the file is written, 0: anything. */
static void check_large_file(uint64_t left)
{
    const char *folder = fresh_folder();
    td_outfile *file = NULL;
    uint32_t *numbers = NULL;
    uint64_t count = 1500000, done = 0;
    td_status status = TD_OK;
    CHECK_OK(TD_NEW(&numbers, count, "numbers"));
    for (uint64_t i = 0; i < count; i++) numbers[i] = (uint32_t)i;
    CHECK_OK(td_outfile_create(&file, inside(folder, "numbers"), TD_OUT_BINARY));
    td_memory_set_budget(left > 0 ? td_memory().now + left : 0);
    for (uint64_t step = 1; done < count && status == TD_OK; step = step * 3 + 1) { /* large ones are not buffered */
        uint64_t now = step < count - done ? step : count - done;
        status = td_outfile_write(file, numbers + done, now * 4);
        done += now;
    }
    td_memory_set_budget(0);
    CHECK_OK(status);
    CHECK_OK(td_outfile_commit(file));
    td_outfile_close(file);
    FILE *back = fopen(inside(folder, "numbers"), "rb");
    for (uint64_t i = 0; i < count; i++) {
        uint32_t number;
        CHECK_EQ(fread(&number, 4, 1, back), 1);
        CHECK_EQ(number, i);
    }
    CHECK_EQ(fgetc(back), EOF);
    fclose(back);
    td_free(numbers);
}

TEST(a_large_file_keeps_the_order_of_its_writes) { check_large_file(0); }
TEST(a_file_is_written_when_little_memory_is_left) { check_large_file(8 << 10); }

TEST(writes_at_offsets_may_come_in_any_order)
{
    const char *folder = fresh_folder();
    td_outfile *file = NULL;
    CHECK_OK(td_outfile_create(&file, inside(folder, "pieces"), TD_OUT_BINARY));
    CHECK_OK(td_outfile_reserve(file, 9));
    CHECK_OK(td_outfile_write_at(file, 6, "ghi", 3));
    CHECK_OK(td_outfile_write_at(file, 0, "abc", 3));
    CHECK_OK(td_outfile_write_at(file, 3, "def", 3));
    CHECK_OK(td_outfile_commit(file));
    td_outfile_close(file);
    check_content(inside(folder, "pieces"), "abcdefghi");
}

/* Three pages, the last first; the nth write from now fails so. */
static td_status write_three_pages(const char *path, uint64_t nth, int error)
{
    td_status status = TD_OK;
    td_outfile *file = NULL;
    char *pages = NULL;
    TD_TRY(td_new_pages((void **)&pages, 3 * TD_OUTFILE_PAGE, "pages"));
    for (int i = 0; i < 3 * TD_OUTFILE_PAGE; i++) pages[i] = (char)('a' + i / 256 % 26);
    TD_TRY(td_outfile_create(&file, path, TD_OUT_BINARY));
    td_outfile_fail_at(nth, error);
    TD_TRY(td_outfile_write_pages(file, TD_OUTFILE_PAGE, pages + TD_OUTFILE_PAGE, 2 * TD_OUTFILE_PAGE));
    TD_TRY(td_outfile_write_pages(file, 0, pages, TD_OUTFILE_PAGE));
    TD_TRY(td_outfile_commit(file));
done:
    td_outfile_fail_at(0, 0);
    td_outfile_close(file);
    td_free(pages);
    return status;
}

static void check_three_pages(const char *path)
{
    static char seen[4 * TD_OUTFILE_PAGE];
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    CHECK_EQ(fread(seen, 1, sizeof seen, file), 3 * TD_OUTFILE_PAGE);
    fclose(file);
    for (int i = 0; i < 3 * TD_OUTFILE_PAGE; i++) CHECK_EQ(seen[i], 'a' + i / 256 % 26);
}

TEST(whole_pages_are_written_also_where_they_cannot_go_past_the_cache)
{
    const char *folder = fresh_folder();
    for (uint64_t refused = 0; refused <= 2; refused++) { /* none, the first write, the second */
        CHECK_OK(write_three_pages(inside(folder, "pages"), refused, EINVAL));
        check_three_pages(inside(folder, "pages"));
    }
    CHECK_STATUS(write_three_pages(inside(folder, "pages"), 2, ENOSPC), TD_IO);
    CHECK_CONTAINS(td_last_message(), "at byte 0: No space left on device");
    check_three_pages(inside(folder, "pages"));
    CHECK_EQ(files_in(folder), 1);
}

TEST(an_old_file_stays_until_the_new_one_is_committed)
{
    const char *folder = fresh_folder();
    const char *path = inside(folder, "old");
    test_write_file(path, "old", 3);
    CHECK_EQ(chmod(path, 0640), 0);
    td_outfile *file = NULL;
    CHECK_OK(td_outfile_create(&file, path, TD_OUT_BINARY));
    CHECK_OK(td_outfile_write(file, "new", 3));
    check_content(path, "old");
    CHECK_OK(td_outfile_commit(file));
    td_outfile_close(file);
    check_content(path, "new");
    struct stat info;
    CHECK_EQ(stat(path, &info), 0);
    CHECK_EQ(info.st_mode & 0777, 0640);
}

TEST(a_link_is_followed_and_stays_a_link)
{
    char folder[512], link[1024];
    snprintf(folder, sizeof folder, "%s", fresh_folder());
    test_write_file(inside(folder, "real"), "old", 3);
    snprintf(link, sizeof link, "%s/link", folder);
    CHECK_EQ(symlink("real", link), 0);
    CHECK_OK(write_words(link));
    struct stat info;
    CHECK_EQ(lstat(link, &info), 0);
    CHECK(S_ISLNK(info.st_mode));
    check_content(inside(folder, "real"), "seven times 8\n");
    CHECK_EQ(files_in(folder), 2);
}

TEST(text_goes_straight_to_a_character_device)
{
    td_outfile *file = NULL;
    struct stat before, after;
    CHECK_EQ(stat("/dev/null", &before), 0);
    CHECK_OK(td_outfile_create(&file, "/dev/null", TD_OUT_TEXT));
    CHECK(!td_outfile_is_stdout(file));
    CHECK_OK(td_outfile_print(file, "words\n"));
    CHECK_OK(td_outfile_commit(file));
    td_outfile_close(file);
    CHECK_EQ(stat("/dev/null", &after), 0);
    CHECK(S_ISCHR(after.st_mode) && before.st_ino == after.st_ino);
    CHECK_OK(td_outfile_create(&file, "/dev/full", TD_OUT_TEXT));
    CHECK_OK(td_outfile_print(file, "words\n"));
    CHECK_STATUS(td_outfile_commit(file), TD_IO);
    CHECK_CONTAINS(td_last_message(), "cannot write /dev/full at byte 0");
    td_outfile_close(file);
}

TEST(what_cannot_become_a_file_is_refused_by_name)
{
    char folder[512];
    snprintf(folder, sizeof folder, "%s", fresh_folder());
    CHECK_STATUS(write_words(folder), TD_IO);
    CHECK_CONTAINS(td_last_message(), "it is a directory");
    CHECK_CONTAINS(td_last_message(), folder);
    CHECK_EQ(mkfifo(inside(folder, "pipe"), 0666), 0);
    CHECK_STATUS(write_words(inside(folder, "pipe")), TD_IO);
    CHECK_CONTAINS(td_last_message(), "it is a FIFO");
    td_outfile *binary = NULL;
    CHECK_STATUS(td_outfile_create(&binary, "/dev/null", TD_OUT_BINARY), TD_IO);
    CHECK_CONTAINS(td_last_message(), "it is a device");
    CHECK_STATUS(write_words(inside(folder, "absent/words")), TD_IO);
    CHECK_CONTAINS(td_last_message(), "No such file or directory");
    CHECK_STATUS(write_words(inside(folder, "absent/")), TD_IO);
    CHECK_CONTAINS(td_last_message(), "no such directory");
    CHECK_STATUS(write_words(inside(folder, "pipe/words")), TD_IO);
    CHECK_CONTAINS(td_last_message(), "Not a directory");
    CHECK_EQ(symlink("nowhere", inside(folder, "link")), 0);
    CHECK_STATUS(write_words(inside(folder, "link")), TD_IO);
    CHECK_CONTAINS(td_last_message(), "link to a file that is absent");
    CHECK_STATUS(write_words(""), TD_INVALID);
    CHECK_EQ(files_in(folder), 2);
}

TEST(names_of_any_allowed_length_work_and_longer_ones_are_refused)
{
    char name[300], folder[512];
    snprintf(folder, sizeof folder, "%s", fresh_folder());
    memset(name, 'n', sizeof name);
    name[255] = '\0';
    CHECK_OK(write_words(inside(folder, name)));
    name[255] = 'n';
    name[256] = '\0';
    CHECK_STATUS(write_words(inside(folder, name)), TD_IO);
    CHECK_CONTAINS(td_last_message(), "too long");
    CHECK_EQ(files_in(folder), 1);
}

TEST(only_text_goes_to_standard_output)
{
    td_outfile *file = NULL;
    CHECK_STATUS(td_outfile_create(&file, "-", TD_OUT_BINARY), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "standard output");
    CHECK_STATUS(td_outfile_create(&file, "/dev/stdout", TD_OUT_BINARY), TD_INVALID);
    int saved = dup(STDOUT_FILENO), target = open(test_path("stdout"), O_CREAT | O_RDWR, 0666);
    CHECK(saved >= 0 && target >= 0);
    fflush(stdout);
    dup2(target, STDOUT_FILENO);
    td_status first = write_words("-"), second = write_words("/dev/stdout");
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(target);
    CHECK_OK(first);
    CHECK_OK(second);
    check_content(test_path("stdout"), "seven times 8\nseven times 8\n");
}

TEST(a_full_disk_behind_standard_output_is_an_error)
{
    int saved = dup(STDOUT_FILENO), full = open("/dev/full", O_WRONLY);
    if (full < 0) SKIP("there is no /dev/full");
    fflush(stdout);
    dup2(full, STDOUT_FILENO);
    td_status status = write_words("-");
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(full);
    CHECK_EQ(status, TD_IO);
    CHECK_STR(td_last_message(), "cannot write standard output at byte 0: No space left on device");
}

static td_status write_everywhere(const char *path)
{
    td_status status = TD_OK;
    td_outfile *file = NULL;
    TD_TRY(td_outfile_create(&file, path, TD_OUT_BINARY));
    TD_TRY(td_outfile_reserve(file, 5000));
    TD_TRY(td_outfile_write_at(file, 4096, "tail", 4));
    TD_TRY(td_outfile_write(file, "head", 4));
    TD_TRY(td_outfile_commit(file));
done:
    td_outfile_close(file);
    return status;
}

TEST(a_failure_at_any_step_leaves_the_old_file_and_nothing_else)
{
    char folder[512];
    snprintf(folder, sizeof folder, "%s", fresh_folder());
    test_write_file(inside(folder, "words"), "old", 3);
    uint64_t nth = 1;
    for (;; nth++) {
        td_outfile_fail_at(nth, ENOSPC);
        td_status status = write_everywhere(inside(folder, "words"));
        td_outfile_fail_at(0, 0);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_IO);
        CHECK_CONTAINS(td_last_message(), "No space left on device");
        CHECK_CONTAINS(td_last_message(), "words");
        check_content(inside(folder, "words"), "old");
        CHECK_EQ(files_in(folder), 1);
    }
    CHECK_EQ(nth, 8); /* create, reserve, two writes, sync, close, rename */
}

TEST(a_failed_allocation_leaves_nothing)
{
    char folder[512];
    snprintf(folder, sizeof folder, "%s", fresh_folder());
    uint64_t nth = 1;
    for (;; nth++) {
        td_alloc_fail_at(nth);
        td_status status = write_words(inside(folder, "words"));
        td_alloc_fail_at(0);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_NO_MEMORY);
        CHECK_EQ(files_in(folder), 0);
    }
    CHECK(nth > 3);
}

TEST(a_file_over_the_size_limit_is_an_error)
{
    char folder[512], block[65536] = "";
    snprintf(folder, sizeof folder, "%s", fresh_folder());
    struct rlimit old, small;
    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 100000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    td_outfile *file = NULL;
    td_status status = td_outfile_create(&file, inside(folder, "large"), TD_OUT_BINARY);
    for (int i = 0; i < 40 && status == TD_OK; i++) status = td_outfile_write(file, block, sizeof block);
    td_outfile_close(file);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_DFL);
    CHECK_EQ(status, TD_IO);
    CHECK_CONTAINS(td_last_message(), "at byte 100000: File too large");
    CHECK_EQ(files_in(folder), 0);
}

TEST(a_cancelled_file_cannot_be_committed)
{
    const char *folder = fresh_folder();
    td_outfile *file = NULL;
    CHECK_OK(td_outfile_create(&file, inside(folder, "words"), TD_OUT_BINARY));
    CHECK_OK(td_outfile_write(file, "some", 4));
    td_cancel_request();
    td_status status = td_outfile_commit(file);
    td_cancel_clear();
    CHECK_EQ(status, TD_CANCELLED);
    td_outfile_close(file);
    CHECK_EQ(files_in(folder), 0);
}

static void end_at_once(int signal_number)
{
    td_outfile_abort_all();
    _exit(128 + signal_number);
}

TEST(a_signal_handler_can_remove_what_is_unfinished)
{
    char folder[512];
    snprintf(folder, sizeof folder, "%s", fresh_folder());
    CHECK_OK(write_words(inside(folder, "kept")));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        td_outfile *file = NULL;
        signal(SIGTERM, end_at_once);
        if (td_outfile_create(&file, inside(folder, "words"), TD_OUT_BINARY) == TD_OK) raise(SIGTERM);
        _exit(1);
    }
    int how = 0;
    CHECK_EQ(waitpid(child, &how, 0), child);
    CHECK_EQ(WEXITSTATUS(how), 128 + SIGTERM);
    CHECK_EQ(files_in(folder), 1);
}

TEST(files_of_the_parent_survive_an_abort_in_the_child)
{
    char folder[512];
    snprintf(folder, sizeof folder, "%s", fresh_folder());
    td_outfile *file = NULL;
    CHECK_OK(td_outfile_create(&file, inside(folder, "words"), TD_OUT_BINARY));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) end_at_once(0);
    CHECK_EQ(waitpid(child, NULL, 0), child);
    CHECK_OK(td_outfile_commit(file));
    td_outfile_close(file);
    CHECK_EQ(files_in(folder), 1);
}

TEST_MAIN
