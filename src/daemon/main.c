// SPDX-License-Identifier: MIT
/* Starts and stops gpuschedd; the service does the work. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/escape.h"
#include "basic/log.h"
#include "basic/procfs.h"
#include "daemon/daemon.h"
#include "policy/policy.h"

#define MAX_DESCRIPTORS 65536 /* the same number as in gpuschedd.service */
#define LEAST_DESCRIPTORS 128 /* with fewer, nobody is answered beside what the daemon opens */

static int complain(const struct gs_error *err, int code)
{
	char shown[2 * sizeof(err->text)];

	gs_escape(shown, sizeof(shown), err->text[0] ? err->text : strerror(-code));
	fprintf(stderr, "gpuschedd: %s\n", shown);
	if (getenv("NOTIFY_SOCKET"))
		sd_notifyf(0, "STATUS=%s\nERRNO=%d", shown, -code);
	return gs_error_exit(code);
}

/* @start: bad lines are left out. */
static int read_config(const struct daemon_options *o, bool start, struct gs_config **ret,
		       struct gs_error *err)
{
	struct gs_config *c;
	int r;

	r = start ? gs_config_load_start(o->config, &c, err)
		  : gs_config_load_file(o->config, &c, err);
	if (r)
		return r;
	*ret = c;
	c->dry_run |= o->dry_run;
	c->adopt &= !o->no_adopt;
	if (o->policy) {
		if (strlen(o->policy) >= sizeof(c->policy))
			return gs_fail(err, -EINVAL, "the policy's name is too long");
		strcpy(c->policy, o->policy);
	}
	for (size_t i = 0; i < o->nset; i++) {
		r = gs_config_add_option(c, o->set[i], err);
		if (r)
			return r;
	}
	return 0;
}

static void tell_left_out(const struct gs_config *c)
{
	for (size_t i = 0; i < c->left_out.n; i++)
		gs_log(LOG_WARNING, "%s: %s: the line is left out", c->left_out.at[i],
		       c->left_out.text[i]);
}

/* Names values that replace an earlier file's, and names that are cut: nobody sees that in a line. */
static void tell_notes(const struct gs_texts *notes, bool check)
{
	for (size_t i = 0; i < notes->n; i++)
		if (check)
			printf("%s: %s\n", notes->at[i], notes->text[i]);
		else
			gs_log(LOG_INFO, "%s: %s", notes->at[i], notes->text[i]);
}

/*
 * Checks the policy for --check-config. An ordinary start finds mistakes when it loads the policy.
 */
static int check_policy(const struct gs_config *c, struct gs_error *err)
{
	struct gs_error why = { 0 };
	int r = 0;

	if (c->policy[0])
		r = gs_policy_check_options(c->policy, (const char *const *)c->policy_options.text,
					    c->policy_options.n, &why);
	return r ? gs_fail(err, r, "Policy=%s: %.400s", c->policy, why.text) : 0;
}

/* ---- the loop -------------------------------------------------------------------------------- */

static bool stopping;

static int on_stop(sd_event_source *src, const struct signalfd_siginfo *si, void *user)
{
	gs_log(LOG_INFO, "%s from process %u: ending", strsignal((int)si->ssi_signo), si->ssi_pid);
	sd_notify(0, "STOPPING=1");
	stopping = true;
	return 0;
}

struct running {
	const struct daemon_options *options;
	struct gs_config *config;
	struct gs_service *s;
	int procfs; /* what gs_procfs_begin() returned */
};

static int read_again(void *user, struct gs_config **ret, struct gs_error *err)
{
	const struct running *run = user;

	return read_config(run->options, false, ret, err);
}

static void reload_done(void *user, struct gs_config *next, int r, const struct gs_error *err)
{
	struct running *run = user;

	if (r) {
		gs_log(LOG_ERR, "the old configuration stays in force: %s", err->text);
		sd_notifyf(0, "READY=1\nSTATUS=watching; reload failed: %s", err->text);
		return;
	}
	gs_config_free(run->config);
	run->config = next;
	log_open(run->options->foreground, gs_config_log_level(next));
	gs_log(LOG_INFO, "the configuration was read again");
	tell_notes(&next->notes, false);
	sd_notify(0, "READY=1\nSTATUS=watching");
}

static void reload_waits(void *user)
{
	sd_notify(0, "STATUS=watching; a reload waits for a name service or a file");
}

/* Reads the configuration again. If it is broken, the old one stays in force. */
static void reload(struct running *run)
{
	const struct gs_service_reload how = { read_again, reload_done, reload_waits, run };
	struct gs_error err = { 0 };
	int r;

	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu",
		   (unsigned long long)(gs_now_ns() / NS_PER_US));
	r = gs_service_reload(run->s, &how, &err);
	if (r)
		reload_done(run, NULL, r, &err);
}

/* Reloads. But if a terminal was closed, the kernel sends SIGHUP too: then the daemon ends. */
static int on_hangup(sd_event_source *src, const struct signalfd_siginfo *si, void *user)
{
	if (si->ssi_code == SI_KERNEL)
		return on_stop(src, si, user);
	reload(user);
	return 0;
}

