// SPDX-License-Identifier: MIT
/* doctor.c - what works here, and what to do about the rest */
#include <string.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "basic/say.h"
#include "basic/term.h"
#include "cli/cli.h"
#include "cli/verbs_look.h"
#include "cli/probe.h"

static const struct {
	const char *name;
	void (*fn)(struct cli_check *k);
	unsigned int needed; /* what cannot be done without it */
	bool pod;            /* with --kubernetes */
} checks[] = {
	{ "root", cli_probe_root, CLI_NEED_ALL },
	{ "btf", cli_probe_btf, CLI_NEED_ALL },
	{ "bpf", cli_probe_bpf, CLI_NEED_ALL },
	{ "bpffs", cli_probe_bpffs, CLI_NEED_REAL },
	{ "files", cli_probe_references, 0 },
	{ "pidfd", cli_probe_pidfd, CLI_NEED_ALL },
	{ "driver", cli_probe_driver, CLI_NEED_REAL },
	{ "gpus", cli_probe_gpus, CLI_NEED_REAL },
	{ "module", cli_probe_module, 0 },
	{ "fuse", cli_probe_fuse, CLI_NEED_SIM },
	{ "namespace", cli_probe_namespace, CLI_NEED_SIM },
	{ "policies", cli_probe_policies, 0 },
	{ "uprobes", cli_probe_uprobes, 0 },
	{ "gate", cli_probe_gate, 0 },
	{ "parking", cli_probe_park, 0 },
	{ "daemon", cli_probe_daemon, CLI_NEED_DAEMON },
	{ "guardian", cli_probe_guardian, 0 },
	{ "hostpid", cli_probe_hostpid, CLI_NEED_POD, .pod = true },
	{ "cgroups", cli_probe_cgroups, CLI_NEED_POD, .pod = true },
	{ "pods", cli_probe_pods, CLI_NEED_POD, .pod = true },
	{ "lockdown", cli_probe_lockdown, CLI_NEED_POD, .pod = true },
	{ "run", cli_probe_run, CLI_NEED_POD, .pod = true },
};

#define DETAIL_COLUMN 14

/* Lines, not a table: what is to be done may be long, and this is the first that a new user sees. */
static void print_checks(const json_t *rows)
{
	size_t width = gs_term_width(stdout), i;
	bool colour = gs_term_colour(stdout);
	json_t *row;

	json_array_foreach((json_t *)rows, i, row) {
		const char *detail = json_string_value(json_object_get(row, "detail"));
		const char *remedy = json_string_value(json_object_get(row, "remedy"));
		bool ok = json_is_true(json_object_get(row, "ok"));

		printf("%s%-3s%s %-9s ", colour && !ok ? "\033[31m" : "", ok ? "yes" : "no",
		       colour && !ok ? "\033[0m" : "",
		       json_string_value(json_object_get(row, "name")));
		gs_wrap(stdout, detail ? detail : "-", DETAIL_COLUMN, width);
		if (!remedy)
			continue;
		printf("%*sdo: ", DETAIL_COLUMN, "");
		gs_wrap(stdout, remedy, DETAIL_COLUMN + strlen("do: "), width);
	}
}

int cli_doctor(struct cli *c)
{
	CLEANUP_JSON json_t *rows = json_array(), *all = NULL;
	unsigned int missing = 0;
	bool real, sim, daemon, gpu = true, good;
	const char *why;

	for (size_t i = 0; i < GS_COUNT(checks); i++) {
		struct cli_check k = {};

		if (checks[i].pod && !cli_opt(c, "kubernetes"))
			continue;
		checks[i].fn(&k);
		if (!k.ok)
			missing |= checks[i].needed;
		if (!k.ok && (checks[i].fn == cli_probe_driver || checks[i].fn == cli_probe_gpus))
			gpu = false;
		json_array_append_new(rows,
				      json_pack("{s:s,s:b,s:s?,s:s?}", "name", checks[i].name, "ok",
						k.ok, "detail", k.detail[0] ? k.detail : NULL,
						"remedy", !k.ok && k.remedy[0] ? k.remedy : NULL));
	}
	real = !(missing & CLI_NEED_REAL);
	sim = !(missing & CLI_NEED_SIM);
	daemon = !(missing & CLI_NEED_DAEMON);
	if (missing & CLI_NEED_POD)
		gpu = real = sim = daemon = false;
	good = cli_opt(c, "gpu") ? gpu && (real || daemon) : real || sim || daemon;
	if (c->json) {
		all = json_pack("{s:b,s:b,s:b,s:b,s:O}", "ok", real || sim || daemon, "gpu", real,
				"sim", sim, "daemon", daemon, "checks", rows);
		if (gs_json_line(stdout, all))
			return GS_EXIT_FAILED;
		return cli_probe_mute(&why) ? cli_fail(-EHOSTDOWN, "%s", why)
		       : good               ? GS_EXIT_OK
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
	if (cli_probe_mute(&why))
		return cli_fail(-EHOSTDOWN, "%s", why);
	if (!real && !sim && !daemon)
		return cli_fail(-ENOTSUP,
				"gpusched cannot be used here: see what to do above; "
				"'gpusched demo --model' and 'gpusched sim run' need nothing");
	return good ? GS_EXIT_OK
		    : cli_fail(-ENOTSUP, "no GPU can be used here: see what to do above");
}
