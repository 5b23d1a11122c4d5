// SPDX-License-Identifier: MIT
/*
 * pod_names.c - asks the sources in order, and watches their folders
 *
 * A folder that is missing is looked for again after a while.
 */
#include "process/pod_names.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/escape.h"
#include "basic/log.h"
#include "process/pod_source.h"

#define AGAIN_NS NS_PER_S /* a missing folder is looked for again after this time */
#define SCAN_MAX 65536    /* entries of a folder that are read at most */
#define CHECK_MAX 4096    /* entries of a folder that doctor reads at most */
#define READS_MAX 16      /* reads of inotify events in one call at most */
#define ENTRY_MASK (IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM)
#define FOLDER_MASK (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)

/* The ids in the cgroup's path come first: names from other sources must match them. */
static struct watched {
	const struct gs_pod_source *source;
	struct gs_pod_book book;
	char folder[PATH_MAX]; /* "": the source is not used */
	int wd;                /* -1: the folder is not watched */
	bool usable;           /* the folder is there, and trusted */
	uint64_t tried_ns;     /* when the folder was last opened, with or without success */
	uint64_t full_ns;      /* when an entry could last not be stored, for lack of room */
	bool told;             /* the log has that it is not watched */
	bool refused;          /* the folder is not trusted; this was counted once in @left */
} sources[] = {
	{ .source = &gs_pod_by_cgroup, .wd = -1 },
	{ .source = &gs_pod_by_logs, .wd = -1 },
	{ .source = &gs_pod_by_containers, .wd = -1 },
	{ .source = &gs_pod_by_fractions, .wd = -1 },
	{ .source = &gs_pod_by_claims, .wd = -1 },
	{ .source = &gs_pod_by_bundles, .wd = -1 },
	{ .source = &gs_pod_by_bundles_k3s, .wd = -1 },
	{ .source = &gs_pod_by_bundles_microk8s, .wd = -1 },
	{ .source = &gs_pod_by_bundles_k0s, .wd = -1 },
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int events = -1; /* inotify descriptor; -1: none, so folders are only looked at again */
static uint64_t left;   /* for gs_pods_left() */
static struct gs_pod_unreads unread;
static bool news; /* gs_pod_names() learned something; gs_pods_read() reports it */

/*
 * Reads an entry. True: names may have changed. That is also so for an invalid entry, since it may
 * replace a valid one.
 */
static bool read_entry(struct watched *w, const char *entry)
{
	int r = w->source->read(&w->book, w->folder, entry);

	if (r == -ENOENT) /* the entry was removed meanwhile */
		return false;
	left += r != 0;
	if (gs_pod_unread_set(&unread, w->folder, entry, r)) {
		char shown[NAME_MAX + 1];

		gs_log(LOG_WARNING, "%s/%s is not read: %s", w->folder,
		       gs_escape(shown, sizeof(shown), entry), gs_pod_unread_why(r));
	}
	if (w->source->when_asked && !gs_pod_is_known(&w->book, entry))
		w->full_ns = gs_now_ns();
	return !r || r == -EINVAL;
}

/* ---- folders --------------------------------------------------------------------------------- */

static bool scan(struct watched *w, DIR *dir)
{
	const struct dirent *d;
	bool learned = false;
	unsigned int n = 0;

	while ((d = readdir(dir))) {
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		if (++n > SCAN_MAX) {
			left++;
			break;
		}
		learned |= read_entry(w, d->d_name);
	}
	return learned;
}

static void forget(struct watched *w)
{
	gs_pod_forget(&w->book, NULL);
	gs_pod_unread_forget(&unread, w->folder);
}

/*
 * Opens a folder: first watches it, then reads its entries. In this order, an entry that is added
 * in between is read twice; in the other order, it would be missed.
 */
static bool open_folder(struct watched *w)
{
	CLEANUP_DIR DIR *dir = NULL;

	w->tried_ns = gs_now_ns();
	if (w->wd >= 0)
		inotify_rm_watch(events, w->wd);
	w->wd = -1;
	w->usable = false;
	dir = opendir(w->folder);
	if (!dir)
		return false;
	if (!gs_pod_folder_trusted(dirfd(dir))) {
		left += !w->refused;
		w->refused = true;
		return false;
	}
	w->refused = false;
	w->usable = true;
	w->wd = inotify_add_watch(events, w->folder, ENTRY_MASK | FOLDER_MASK | IN_ONLYDIR);
	if (w->wd < 0 && events >= 0 && !w->told)
		gs_log(LOG_WARNING,
		       "%s cannot be watched: %s; it is read when names are needed "
		       "(sysctl fs.inotify.max_user_watches)",
		       w->folder, strerror(errno));
	w->told = w->wd < 0;
	forget(w);
	return !w->source->when_asked && scan(w, dir);
}

static bool open_missing(void)
{
	uint64_t now = gs_now_ns();
	bool learned = false;

	for (size_t i = 0; i < GS_COUNT(sources); i++)
		if (*sources[i].folder && sources[i].wd < 0 &&
		    now - sources[i].tried_ns >= AGAIN_NS)
			learned |= open_folder(&sources[i]);
	return learned;
}

static void close_all(void)
{
	for (size_t i = 0; i < GS_COUNT(sources); i++) {
		forget(&sources[i]);
		sources[i].wd = -1;
		sources[i].folder[0] = '\0';
		sources[i].usable = sources[i].refused = false;
		sources[i].full_ns = 0;
	}
	if (events >= 0)
		close(events);
	events = -1;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* True if the event is a file's creation: the file is read later, when its writer closes it. */
static bool is_unfinished(const struct watched *w, const struct inotify_event *ev)
{
	char path[PATH_MAX];
	struct stat st;

	if (!(ev->mask & IN_CREATE))
		return false;
	snprintf(path, sizeof(path), "%.*s/%s", PATH_MAX - NAME_MAX - 2, w->folder, ev->name);
	return lstat(path, &st) || S_ISREG(st.st_mode);
}

static bool on_event(struct watched *w, const struct inotify_event *ev)
{
	if (ev->mask & FOLDER_MASK) {
		inotify_rm_watch(events, w->wd);
		w->wd = -1;
		w->usable = false;
		forget(w);
		return false;
	}
	if (!ev->len)
		return false;
	if (ev->mask & (IN_DELETE | IN_MOVED_FROM)) {
		gs_pod_forget(&w->book, ev->name);
		gs_pod_unread_set(&unread, w->folder, ev->name, 0);
		return false;
	}
	return !w->source->when_asked && !is_unfinished(w, ev) && read_entry(w, ev->name);
}

static bool dispatch(const struct inotify_event *ev)
{
	bool learned = false;

	for (size_t i = 0; i < GS_COUNT(sources); i++) {
		if (!*sources[i].folder)
			continue;
		if (ev->mask & IN_Q_OVERFLOW)
			learned |= open_folder(&sources[i]);
		else if (sources[i].wd == ev->wd)
			learned |= on_event(&sources[i], ev);
	}
	return learned;
}

static bool read_events(void)
{
	_Alignas(struct inotify_event) char buf[16384];
	bool learned = false;

	for (int i = 0; i < READS_MAX && events >= 0; i++) {
		ssize_t n = read(events, buf, sizeof(buf));

		if (n <= 0)
			break;
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *ev = (const void *)(buf + at);

			learned |= dispatch(ev);
			at += (ssize_t)(sizeof(*ev) + ev->len);
		}
	}
	return learned;
}

/* ---- the public functions -------------------------------------------------------------------- */

int gs_pods_start(const struct gs_pod_places *places, int *ret_fd)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), r = fd < 0 ? -errno : 0;

	pthread_mutex_lock(&lock);
	close_all();
	events = fd;
	for (size_t i = 0; i < GS_COUNT(sources); i++) {
		struct watched *w = &sources[i];
		const char *folder = w->source->probe ? w->source->probe(places) : NULL;

		if (!folder || !*folder || strlen(folder) >= sizeof(w->folder))
			continue;
		strcpy(w->folder, folder);
		open_folder(w);
	}
	pthread_mutex_unlock(&lock);
	*ret_fd = fd;
	return r;
}

