// SPDX-License-Identifier: MIT
/*
 * guest.c - runs with an agent in its process, in many ways
 *
 *   guest MODE [ARGUMENT]
 *
 * Programs of the first part print what they see (no addresses or ids) and end in different ways,
 * so that a run with an agent can be compared with a run without. Those of the second part talk to
 * agents or to the daemon in an agent's place, some of them badly.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/clock.h"
#include "gpusched/hint.h"
#include "wire/agent.h"
#include "rm/way.h"

static int (*init)(unsigned int), (*create)(void **, unsigned int, int);

/* Loads CUDA by dlopen(), as frameworks do, and makes a context. */
static void use_cuda(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW), *context;
	int r;

	if (!lib)
		_exit(3);
	*(void **)&init = dlsym(lib, "cuInit");
	*(void **)&create = dlsym(lib, "cuCtxCreate_v2");
	r = init(0);
	printf("cuda %d %d\n", r, create(&context, 0, 0));
	usleep(50000); /* gives the agent's threads time to begin */
}

static int lowest_fd(void)
{
	int fd = open("/dev/null", O_RDONLY);

	close(fd);
	return fd;
}

static int in_child(int (*fn)(void))
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		int r = fn();

		fflush(stdout);
		_exit(r);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static int child_uses_cuda(void)
{
	use_cuda();
	return 7;
}

static int mode_fork(const char *arg)
{
	printf("before %d\n", in_child(child_uses_cuda));
	use_cuda();
	printf("fds %d\n", lowest_fd());
	for (int i = 0; i < 20; i++)
		printf("%d ", in_child(lowest_fd));
	printf("\nerrno %d\n", (errno = 77, usleep(1), errno));
	return 5;
}

static int mode_exec(const char *arg)
{
	if (arg && !strcmp(arg, "again")) {
		use_cuda();
		printf("fds %d\n", lowest_fd());
		return 6;
	}
	use_cuda();
	fflush(stdout);
	execl("/proc/self/exe", "guest", "exec", "again", NULL);
	return 1;
}

static void *thread(void *arg)
{
	usleep(1000);
	return arg;
}

static int mode_threads(const char *arg)
{
	pthread_t t[16];
	long sum = 0;

	use_cuda();
	for (long i = 0; i < 16; i++)
		pthread_create(&t[i], NULL, thread, (void *)i);
	for (int i = 0; i < 16; i++) {
		void *r;

		pthread_join(t[i], &r);
		sum += (long)r;
	}
	printf("sum %ld\n", sum);
	return 8;
}

static void *outlive(void *arg)
{
	usleep(200000);
	puts("the last thread");
	return NULL;
}

static void at_exit(void)
{
	puts("atexit");
}

/* The main thread ends first. The program ends with its other thread, with exit status 0. */
static int mode_main_first(const char *arg)
{
	pthread_t t;

	use_cuda();
	atexit(at_exit);
	pthread_create(&t, NULL, outlive, NULL);
	pthread_exit(NULL);
}

static int mode_crash(const char *arg)
{
	const struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	use_cuda();
	fflush(stdout);
	raise(SIGSEGV);
	return 0;
}

static volatile sig_atomic_t signals;

static void on_signal(int sig)
{
	signals++;
}

/* Blocked signals stay pending. Other signals go to the program's thread, not to the agent's. */
static int mode_masks(const char *arg)
{
	struct sigaction sa = { .sa_handler = on_signal };
	sigset_t all, pending;

	use_cuda();
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGRTMIN, &sa, NULL);
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGRTMIN);
	printf("got %d\n", signals);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGRTMIN);
	usleep(20000);
	sigpending(&pending);
	printf("got %d, pending %d %d\n", signals, sigismember(&pending, SIGUSR1),
	       sigismember(&pending, SIGRTMIN));
	return 9;
}

/*
 * Closes all descriptors, as a program does that becomes a daemon. The agent's threads must keep no
 * end of a pipe open: the reader must see the end of the file.
 */
