// SPDX-License-Identifier: MIT
#include "sim/shell.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/say.h"
#include "basic/parse.h"
#include "rm/rm.h"
#include "sim/fuse.h"

#define MAX_DILATE 10000

struct shell_options {
	struct sim_server_config server;
	uint64_t mig; /* number of compute instances of each GPU; 0: MIG is off */
};

static int set_branch(struct shell_options *o, uint64_t branch, struct gs_error *err)
{
	char known[128];

	gs_rm_driver_branches_text(known, sizeof(known), ", ", ", ");
	if (!sim_rm_branch_known((unsigned int)branch))
		return gs_fail(err, -EINVAL,
			       "the simulator does not know driver branch %" PRIu64 ": it knows %s",
			       branch, known);
	o->server.rm.branch = (unsigned int)branch;
	return 0;
}

/* Parses "3" (3 GPU instances) or "2x3" (2 GPU instances with 3 compute instances each). */
static int divide_as(struct shell_options *o, const char *value, struct gs_error *err)
{
	CLEANUP_FREE char *text = strdup(value);
	uint64_t gpu = 0, compute = 1;
	char *times;
	int r;

	if (!text)
		return gs_fail(err, -ENOMEM, "out of memory");
	times = strchr(text, 'x');
	if (!times)
		r = gs_parse_u64(text, 2, SIM_MAX_GR - 1, &gpu, err);
	else
		r = gs_parse_u64(times + 1, 1, SIM_MAX_GR - 1, &compute, err);
	if (times && !r) {
		*times = '\0';
		r = gs_parse_u64(text, 1, SIM_MAX_GR - 1, &gpu, err);
	}
	if (!r && (gpu * compute < 2 || gpu * compute >= SIM_MAX_GR))
		r = gs_fail(err, -EINVAL, "%s: 2 to %d compute instances in all", value,
			    SIM_MAX_GR - 1);
	o->mig = gpu * compute;
	o->server.rm.mig = (unsigned int)gpu;
	o->server.rm.compute = (unsigned int)compute;
	return r;
}

static int set_option(struct shell_options *o, const char *name, const char *value,
		      struct gs_error *err)
{
	uint64_t n = 0;
	int r;

	if (!strcmp(name, "gpus")) {
		r = gs_parse_u64(value, 1, SIM_MAX_GPUS, &n, err);
		o->server.rm.gpus = (unsigned int)n;
		return r;
	}
	if (!strcmp(name, "branch")) {
		r = gs_parse_u64(value, 1, 9999, &n, err);
		return r ? r : set_branch(o, n, err);
	}
	if (!strcmp(name, "dilate"))
		return gs_parse_double(value, 0.01, MAX_DILATE, &o->server.dilate, err);
	if (!strcmp(name, "seed"))
		return gs_parse_u64(value, 0, UINT64_MAX, &o->server.seed, err);
	if (!strcmp(name, "params"))
		return sim_params_named(value, &o->server.params, err);
	if (!strcmp(name, "mig"))
		return divide_as(o, value, err);
	if (!strcmp(name, "fault") || !strcmp(name, "hang"))
		return sim_fault_add(o->server.rm.faults, value, name[0] == 'h', err);
	return gs_fail(err, -EINVAL, "there is no such option");
}

static int set_options(struct shell_options *o, const struct gs_option_text *opts, size_t n,
		       struct gs_error *err)
{
	for (size_t i = 0; i < n; i++) {
		struct gs_error why = {};
		int r = set_option(o, opts[i].name, opts[i].value, &why);

		if (r)
			return gs_fail(err, r, "--%s: %s", opts[i].name, why.text);
	}
	return 0;
}

/*
 * Gives each MIG instance an equal part of the GPU. How a real GPU divides itself is not modelled.
 */
static void divide(struct shell_options *o)
{
	struct sim_params *p = &o->server.params;

	p->gr_engines = (unsigned int)o->mig;
	p->blocks_at_once =
		p->blocks_at_once > o->mig ? p->blocks_at_once / (unsigned int)o->mig : 1;
}

static int check_rights(struct gs_error *err)
{
	CLEANUP_FD int fd = -1;

	if (geteuid())
		return gs_fail(err, -EPERM,
			       "a simulated GPU needs root (mounts, FUSE, BPF): use sudo, or "
			       "'gpusched sim run', which needs no privilege");
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return gs_fail(err, -ENODEV,
			       "/dev/fuse cannot be opened (%s): load the fuse module, or use "
			       "'gpusched sim run', which needs none",
			       strerror(errno));
	return 0;
}