void gs_pods_end(void)
{
	pthread_mutex_lock(&lock);
	close_all();
	pthread_mutex_unlock(&lock);
}

bool gs_pods_read(void)
{
	bool learned;

	pthread_mutex_lock(&lock);
	learned = read_events() | news;
	news = false;
	pthread_mutex_unlock(&lock);
	return learned;
}

/*
 * Reads a container's entry when its names are needed. If the book was too full to store an entry,
 * reads none for a while: each request would read it again.
 */
static void read_when_asked(struct watched *w, const char *id)
{
	if (!*id || !*w->folder)
		return;
	if (!w->usable && gs_now_ns() - w->tried_ns >= AGAIN_NS)
		open_folder(w);
	if (w->full_ns && gs_now_ns() - w->full_ns < AGAIN_NS)
		return;
	if (w->usable && !gs_pod_is_known(&w->book, id))
		read_entry(w, id);
}

static void look_up(const char *cgroup, struct gs_pod_names *ret)
{
	*ret = (struct gs_pod_names){ 0 };
	for (size_t i = 0; i < GS_COUNT(sources); i++) {
		if (sources[i].source->when_asked && *ret->uid)
			read_when_asked(&sources[i], ret->id);
		sources[i].source->look_up(&sources[i].book, cgroup, ret);
	}
}