static int mode_close_all(const char *arg)
{
	int pipes[2], out = dup(1);
	char c;

	if (pipe(pipes)) /* before the agent's threads begin */
		return 1;
	use_cuda();
	close(pipes[1]);
	dprintf(out, "end of the pipe %zd\n", read(pipes[0], &c, 1));
	fflush(stdout);
	for (int fd = 3; fd < 256; fd++)
		if (fd != out)
			close(fd);
	dprintf(out, "lowest %d\n", lowest_fd());
	usleep(300000);
	dprintf(out, "lowest %d\n", lowest_fd());
	return 10;
}

static int mode_dlopen(const char *arg)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	const char *why;

	printf("%d %d\n", lib != NULL, dlsym(lib, "cuNoSuch") != NULL);
	why = dlerror();
	printf("%d %s\n", why != NULL, why && strstr(why, "cuNoSuch") ? "named" : "-");
	printf("default %d %d\n", dlsym(RTLD_DEFAULT, "cuLaunchKernel") != NULL,
	       dlsym(RTLD_DEFAULT, "printf") != NULL);
	printf("next %d\n", dlsym(RTLD_NEXT, "malloc") != NULL);
	use_cuda();
	dlclose(lib);
	return 11;
}

static int mode_quick(const char *arg)
{
	use_cuda();
	fflush(stdout);
	_exit(12);
}

/* ---- programs that talk to an agent, or to the daemon ---------------------------------------- */

/* Makes TSGs, waits for a line, then prints whether the program was asked to give way. */
static int mode_wait(const char *arg)
{
	char c;

	use_cuda();
	printf("asked %d\n", gpusched_yield_asked());
	fflush(stdout);
	while (read(0, &c, 1) < 0 && errno == EINTR)
		;
	printf("asked %d, ", gpusched_yield_asked());
	printf("gave way %d, ", gpusched_self_preempt());
	printf("asked %d\n", gpusched_yield_asked());
	return 0;
}

static int connect_raw(pid_t pid)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	char dir[80];

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/agent-%d",
		 gs_agent_way_dir(dir, sizeof(dir)), (int)pid);
	return connect(fd, (struct sockaddr *)&sun, sizeof(sun)) ? -errno : fd;
}

/* Sends bad messages, opens more connections than an agent takes, then sends a proper request. */
static int mode_assault(const char *arg)
{
	struct gs_agent_request rq = { .magic = GS_AGENT_MAGIC };
	static struct gs_agent_answer a;
	static char junk[70000];
	pid_t pid = atoi(arg);
	int fd, many[40];

	srand(1);
	for (int i = 0; i < 300; i++) {
		uint32_t *words = (uint32_t *)&rq;

		fd = connect_raw(pid);
		for (size_t k = 1; k < sizeof(rq) / 4; k++)
			words[k] = (uint32_t)rand() % (i % 3 ? 12 : 1u << 30);
		send(fd, &rq, sizeof(rq), MSG_NOSIGNAL | MSG_DONTWAIT);
		send(fd, junk, (size_t)rand() % sizeof(junk), MSG_NOSIGNAL | MSG_DONTWAIT);
		close(fd);
	}
	for (int i = 0; i < 40; i++)
		many[i] = connect_raw(pid);
	for (int i = 0; i < 40; i++)
		close(many[i]);
	usleep(100000);
	fd = gs_agent_way_connect(pid);
	rq = (struct gs_agent_request){ .ask = GS_AGENT_PAGE };
	printf("proper %d\n", fd < 0 ? fd : gs_agent_way_ask(fd, &rq, &a, sizeof(a), NULL));
	return 0;
}

/* Asks for one operation through the agent's page: guest page PID OP NUMBER ARG [SIGNAL] */
static int by_page(char **argv)
{
	const struct gs_agent_request rq = { .ask = GS_AGENT_PAGE };
	pid_t pid = atoi(argv[0]);
	struct gs_agent_answer a;
	struct gs_agent_page *p;
	int fd = -1, r, at = gs_agent_way_connect(pid);

	r = at < 0 ? at : gs_agent_way_ask(at, &rq, &a, sizeof(a), &fd);
	if (r || fd < 0) {
		printf("no page: %s\n", strerror(-r));
		return 1;
	}
	printf("cannot be shrunk %d\n", ftruncate(fd, 0) ? errno == EPERM : 0);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return 1;
	p->op = (uint32_t)atoi(argv[1]);
	p->number = (uint32_t)strtoul(argv[2], NULL, 0);
	p->arg = (uint32_t)strtoul(argv[3], NULL, 0);
	r = (int)++p->asked;
	if (argv[4])
		kill(pid, SIGRTMIN + atoi(argv[4]));
	else
		syscall(SYS_futex, &p->asked, FUTEX_WAKE, 1, NULL, NULL, 0);
	for (int i = 0; i < 300 && (int)p->answered != r; i++)
		usleep(10000);
	printf("answered %d, error %d\n", (int)p->answered == r, p->err);
	/* leaves a page that is no request */
	memset((char *)p + 8, 0xff, 4088);
	return 0;
}

