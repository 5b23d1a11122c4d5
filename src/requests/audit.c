// SPDX-License-Identifier: MIT
/* audit.c - writes changes and their authors to the journal */
#define SD_JOURNAL_SUPPRESS_LOCATION 1
#include "requests/audit.h"

#include <string.h>
#include <systemd/sd-journal.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/log.h"
#include "basic/json_sheet.h"
#include "basic/user_limits.h"
#include "requests/requests.h"
#include "figures/ledger.h"
#include "hub/limited.h"

#define MINUTE_NS (60 * NS_PER_S)

bool gs_audit_take(struct gs_audit *a, uid_t uid, uint64_t now)
{
	struct gs_audit_user *u = &a->users[0];

	for (size_t i = 0; i < GS_COUNT(a->users); i++) {
		struct gs_audit_user *other = &a->users[i];

		if (other->n && other->uid == uid) {
			u = other;
			break;
		}
		if (u->n && (!other->n || other->since_ns < u->since_ns))
			u = other;
	}
	if (!u->n || u->uid != uid || now - u->since_ns >= MINUTE_NS)
		*u = (struct gs_audit_user){ .uid = uid, .since_ns = now };
	if (u->n >= GS_USER_MAY_NOTED)
		return false;
	u->n++;
	return true;
}

/* Replaces control characters of a user's text, since the journal is shown on terminals. */
static void put_text(char *ret, size_t size, const char *text)
{
	snprintf(ret, size, "%s", text ? text : "");
	for (char *c = ret; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
}

/* Puts the target (or the name) into @ret, and all other arguments as JSON into @ret_rest. */
static void put_target(const json_t *args, char *ret, size_t size, char *ret_rest, size_t rest_size)
{
	CLEANUP_JSON json_t *rest = args ? json_copy((json_t *)args) : NULL;
	const char *key = json_object_get(rest, "target") ? "target" : "name";
	CLEANUP_FREE char *text = NULL;

	put_text(ret, size, json_string_value(json_object_get(rest, key)));
	json_object_del(rest, key);
	text = rest && json_object_size(rest) ? json_dumps(rest, JSON_COMPACT) : NULL;
	put_text(ret_rest, rest_size, text);
}

static void put_result(char *ret, size_t size, int code, const char *error, const json_t *answer)
{
	json_int_t failed = json_integer_value(json_object_get(answer, "failed"));

	if (code)
		put_text(ret, size, error && *error ? error : strerror(-code));
	else if (failed > 0)
		snprintf(ret, size,
			 "%" JSON_INTEGER_FORMAT " done, %" JSON_INTEGER_FORMAT " failed",
			 json_integer_value(json_object_get(answer, "changed")), failed);
	else if (json_is_true(json_object_get(answer, "dry_run")))
		snprintf(ret, size, "nothing is done to any TSG: %s",
			 json_is_true(json_object_get(answer, "watch_only"))
				 ? "the driver's branch is not known"
				 : "DryRun=yes");
	else
		snprintf(ret, size, "done");
}

void gs_audit(struct gs_requests *rs, const struct gs_peer *peer, const char *verb,
	      const json_t *args, int code, const char *error, const json_t *answer)
{
	char target[160], rest[160], result[256], line[768];

	if (rs && peer->uid && !gs_audit_take(&rs->audit, peer->uid, gs_now_ns())) {
		gs_count(rs->hub, GS_SVC_AUDIT_LEFT);
		gs_limited(rs->hub, peer->uid, GS_LIMIT_AUDIT);
		return;
	}
	put_target(args, target, sizeof(target), rest, sizeof(rest));
	put_result(result, sizeof(result), code, error, answer);
	snprintf(line, sizeof(line), "uid %u, process %d: %s%s%s%s%s: %s", peer->uid, peer->pid,
		 verb, *target ? " " : "", target, *rest ? " " : "", rest, result);
	sd_journal_send("MESSAGE=%s", line, "PRIORITY=%i", LOG_INFO, "SYSLOG_IDENTIFIER=gpusched",
			"GPUSCHED_UID=%u", peer->uid, "GPUSCHED_PID=%d", peer->pid,
			"GPUSCHED_VERB=%s", verb, "GPUSCHED_TARGET=%s", target, "GPUSCHED_ARGS=%s",
			rest, "GPUSCHED_RESULT=%s", result, "GPUSCHED_RUN_DIR=%s",
			gs_env()->run_dir, NULL);
	if (rs)
		gs_ledger_change(rs->figures, peer, verb, target, rest, result);
	if (!getenv("JOURNAL_STREAM"))
		gs_log(LOG_INFO, "%s", line);
}