bool gs_pod_names(const char *cgroup, struct gs_pod_names *ret)
{
	pthread_mutex_lock(&lock);
	look_up(cgroup, ret);
	if (*ret->uid && (!*ret->pod || !*ret->namespace) && (read_events() | open_missing())) {
		news = true;
		look_up(cgroup, ret);
	}
	pthread_mutex_unlock(&lock);
	return *ret->uid || *ret->id;
}

bool gs_pods_unread(const struct gs_pod_names *n, size_t i, struct gs_pod_unread *ret)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (size_t k = 0; k < unread.n && !found; k++) {
		if (!gs_pod_unread_concerns(&unread.one[k], n) || i--)
			continue;
		*ret = unread.one[k];
		found = true;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

/* Reads a folder into a book that is dropped. Returns how many entries cannot be read. */
static size_t check_folder(const struct gs_pod_source *source, const char *folder,
			   struct gs_pod_unread *ret)
{
	CLEANUP_DIR DIR *dir = opendir(folder);
	struct gs_pod_book book = { NULL };
	const struct dirent *d;
	size_t bad = 0, n = 0;

	if (!dir || !gs_pod_folder_trusted(dirfd(dir)))
		return 0;
	while ((d = readdir(dir)) && n++ < CHECK_MAX) {
		int r = *d->d_name == '.' ? 0 : source->read(&book, folder, d->d_name);

		if (!r || r == -ENOENT || bad++)
			continue;
		snprintf(ret->path, sizeof(ret->path), "%.200s/%s", folder, d->d_name);
		ret->why = gs_pod_unread_why(r);
	}
	gs_pod_forget(&book, NULL);
	return bad;
}

size_t gs_pods_check(const struct gs_pod_places *places, struct gs_pod_unread *ret)
{
	struct gs_pod_unread first;
	size_t bad = 0;

	*ret = (struct gs_pod_unread){ .why = "" };
	for (size_t i = 0; i < GS_COUNT(sources); i++) {
		const struct gs_pod_source *s = sources[i].source;
		const char *folder = s->probe ? s->probe(places) : NULL;
		size_t n = folder && *folder ? check_folder(s, folder, &first) : 0;

		if (n && !bad)
			*ret = first;
		bad += n;
	}
	return bad;
}

unsigned int gs_pods_unwatched(void)
{
	unsigned int n = 0;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < GS_COUNT(sources); i++)
		n += *sources[i].folder && sources[i].usable && sources[i].wd < 0;
	pthread_mutex_unlock(&lock);
	return n;
}

uint64_t gs_pods_left(void)
{
	uint64_t n;

	pthread_mutex_lock(&lock);
	n = left;
	pthread_mutex_unlock(&lock);
	return n;
}