/*
 * Finds each launch function in each way that a program may find it, and calls it five times.
 * Prints the number of calls, and waits.
 */
static int mode_entries(const char *arg)
{
	static const char *const names[] = {
		"cuLaunchKernel",
		"cuLaunchKernel_ptsz",
		"cuLaunchKernelEx",
		"cuLaunchKernelEx_ptsz",
		"cuLaunchCooperativeKernel",
		"cuLaunchCooperativeKernel_ptsz",
		"cuGraphLaunch",
		"cuGraphLaunch_ptsz",
	};
	typedef int (*fn)(void *, size_t, size_t, size_t, size_t, size_t, size_t, size_t, void *,
			  void *, void *);
	int (*first)(const char *, void **, int, uint64_t);
	int (*second)(const char *, void **, int, uint64_t, int *);
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	int calls = 0;
	char c;

	use_cuda();
	*(void **)&first = dlsym(lib, "cuGetProcAddress");     /* CUDA 11.3 to 11.8 */
	*(void **)&second = dlsym(lib, "cuGetProcAddress_v2"); /* CUDA 12.0 and later */
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *ways[4] = { dlsym(lib, names[i]) };
		bool per_thread = strstr(names[i], "_ptsz");
		char plain[64];

		snprintf(plain, sizeof(plain), "%.*s",
			 (int)(strlen(names[i]) - (per_thread ? 5 : 0)), names[i]);
		first(plain, &ways[1], 11080, per_thread ? 2 : 0);
		second(plain, &ways[2], 12000, per_thread ? 2 : 0, NULL);
		second(plain, &ways[3], 13000, per_thread ? 2 : 0, NULL);
		for (int k = 0; k < 4; k++)
			for (int n = 0; n < 5 && ways[k]; n++, calls++)
				((fn)ways[k])(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	}
	printf("calls %d\n", calls);
	fflush(stdout);
	return read(0, &c, 1) < 0;
}

/* Fetches the daemon's page twice, fills it with 0xff, and runs for @arg ms. */
static int mode_sheet(const char *arg)
{
	uint64_t end = gs_now_ns() + 5 * NS_PER_S;
	struct gs_agent_sheet *s, *other;
	int r, again, wake;

	use_cuda();
	/* as an agent does: a daemon that many ask at once may answer too late */
	do {
		r = gs_agent_sheet_get(&s, &wake);
	} while ((r == -EAGAIN || r == -ETIMEDOUT) && gs_now_ns() < end && !usleep(100000));
	again = gs_agent_sheet_get(&other, &wake);
	printf("sheet %d, again %d\n", r, again);
	fflush(stdout);
	if (!r)
		memset(s, 0xff, GS_AGENT_SHEET_BYTES);
	usleep((useconds_t)atoi(arg) * 1000);
	return 0;
}

/*
 * For @arg ms, reports 10,000 requests a second that begin and never end, and pauses (quiet_us,
 * rest_ns) of 0 and of the largest values. Wakes the daemon for each report.
 */
