// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/file.h"
#include "policy/native_ops.h"
#include "policy/priv.h"

static int no_init(void)
{
	return 0;
}

static int no_exit(gs_u32 reason)
{
	return 0;
}

static int no_task(struct gpusched_task *t)
{
	return 0;
}

static int no_timeslice(struct gpusched_task *t, gs_u64 us)
{
	return 0;
}

static int no_work(struct gpusched_task *t, struct gpusched_work *w)
{
	return 0;
}

static int no_request(struct gpusched_task *t, struct gpusched_request *r)
{
	return 0;
}

static int one_pass(struct gpusched_round *round)
{
	return 1;
}

static int no_tick(struct gpusched_task *t, struct gpusched_round *round)
{
	return 0;
}

static int no_end(struct gpusched_round *round)
{
	return 0;
}

static void look_up(void *dl, struct gs_native_ops *ops)
{
#define FIND(cb, without) \
	do { \
		void *at_ = dlsym(dl, "gpusched_ops_" #cb); \
		ops->cb = without; \
		if (at_) \
			memcpy(&ops->cb, &at_, sizeof(at_)); \
	} while (0)
	FIND(init, no_init);
	FIND(exit, no_exit);
	FIND(task_init, no_task);
	FIND(schedule, no_task);
	FIND(timeslice_set, no_timeslice);
	FIND(work_submit, no_work);
	FIND(request_begin, no_request);
	FIND(request_end, no_request);
	FIND(task_destroy, no_task);
	FIND(tick_begin, one_pass);
	FIND(tick, no_tick);
	FIND(tick_end, no_end);
#undef FIND
}

/*
 * Loads a copy of an object, so that each instance of a policy has its own variables. The dynamic
 * linker takes files of the same name for the same object, and descriptor numbers are reused. So
 * the number of slashes in the name differs.
 */
static void *open_copy(const char *path)
{
	static unsigned int copies;
	CLEANUP_FREE unsigned char *data = NULL;
	CLEANUP_FD int fd = -1;
	char name[320], slashes[256];
	size_t len, at = 0, n;

	if (gs_read_file(path, GS_MAX_OBJECT, &data, &len, NULL) < 0)
		return NULL;
	fd = memfd_create("gpusched-native", MFD_CLOEXEC);
	while (fd >= 0 && at < len) {
		ssize_t done = write(fd, data + at, len - at);

		if (done <= 0)
			return NULL;
		at += (size_t)done;
	}
	n = 1 + __atomic_fetch_add(&copies, 1, __ATOMIC_RELAXED) % (sizeof(slashes) - 1);
	memset(slashes, '/', n);
	slashes[n] = '\0';
	snprintf(name, sizeof(name), "/proc/self/fd%s%d", slashes, fd);
	return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

static void *open_object(const char *path)
{
	void *loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);

	if (!loaded)
		return dlopen(path, RTLD_NOW | RTLD_LOCAL);
	dlclose(loaded);
	return open_copy(path);
}

static int open_source(const char *source, void **ret, struct gs_error *err)
{
	char tmp[] = "/tmp/gpusched-XXXXXX";
	int fd = mkstemp(tmp), r;

	if (fd < 0)
		return gs_fail(err, -errno, "no temporary file in /tmp for the build");
	close(fd);
	r = gs_policy_build_native(source, tmp, err);
	if (r == 0) {
		*ret = open_copy(tmp);
		if (!*ret)
			r = gs_fail(err, -EINVAL, "%s: %s", source, dlerror());
	}
	unlink(tmp);
	return r;
}

int gs_native_load(const char *policy, void **ret_dl, struct gs_native_ops *ret,
		   struct gs_error *err)
{
	char path[PATH_MAX];
	size_t n = strlen(policy);
	void *dl = NULL;
	int r;

	if (n > 6 && strcmp(policy + n - 6, ".bpf.c") == 0) {
		r = open_source(policy, &dl, err);
		if (r < 0)
			return r;
	} else if (strpbrk(policy, "/.")) {
		bool object = n > 6 && strcmp(policy + n - 6, ".bpf.o") == 0;

		/*
		 * For NAME.bpf.o, load NAME.native.so from the same folder. "./" keeps dlopen()
		 * from searching the system's libraries.
		 */
		snprintf(path, sizeof(path), "%s%.*s%s", strchr(policy, '/') ? "" : "./",
			 (int)(object ? n - 6 : n), policy, object ? ".native.so" : "");
		if (object && access(path, R_OK) < 0)
			return gs_fail(err, -ENOENT,
				       "%s: an object runs in the kernel: name the source (%.*sc) "
				       "here, or use 'sim run --host sim'",
				       policy, (int)n - 1, policy);
	} else if (!gs_policy_path_ok(policy) || !gs_policy_path_find(policy, ".native.so", path)) {
		return gs_fail(err, -EINVAL,
			       "no policy '%s' for the native host (NAME.native.so): see 'gpusched "
			       "policy list', or give a path (./%s.bpf.c)",
			       policy, policy);
	}
	if (!dl)
		dl = open_object(path);
	if (!dl)
		return gs_fail(err, -ENOEXEC, "policy %s: %s", policy, dlerror());
	look_up(dl, ret);
	*ret_dl = dl;
	return 0;
}

int gs_native_options(void *dl, struct gs_policy_info *info)
{
	const struct gpusched_option_desc *(*get)(gs_u32 * n);
	const struct gpusched_option_desc *d;
	void *at = dlsym(dl, "gpusched_native_options");
	gs_u32 n = 0;

	if (!at)
		return -EINVAL;
	memcpy(&get, &at, sizeof(get));
	d = get(&n);
	return gs_options_read(d, n, info);
}
