#include "support.h"
#include "base/file.h"
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int folders_synced;

/* In place of the C library's: what is synced, and in what order with the rename, cannot be seen from outside. */
int fsync(int fd) {
    struct stat info;
    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode))
        folders_synced += access("synced", F_OK) == 0;
    return (int)syscall(SYS_fsync, fd);
}

static char folder[] = "/tmp/mercer-file-XXXXXX";

static int enter(void **state) {
    (void)state;
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int leave(void **state) {
    (void)state;
    unlink("a");
    return chdir("/") || rmdir(folder);
}

static int files_here(void) {
    DIR *dir = opendir(".");
    int count = -2; /* . and .. */
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static void test_a_committed_file_replaces_the_old_one(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    assert_ok(ctx, mc_file_write(ctx, "a", "old", 3));
    assert_ok(ctx, mc_file_write(ctx, "a", "newer", 5));
    char text[16] = {0};
    FILE *file = fopen("a", "r");
    assert_int_equal(fread(text, 1, sizeof text, file), 5);
    fclose(file);
    assert_string_equal(text, "newer");
    assert_int_equal(files_here(), 1);
    close_clean(ctx);
}

static void test_abandoning_leaves_nothing(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const int before = files_here();
    mc_output *output = NULL;
    assert_ok(ctx, mc_output_open(ctx, "b", &output));
    assert_ok(ctx, mc_output_write(ctx, output, "x", 1));
    mc_output_abandon(output);
    assert_int_equal(files_here(), before);
    close_clean(ctx);
}

static void test_a_folder_and_a_missing_folder_are_named(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    assert_fails(ctx, mc_file_write(ctx, "no/such/file", "x", 1), MERCER_IO, "'no/such/file': No such file");
    assert_fails(ctx, mc_file_write(ctx, "/tmp", "x", 1), MERCER_IO, "directory");
    close_clean(ctx);
}

static void test_devices_stay_devices_and_a_full_one_is_an_error(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    struct stat info;
    assert_ok(ctx, mc_file_write(ctx, "/dev/null", "x", 1));
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    assert_fails(ctx, mc_file_write(ctx, "/dev/full", "x", 1), MERCER_IO, "'/dev/full': No space left");
    close_clean(ctx);
}

static void test_a_link_is_followed_and_the_mode_is_kept(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    assert_ok(ctx, mc_file_write(ctx, "a", "old", 3));
    assert_int_equal(chmod("a", 0600), 0);
    assert_int_equal(symlink("a", "link"), 0);
    assert_ok(ctx, mc_file_write(ctx, "link", "newer", 5));
    struct stat link, file;
    assert_int_equal(lstat("link", &link), 0);
    assert_int_equal(lstat("a", &file), 0);
    assert_true(S_ISLNK(link.st_mode));
    assert_int_equal(file.st_size, 5);
    assert_int_equal(file.st_mode & 0777, 0600);
    unlink("link");
    close_clean(ctx);
}

static void test_the_folder_is_synced_once_the_file_has_its_name(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    folders_synced = 0;
    assert_ok(ctx, mc_file_write(ctx, "synced", "x", 1));
    assert_int_equal(folders_synced, 1);
    unlink("synced");
    close_clean(ctx);
}

static void test_a_killed_run_leaves_nothing(void **state) {
    (void)state;
    const int probe = open(".", O_WRONLY | O_TMPFILE, 0600), before = files_here();
    if (probe < 0) {
        print_message("# skipped: the file system of /tmp has no files without a name\n");
        return;
    }
    close(probe);
    const pid_t child = fork();
    if (child == 0) {
        mercer_ctx *ctx = NULL;
        mc_output *output = NULL;
        if (mercer_open(NULL, &ctx) || mc_output_open(ctx, "killed", &output)
            || mc_output_write(ctx, output, "half", 4))
            _exit(1);
        kill(getpid(), SIGKILL);
    }
    int how = 0;
    waitpid(child, &how, 0);
    assert_true(WIFSIGNALED(how));
    assert_int_equal(files_here(), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_committed_file_replaces_the_old_one),
        cmocka_unit_test(test_abandoning_leaves_nothing),
        cmocka_unit_test(test_the_folder_is_synced_once_the_file_has_its_name),
        cmocka_unit_test(test_a_killed_run_leaves_nothing),
        cmocka_unit_test(test_a_folder_and_a_missing_folder_are_named),
        cmocka_unit_test(test_devices_stay_devices_and_a_full_one_is_an_error),
        cmocka_unit_test(test_a_link_is_followed_and_the_mode_is_kept),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