static int mode_lies(const char *arg)
{
	uint64_t end = gs_now_ns() + (uint64_t)atoi(arg) * NS_PER_MS, one = 1;
	struct gs_agent_sheet *s;
	int wake;

	use_cuda();
	if (gs_agent_sheet_get(&s, &wake))
		return 1;
	while (gs_now_ns() < end) {
		s->begins++;
		s->quiet_us = s->begins % 3 ? 1000 : s->begins % 2 ? 0 : UINT32_MAX;
		s->rest_ns = s->begins % 5 ? 0 : UINT64_MAX;
		s->hinted = s->begins / 10000 % 2;
		if (send(wake, &one, sizeof(one), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			sched_yield();
		usleep(100);
	}
	return 0;
}

static void launch_100(void)
{
	typedef int (*fn)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
			  unsigned, void *, void *, void *);
	fn launch = (fn)dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuLaunchKernel");

	for (int i = 0; i < 100; i++)
		launch(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

static void child_launches(void)
{
	pid_t pid = fork();

	if (pid) {
		printf("child %d\n", (int)pid);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	use_cuda();
	launch_100();
	printf("launched\n");
	fflush(stdout);
	pause();
}

/*
 * Reports in the daemon's page that it counts its launches, but never counts one. Obeys letters on
 * stdin: t fetches the page, q stops reporting, u uses CUDA, l launches 100 times, f forks a child
 * that uses CUDA and launches, x executes itself.
 */
static int mode_tells(const char *arg)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };
	struct gs_agent_sheet *s = NULL;
	int wake;
	char c;

	for (;;) {
		if (s)
			s->counted_ns = gs_now_ns();
		if (!poll(&in, 1, 100))
			continue;
		if (read(0, &c, 1) <= 0)
			return 0;
		if (c == 't' && gs_agent_sheet_get(&s, &wake))
			return 1;
		if (c == 'q')
			s = NULL;
		if (c == 'u')
			use_cuda();
		if (c == 'l')
			launch_100();
		if (c == 'f')
			child_launches();
		printf("did %c\n", c);
		fflush(stdout);
		if (c == 'x')
			execl("/proc/self/exe", "guest", "tells", NULL);
	}
}

static int nthreads(void)
{
	DIR *d = opendir("/proc/self/task");
	int n = 0;

	for (struct dirent *e; d && (e = readdir(d));)
		n += e->d_name[0] != '.';
	return n;
}

/* Loads the agent @arg itself, since ld.so does not in a set-user-id program; prints its state. */
static int mode_secure(const char *arg)
{
	void *agent = dlopen(arg, RTLD_NOW | RTLD_GLOBAL);
	int (*begin)(void) = NULL;

	if (!agent)
		return 1;
	*(void **)&begin = dlsym(agent, "InitializeInjection");
	begin();
	usleep(50000);
	printf("%s, threads %d\n", gpusched_hint_state(), nthreads());
	fflush(stdout);
	_exit(0);
}

/* Prints the best lead of a hint before its launch, in us; @arg: seconds to wait first, or NULL. */
static int mode_lead(const char *arg)
{
	if (arg)
		use_cuda(); /* starts the agent's thread, which asks the daemon */
	sleep((unsigned int)atoi(arg ? arg : "0"));
	printf("%u\n", gpusched_hint_lead_us());
	return 0;
}

/* Gives one hint, and prints its result and state. */
static int mode_hint(const char *arg)
{
	int r = gpusched_hint_coming();

	printf("%d %s\n", r, gpusched_hint_state());
	return 0;
}

/*
 * Gives a hint for each line on stdin: "coming" and "done" for a request, or a number for its
 * deadline in us.
 */
static int mode_requests(const char *arg)
{
	char line[32];

	use_cuda();
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (!strcmp(line, "coming\n"))
			gpusched_hint_coming();
		else if (!strcmp(line, "done\n"))
			gpusched_hint_done();
		else
			gpusched_hint_deadline(strtoull(line, NULL, 10));
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*fn)(const char *arg);
	} modes[] = {
		{ "fork", mode_fork },
		{ "exec", mode_exec },
		{ "threads", mode_threads },
		{ "crash", mode_crash },
		{ "main-first", mode_main_first },
		{ "masks", mode_masks },
		{ "quick", mode_quick },
		{ "close-all", mode_close_all },
		{ "dlopen", mode_dlopen },
		{ "entries", mode_entries },
		{ "wait", mode_wait },
		{ "assault", mode_assault },
		{ "hint", mode_hint },
		{ "lead", mode_lead },
		{ "requests", mode_requests },
		{ "secure", mode_secure },
		{ "sheet", mode_sheet },
		{ "lies", mode_lies },
		{ "tells", mode_tells },
	};

	if (argc >= 6 && !strcmp(argv[1], "page"))
		return by_page(argv + 2);
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[1], modes[i].name))
			return modes[i].fn(argv[2]);
	return 2;
}