static int block_signals(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	return sigprocmask(SIG_BLOCK, &set, NULL) ? -errno : 0;
}

static int prepare_loop(sd_event *e, struct running *run)
{
	int r = sd_event_set_watchdog(e, true);

	if (r >= 0)
		r = sd_event_add_signal(e, NULL, SIGTERM, on_stop, NULL);
	if (r >= 0)
		r = sd_event_add_signal(e, NULL, SIGINT, on_stop, NULL);
	if (r >= 0)
		r = sd_event_add_signal(e, NULL, SIGHUP, on_hangup, run);
	return r < 0 ? r : 0;
}

/* Serves until a signal. The loop itself does not end: the service needs it for its own end. */
static int serve(struct running *run, sd_event *e, struct gs_error *err)
{
	struct api *api = NULL;
	int r = prepare_loop(e, run);

	if (r)
		return gs_fail(err, r, "the event loop cannot start: %s", strerror(-r));
	r = api_new(e, run->s, &api, err);
	if (r)
		return r;
	sd_notify(0, "READY=1\nSTATUS=watching");
	gs_log(LOG_INFO, "gpuschedd %s is ready", GPUSCHED_VERSION);
	if (run->procfs)
		gs_log(LOG_WARNING,
		       "no instance of /proc of our own (%s): users can delay its reads",
		       strerror(-run->procfs));
	while (!stopping && (r >= 0 || r == -EINTR))
		r = gs_service_run(run->s, -1);
	api_free(api);
	return r < 0 ? gs_fail(err, r, "%s", strerror(-r)) : 0;
}

static void unref_event(sd_event **e)
{
	sd_event_unref(*e);
}

/*
 * Raises the limit of descriptors: each connection, library and wait for an owner needs one, and a
 * shell's default is low.
 */
static int take_descriptors(struct gs_error *err)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur >= MAX_DESCRIPTORS)
		return 0;
	l.rlim_cur = l.rlim_max < MAX_DESCRIPTORS ? l.rlim_max : MAX_DESCRIPTORS;
	if (l.rlim_cur < LEAST_DESCRIPTORS)
		return gs_fail(err, -EMFILE,
			       "only %llu descriptors are allowed (LimitNOFILE=, ulimit -Hn): at "
			       "least %d are needed",
			       (unsigned long long)l.rlim_cur, LEAST_DESCRIPTORS);
	setrlimit(RLIMIT_NOFILE, &l);
	return 0;
}

static int run(struct running *run, struct gs_error *err)
{
	CLEANUP(unref_event) sd_event *e = NULL;
	struct gs_service_opts opts = {
		.size = sizeof(opts),
		.daemon = true,
		.dry_run = run->config->dry_run,
	};
	int r;

	r = take_descriptors(err);
	if (r)
		return r;
	r = block_signals();
	if (!r)
		r = sd_event_default(&e);
	opts.event = e;
	if (r >= 0)
		r = gs_service_new(run->config, &opts, &run->s, err);
	if (r < 0)
		return gs_fail(err, r, "%s", strerror(-r));
	r = serve(run, e, err);
	gs_service_free(run->s);
	return r;
}

int main(int argc, char **argv)
{
	struct daemon_options o = { 0 };
	struct running running = { .options = &o };
	struct gs_error err = { 0 };
	int r;

	r = options_parse(argc, argv, &o, &err);
	if (r)
		return r > 0 ? GS_EXIT_OK : complain(&err, r);
	if (o.help_config) {
		gs_config_help(stdout);
		return GS_EXIT_OK;
	}
	if (o.help_api) {
		gs_verbs_print(stdout);
		return GS_EXIT_OK;
	}
	if (o.help_counters) {
		gs_stats_print_counters(stdout);
		return GS_EXIT_OK;
	}
	r = gs_env_check(&err);
	if (r)
		return complain(&err, r);
	log_open(o.foreground, LOG_INFO);
	running.procfs = gs_procfs_begin();
	if (o.guardian) {
		r = guardian_run(&err);
		return r ? complain(&err, r) : GS_EXIT_OK;
	}
	r = read_config(&o, !o.check_config, &running.config, &err);
	if (!r && o.check_config) /* a start has left out what this would refuse */
		r = gs_service_check_config(running.config, &err);
	if (r) {
		complain(&err, r);
		gs_config_free(running.config);
		return GS_EXIT_FAILED;
	}
	log_open(o.foreground, gs_config_log_level(running.config));
	tell_left_out(running.config);
	tell_notes(&running.config->notes, o.check_config);
	r = o.check_config ? check_policy(running.config, &err) : run(&running, &err);
	gs_config_free(running.config);
	if (!r)
		return GS_EXIT_OK;
	/* an error at run time is no mistake of usage */
	r = complain(&err, r);
	return r == GS_EXIT_USAGE ? GS_EXIT_FAILED : r;
}
