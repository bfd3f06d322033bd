/* How many threads a process takes by default: by affinity, by the quota of its control groups, and
 * by how many ranks share its CPUs. Control groups are played by a folder that is laid out as
 * /sys/fs/cgroup is. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_setaffinity */
#endif

#include "support/tltest.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"

#include <sched.h>
#include <stdio.h>

static char root[512];

/* A file of the played tree with this text. */
static void put(const char *path, const char *text) {
  char *whole = tl_format("%s/%s", root, path), *folder = tl_path_directory(whole);
  CK_OK(tl_dir_make(folder));
  CK_OK(tl_file_write(whole, text, strlen(text), true));
  tl_free(whole);
  tl_free(folder);
}

/* The quota of a process in a fresh tree; `lines` are those of /proc/self/cgroup. */
static double quota(const char *lines) {
  put("proc", lines);
  char *file = tl_format("%s/proc", root), *mount = tl_format("%s/cgroup", root);
  double q = tl_par_quota(file, mount);
  tl_free(file);
  tl_free(mount);
  return q;
}

static void fresh_tree(void) {
  static int count;
  snprintf(root, sizeof root, "%s/tree%d", tl_test_folder(), count++);
  put("cgroup/here", "");
}

START_TEST(quota_of_version_2_is_the_least_from_the_group_up) {
  fresh_tree();
  ck_assert(quota("0::/\n") == INFINITY);
  put("cgroup/user/job/cpu.max", "max 100000\n");
  ck_assert(quota("0::/user/job\n") == INFINITY);
  put("cgroup/user/cpu.max", "150000 100000\n");
  CK_NEAR(quota("0::/user/job\n"), 1.5, 0);
  put("cgroup/user/job/cpu.max", "50000 100000\n");
  CK_NEAR(quota("0::/user/job\n"), 0.5, 0);
  CK_NEAR(quota("0::/user/job/step\n"), 0.5, 0); /* a group without a file of its own */
  ck_assert(quota("0::/other\n") == INFINITY);
  put("cgroup/cpu.max", "400000 100000\n"); /* a container sees its own group as the mount */
  CK_NEAR(quota("0::/not/mounted/here\n"), 4, 0);
  CK_NEAR(quota("0::/../sideways\n"), 4, 0);
}
END_TEST

START_TEST(quota_of_version_1_is_read_where_its_controller_is_mounted) {
  fresh_tree();
  const char *lines = "9:name=systemd:/\n3:cpuset:/box\n2:cpu,cpuacct:/slurm/job_7/step_0\n";
  ck_assert(quota(lines) == INFINITY);
  put("cgroup/cpu,cpuacct/slurm/job_7/step_0/cpu.cfs_quota_us", "-1\n");
  put("cgroup/cpu,cpuacct/slurm/job_7/step_0/cpu.cfs_period_us", "100000\n");
  ck_assert(quota(lines) == INFINITY);
  put("cgroup/cpu,cpuacct/slurm/job_7/cpu.cfs_quota_us", "250000\n");
  put("cgroup/cpu,cpuacct/slurm/job_7/cpu.cfs_period_us", "100000\n");
  CK_NEAR(quota(lines), 2.5, 0);
  put("cgroup/cpu/solo/cpu.cfs_quota_us", "20000\n");
  put("cgroup/cpu/solo/cpu.cfs_period_us", "10000\n");
  CK_NEAR(quota("4:cpu:/solo\n0::/\n"), 2, 0);
  put("cgroup/unified/both/cpu.max", "100000 100000\n"); /* version 2 beside version 1 */
  CK_NEAR(quota("4:cpu:/solo\n0::/both\n"), 1, 0);
  ck_assert(quota("3:cpuset:/solo\nno line of the kind\n") == INFINITY);
  char *none = tl_format("%s/absent", root);
  ck_assert(tl_par_quota(none, root) == INFINITY);
  tl_free(none);
}
END_TEST