static int start_server(struct sim_world *w, struct shell_options *o, struct gs_error *err)
{
	struct gs_error why = { 0 };
	char mountpoint[96], ok;
	pid_t parent = getpid();
	int ready[2];

	snprintf(mountpoint, sizeof(mountpoint), "%s/dev", w->dir);
	o->server.mountpoint = mountpoint;
	if (pipe2(ready, O_CLOEXEC))
		return gs_fail(err, -errno, "no pipe: %s", strerror(errno));
	w->server = fork();
	if (w->server < 0)
		return gs_fail(err, -errno, "no new process: %s", strerror(errno));
	if (!w->server) {
		setsid(); /* the terminal's signals (SIGINT) must reach only the command */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(1);
		close(ready[0]);
		if (sim_fuse_run(&o->server, ready[1], &why))
			gs_error_say("simulator: %s", why.text);
		/* the shell was killed, so nobody else cleans up */
		if (getppid() != parent) {
			sim_reap_world(w->dir, 0);
			sim_world_remove(w);
		}
		_exit(why.code ? 1 : 0);
	}
	close(ready[1]);
	if (read(ready[0], &ok, 1) != 1)
		gs_fail(err, -ENODEV, "the simulated GPU did not start");
	close(ready[0]);
	return err->code;
}

static volatile sig_atomic_t command_pid;

static void forward(int sig)
{
	if (command_pid > 0)
		kill((pid_t)command_pid, sig);
}

static void command(char **argv)
{
	const char *shell = getenv("SHELL");
	char *interactive[] = { (char *)(shell && *shell ? shell : "/bin/sh"), NULL };
	int r;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	if (!argv)
		argv = interactive;
	execvp(argv[0], argv);
	r = errno;
	gs_error_say("%s: %s", argv[0], strerror(r));
	_exit(r == ENOENT ? 127 : 126); /* the exit codes that a shell uses */
}

/* Waits for the command. Also reaps its orphans, since they become this process's children. */
static int wait_for(struct sim_world *w, pid_t pid)
{
	int status = 0;
	pid_t ended;

	do {
		ended = waitpid(-1, &status, 0);
		if (ended == w->server)
			w->server = 0;
	} while (ended != pid && (ended > 0 || errno == EINTR));
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run_command(struct sim_world *w, char **argv)
{
	struct sigaction pass = { .sa_handler = forward };
	pid_t pid;

	if (!argv && isatty(STDERR_FILENO))
		fprintf(stderr,
			"gpusched: simulated GPUs are here until this shell ends. "
			"'gpuschedd &' starts\n"
			"the daemon, 'gsload be &' a program (gsload --help). A second terminal "
			"joins by\n"
			"    sudo %s/join\n",
			w->dir);
	fflush(NULL);
	signal(SIGINT, SIG_IGN); /* the terminal sends SIGINT to the command too */
	signal(SIGQUIT, SIG_IGN);
	pid = fork();
	if (!pid)
		command(argv);
	command_pid = pid;
	sigaction(SIGTERM, &pass, NULL);
	sigaction(SIGHUP, &pass, NULL);
	return pid < 0 ? GS_EXIT_FAILED : wait_for(w, pid);
}

static int run(struct sim_world *w, struct shell_options *o, char **command, int *ret_code,
	       struct gs_error *err)
{
	int r;

	r = sim_world_enter(w, err);
	if (r)
		return r;
	r = start_server(w, o, err);
	if (r)
		return r;
	r = sim_world_devices(w, err);
	if (r)
		return r;
	r = sim_world_environment(w, o->server.dilate, err);
	if (r)
		return r;
	*ret_code = run_command(w, command);
	return 0;
}

static void stop_server(const struct sim_world *w)
{
	if (w->server <= 0)
		return;
	kill(w->server, SIGTERM);
	for (int i = 0; i < 100; i++) {
		if (waitpid(w->server, NULL, WNOHANG) == w->server)
			return;
		usleep(10000);
	}
	kill(w->server, SIGKILL);
	waitpid(w->server, NULL, 0);
}

int sim_cmd_shell(const struct gs_option_text *opts, size_t n, char **command)
{
	struct shell_options o = { .server = { .dilate = 1, .seed = 1 } };
	struct sim_world w = { 0 };
	struct gs_error err = { 0 };
	int code = GS_EXIT_OK;

	o.server.rm.gpus = 1;
	o.server.rm.branch = 580;
	sim_params_default(&o.server.params);
	if (set_options(&o, opts, n, &err) || check_rights(&err) || sim_world_new(&w, &err)) {
		gs_error_say("sim shell: %s", err.text);
		return gs_error_exit(err.code);
	}
	if (o.mig)
		divide(&o);
	if (o.server.params.gr_engines > 1)
		setenv("GPUSCHED_SIM_MIG", "1", 0);
	o.server.rm.gpu_name = o.server.params.pci_name;
	w.gpus = o.server.rm.gpus;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (run(&w, &o, command, &code, &err)) {
		gs_error_say("sim shell: %s", err.text);
		code = gs_error_exit(err.code);
	}
	sim_reap_all(w.server);
	/* also ends processes that entered the world through DIR/join */
	sim_reap_world(w.dir, w.server);
	stop_server(&w);
	sim_world_remove(&w);
	return code;
}
