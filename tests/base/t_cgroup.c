/* What control groups leave to a process, from trees of files written here. */
#include "base/cgroup.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/mercer-cgroup-XXXXXX";

static void write_file(const char *group, const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s%s", root, group);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s%s/%s", root, group, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int cpus_of_group(const char *unified) {
    mc_groups groups = {.cpu = "/", .memory = "/"};
    snprintf(groups.unified, sizeof groups.unified, "%s", unified);
    return mc_cgroup_cpus(root, &groups);
}

static size_t memory_of_group(const char *unified) {
    mc_groups groups = {.cpu = "/", .memory = "/"};
    snprintf(groups.unified, sizeof groups.unified, "%s", unified);
    return mc_cgroup_memory(root, &groups);
}

static void test_the_tightest_quota_on_the_way_up_binds(void **state) {
    (void)state;
    write_file("/job", "cpu.max", "max 100000\n");
    write_file("/job/step", "cpu.max", "250000 100000\n");
    assert_int_equal(cpus_of_group("/job/step"), 3); /* rounded up */
    assert_int_equal(cpus_of_group("/job"), 0);
    write_file("/job", "cpu.max", "50000 100000\n");
    assert_int_equal(cpus_of_group("/job/step"), 1);
    assert_int_equal(cpus_of_group("/"), 0);
    assert_int_equal(cpus_of_group("/absent"), 0);
}

static void test_memory_is_what_the_limits_leave(void **state) {
    (void)state;
    write_file("/job", "memory.max", "1000000\n");
    write_file("/job", "memory.current", "300000\n");
    write_file("/job/step", "memory.max", "max\n");
    assert_int_equal(memory_of_group("/job/step"), 700000);
    assert_true(memory_of_group("/") == SIZE_MAX);
    write_file("/job/step", "memory.max", "500\n");
    write_file("/job/step", "memory.current", "800\n");
    assert_int_equal(memory_of_group("/job/step"), 0);
}

static void test_the_first_version_has_a_tree_for_each(void **state) {
    (void)state;
    write_file("/cpu", "cpu.cfs_quota_us", "200000\n");
    write_file("/cpu", "cpu.cfs_period_us", "100000\n");
    write_file("/memory", "memory.limit_in_bytes", "4096\n");
    assert_int_equal(cpus_of_group("/"), 2);
    assert_int_equal(memory_of_group("/"), 4096);
    write_file("/cpu", "cpu.cfs_quota_us", "-1\n");
    assert_int_equal(cpus_of_group("/"), 0);
}

static void test_the_groups_of_the_first_version_are_found(void **state) {
    char list[256];
    mc_groups groups;
    (void)state;
    write_file("", "list", "9:name=systemd:/\n4:memory:/job/a\n3:cpuset:/other\n2:cpuacct,cpu:/job\n0::/two\n");
    snprintf(list, sizeof list, "%s/list", root);
    mc_groups_read(list, &groups);
    assert_string_equal(groups.unified, "/two");
    assert_string_equal(groups.cpu, "/job");
    assert_string_equal(groups.memory, "/job/a");
    write_file("/cpu/job", "cpu.cfs_quota_us", "150000\n");
    write_file("/cpu/job", "cpu.cfs_period_us", "100000\n");
    write_file("/memory/job", "memory.limit_in_bytes", "1000\n");
    write_file("/memory/job", "memory.usage_in_bytes", "900\n");
    assert_int_equal(mc_cgroup_cpus(root, &groups), 2);
    assert_int_equal(mc_cgroup_memory(root, &groups), 100); /* of the group that /job/a, which is not there, is in */
    mc_groups_read("/nowhere", &groups);
    assert_string_equal(groups.cpu, "/");
}

static void test_the_environment_says_how_many_threads(void **state) {
    (void)state;
    unsetenv("MERCER_OMP_NUM_THREADS"); /* which the tests themselves may run under */
    unsetenv("OMP_NUM_THREADS");
    const int own = mc_own_cpus(64).count;
    assert_true(own >= 1 && own <= 64);
    if (own == 64)
        assert_string_equal(mc_own_cpus(64).decided, "processors it may run on");
    assert_string_equal(mc_own_cpus(1).decided, "processors it may run on");
    setenv("OMP_NUM_THREADS", "1", 1);
    mercer_ctx *ctx = open_ctx(0);
    assert_int_equal(mercer_threads(ctx), 1);
    assert_true(own == 1 || strcmp(mc_own_cpus(own).decided, "OMP_NUM_THREADS") == 0);
    assert_string_equal(mercer_threads_decided(ctx), mc_own_cpus(mc_allowed_processors()).decided);
    close_clean(ctx);
    setenv("MERCER_OMP_NUM_THREADS", "", 1); /* the command was started again: nothing was said */
    assert_int_equal(mc_own_cpus(64).count, own);
    unsetenv("MERCER_OMP_NUM_THREADS");
    unsetenv("OMP_NUM_THREADS");
}

static int make_root(void **state) {
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state) {
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_tightest_quota_on_the_way_up_binds),
        cmocka_unit_test(test_memory_is_what_the_limits_leave),
        cmocka_unit_test(test_the_first_version_has_a_tree_for_each),
        cmocka_unit_test(test_the_groups_of_the_first_version_are_found),
        cmocka_unit_test(test_the_environment_says_how_many_threads),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