static TlCpuSet cpus(int from, int to) {
  TlCpuSet set = {{0}};
  for (int cpu = from; cpu < to; cpu++) set.byte[cpu / 8] |= (unsigned char)(1 << cpu % 8);
  return set;
}

START_TEST(ranks_share_the_cpus_that_they_may_both_use) {
  TlCpuSet all[4] = {cpus(0, 8), cpus(0, 8), cpus(0, 8), cpus(0, 8)};
  TlCpuSet bound[4] = {cpus(0, 2), cpus(2, 4), cpus(4, 6), cpus(6, 8)};
  TlCpuSet mixed[3] = {cpus(0, 4), cpus(0, 4), cpus(4, 5)};
  ck_assert_int_eq(tl_par_fair_threads(all, 1, 0, INFINITY), 8);
  for (int r = 0; r < 4; r++) {
    ck_assert_int_eq(tl_par_fair_threads(all, 4, r, INFINITY), 2);
    ck_assert_int_eq(tl_par_fair_threads(bound, 4, r, INFINITY), 2);
    ck_assert_int_eq(tl_par_fair_threads(all, 3, r % 3, INFINITY), 2); /* 8/3 */
  }
  ck_assert_int_eq(tl_par_fair_threads(mixed, 3, 1, INFINITY), 2);
  ck_assert_int_eq(tl_par_fair_threads(mixed, 3, 2, INFINITY), 1);
  TlCpuSet far = cpus(4090, 4094), one = cpus(3, 4);
  ck_assert_int_eq(tl_par_fair_threads(&far, 1, 0, INFINITY), 4);
  ck_assert_int_eq(tl_par_fair_threads(&one, 1, 0, INFINITY), 1);
  /* a quota is shared, too; a started CPU counts; one thread there always is */
  ck_assert_int_eq(tl_par_fair_threads(all, 1, 0, 2.5), 3);
  ck_assert_int_eq(tl_par_fair_threads(all, 1, 0, 2), 2);
  ck_assert_int_eq(tl_par_fair_threads(all, 4, 0, 4), 1);
  ck_assert_int_eq(tl_par_fair_threads(all, 4, 0, 2), 1);
  ck_assert_int_eq(tl_par_fair_threads(all, 1, 0, 0.1), 1);
  ck_assert_int_eq(tl_par_fair_threads(&one, 1, 0, 16), 1);
}
END_TEST

START_TEST(the_default_follows_this_process_affinity) {
  cpu_set_t before, first;
  ck_assert_int_eq(sched_getaffinity(0, sizeof before, &before), 0);
  int count = 0, lowest = -1;
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
    if (CPU_ISSET((size_t)cpu, &before)) lowest = cpu;
  CPU_ZERO(&first);
  CPU_SET((size_t)lowest, &first);
  ck_assert_int_eq(sched_setaffinity(0, sizeof first, &first), 0);
  TlCpuSet mine = tl_par_cpus();
  for (int cpu = 0; cpu < 8 * TL_CPU_BYTES; cpu++) count += mine.byte[cpu / 8] >> cpu % 8 & 1;
  ck_assert_int_eq(count, 1);
  ck_assert(mine.byte[lowest / 8] >> lowest % 8 & 1);
  unsetenv("OMP_NUM_THREADS");
  tl_par_set_threads(0);
  ck_assert_int_eq(tl_par_threads(), 1);
  ck_assert_msg(strstr(tl_par_reason(), "1 of the machine's") != NULL, "%s", tl_par_reason());
  ck_assert_int_eq(sched_setaffinity(0, sizeof before, &before), 0);
  tl_par_set_threads(3);
  ck_assert_int_eq(tl_par_threads(), 3);
  ck_assert_str_eq(tl_par_reason(), "as asked for");
}
END_TEST

TL_TEST_MAIN("threads", quota_of_version_2_is_the_least_from_the_group_up,
             quota_of_version_1_is_read_where_its_controller_is_mounted,
             ranks_share_the_cpus_that_they_may_both_use, the_default_follows_this_process_affinity)
