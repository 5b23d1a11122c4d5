// SPDX-License-Identifier: MIT
/* doctor.c - checks what works here, and says what to do about the rest */
#include <string.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "basic/say.h"
#include "basic/term.h"
#include "cli/cli.h"
#include "cli/verbs_look.h"
#include "probe/bundles.h"
#include "probe/probe.h"

static const struct {
	const char *name;
	void (*fn)(struct gs_probe *k);
	unsigned int needed; /* what is impossible if the check fails */
	bool pod;            /* checked only with --kubernetes */
} checks[] = {
	{ "root", gs_probe_host_root, GS_NEED_ALL },
	{ "btf", gs_probe_host_btf, GS_NEED_ALL },
	{ "bpf", gs_probe_host_bpf, GS_NEED_ALL },
	{ "bpffs", gs_probe_host_bpffs, GS_NEED_REAL },
	{ "files", gs_probe_host_references, 0 },
	{ "pidfd", gs_probe_host_pidfd, GS_NEED_ALL },
	{ "config", gs_probe_host_config, 0 },
	{ "driver", gs_probe_gpu_driver, GS_NEED_REAL },
	{ "gpus", gs_probe_gpus, GS_NEED_REAL },
	{ "module", gs_probe_gpu_module, 0 },
	{ "fuse", gs_probe_host_fuse, GS_NEED_SIM },
	{ "namespace", gs_probe_host_namespace, GS_NEED_SIM },
	{ "policies", gs_probe_daemon_policies, 0 },
	{ "uprobes", gs_probe_host_uprobes, 0 },
	{ "gate", gs_probe_host_gate, 0 },
	{ "kmsg", gs_probe_host_kmsg, 0 },
	{ "parking", gs_probe_park, 0 },
	{ "daemon", gs_probe_daemon, GS_NEED_DAEMON },
	{ "guardian", gs_probe_daemon_guardian, 0 },
	{ "hostpid", gs_probe_kubernetes_hostpid, GS_NEED_POD, .pod = true },
	{ "cgroups", gs_probe_kubernetes_cgroups, GS_NEED_POD, .pod = true },
	{ "pods", gs_probe_kubernetes_pods, GS_NEED_POD, .pod = true },
	{ "lockdown", gs_probe_kubernetes_lockdown, GS_NEED_POD, .pod = true },
	{ "run", gs_probe_kubernetes_run, GS_NEED_POD, .pod = true },
};

#define DETAIL_COLUMN 14

/* True if the check failed, and nobody has to care: its remedy is to do nothing. */
static bool is_not_needed(bool ok, const char *remedy)
{
	return !ok && remedy && !strncmp(remedy, "nothing", strlen("nothing"));
}

/* Prints lines, not a table: texts may be long, and a new user sees them first. */
static void print_checks(const json_t *rows)
{
	size_t width = gs_term_width(stdout), i;
	bool colour = gs_term_colour(stdout);
	json_t *row;

	json_array_foreach((json_t *)rows, i, row) {
		const char *detail = json_string_value(json_object_get(row, "detail"));
		const char *remedy = json_string_value(json_object_get(row, "remedy"));
		bool ok = json_is_true(json_object_get(row, "ok"));
		bool spare = is_not_needed(ok, remedy), red = colour && !ok && !spare;

		printf("%s%-3s%s %-9s ", red ? "\033[31m" : "",
		       ok      ? "yes"
		       : spare ? "-"
			       : "no",
		       red ? "\033[0m" : "", json_string_value(json_object_get(row, "name")));
		gs_term_wrap(stdout, detail ? detail : "-", DETAIL_COLUMN, width);
		if (!remedy)
			continue;
		printf("%*sdo: ", DETAIL_COLUMN, "");
		gs_term_wrap(stdout, remedy, DETAIL_COLUMN + strlen("do: "), width);
	}
}

static void add_row(json_t *rows, const char *name, const struct gs_probe *k)
{
	json_array_append_new(rows, json_pack("{s:s,s:b,s:s?,s:s?}", "name", name, "ok", k->ok,
					      "detail", k->detail[0] ? k->detail : NULL, "remedy",
					      !k->ok && k->remedy[0] ? k->remedy : NULL));
}

static void add_bundles(json_t *rows)
{
	struct gs_probe k = {};
	const char *name;

	for (size_t i = 0; gs_probe_kubernetes_bundles(i, &k, &name); i++)
		add_row(rows, name, &k);
}

int cli_doctor(struct cli *c)
{
	CLEANUP_JSON json_t *rows = json_array(), *all = NULL;
	unsigned int missing = 0;
	bool real, sim, daemon, gpu = true, good;
	const char *why;

	for (size_t i = 0; i < GS_COUNT(checks); i++) {
		struct gs_probe k = {};

		if (checks[i].pod && !cli_opt(c, "kubernetes"))
			continue;
		checks[i].fn(&k);
		if (!k.ok)
			missing |= checks[i].needed;
		if (!k.ok && (checks[i].fn == gs_probe_gpu_driver || checks[i].fn == gs_probe_gpus))
			gpu = false;
		add_row(rows, checks[i].name, &k);
	}
	add_bundles(rows);
	real = !(missing & GS_NEED_REAL);
	sim = !(missing & GS_NEED_SIM);
	daemon = !(missing & GS_NEED_DAEMON);
	if (missing & GS_NEED_POD)
		gpu = real = sim = daemon = false;
	good = cli_opt(c, "gpu") ? gpu && (real || daemon) : real || sim || daemon;
	if (c->json) {
		all = json_pack("{s:b,s:b,s:b,s:b,s:O}", "ok", real || sim || daemon, "gpu", real,
				"sim", sim, "daemon", daemon, "checks", rows);
		if (gs_json_line(stdout, all))
			return GS_EXIT_FAILED;
		return gs_probe_daemon_mute(&why) ? cli_fail(-EHOSTDOWN, "%s", why)
		       : good                     ? GS_EXIT_OK
						  : GS_EXIT_IMPOSSIBLE;
	}
	print_checks(rows);
	printf("\non the %s: %s",
	       gs_env()->sim ? "simulated GPUs of this shell" : "GPUs of this machine",
	       real     ? "yes"
	       : daemon ? "through the daemon, as far as your user may"
			: "no");
	if (!gs_env()->sim)
		printf("; on simulated GPUs: %s", sim ? "yes" : "no");
	putchar('\n');
	if (gs_probe_daemon_mute(&why))
		return cli_fail(-EHOSTDOWN, "%s", why);
	if (!real && !sim && !daemon)
		return cli_fail(-ENOTSUP,
				"gpusched cannot be used here: see what to do above; "
				"'gpusched demo --model' and 'gpusched sim run' need nothing");
	return good ? GS_EXIT_OK
		    : cli_fail(-ENOTSUP, "no GPU can be used here: see what to do above");
}
