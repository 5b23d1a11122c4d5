// SPDX-License-Identifier: MIT
/* shell.c - shows a prompt at which every verb works. Each verb runs in its own process. */
#include "cli/shell.h"

#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "basic/cleanup.h"
#include "cli/cli.h"

#define REMEMBERED 1000 /* number of lines */
#define MAX_WORDS 256

struct shell {
	const struct cli_table *table;
	EditLine *el; /* NULL: there is no terminal */
	History *history;
	char path[512]; /* file of the history; "": it is not kept */
	int code;       /* exit code of the last command */
	bool over;
};

/* ---- one line -------------------------------------------------------------------------------- */

/* Runs a verb. Ctrl-C ends the verb and not the shell. */
static int run(char *const *argv, bool terminal)
{
	struct sigaction ignored = { .sa_handler = SIG_IGN }, was;
	int status = 0;
	pid_t pid;

	sigaction(SIGINT, &ignored, &was);
	pid = fork();
	if (!pid) {
		sigaction(SIGINT, &was, NULL);
		/* the rest of the input is for the shell */
		if (!terminal && !freopen("/dev/null", "r", stdin))
			_exit(127);
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &was, NULL);
	if (pid < 0)
		return cli_fail(-errno, "shell: %s", strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void run_words(struct shell *sh, int n, const char **words)
{
	char *argv[MAX_WORDS + 2] = { "gpusched" };

	if (!n || words[0][0] == '#')
		return;
	if (!strcmp(words[0], "quit") || !strcmp(words[0], "exit")) {
		sh->over = true;
	} else if (!strcmp(words[0], "shell")) {
		sh->code = cli_fail(-EINVAL, "shell: this is one");
	} else if (n > MAX_WORDS) {
		sh->code = cli_fail(-EINVAL, "shell: more than %d words", MAX_WORDS);
	} else {
		for (int i = 0; i < n; i++)
			argv[i + 1] = (char *)words[i];
		sh->code = run(argv, sh->el);
	}
}

/* Splits a line into words like a shell: at blanks, except within quotes and after \. */
static void run_line(struct shell *sh, const char *line)
{
	Tokenizer *tok = tok_init(NULL);
	const char **words = NULL;
	int n = 0, r = tok ? tok_str(tok, line, &n, &words) : -1;

	if (r)
		sh->code = cli_fail(r < 0 ? -ENOMEM : -EINVAL, "shell: %s",
				    r < 0 ? "out of memory" : "a quote is not closed");
	else
		run_words(sh, n, words);
	if (tok)
		tok_end(tok);
}

/* ---- completion ------------------------------------------------------------------------------ */

/* The length of the beginning that all candidates share. */
static size_t common(size_t n, char all[][CLI_CANDIDATE_LEN])
{
	size_t len = strlen(all[0]);

	for (size_t i = 1; i < n; i++)
		for (size_t j = 0; j < len; j++)
			if (all[i][j] != all[0][j])
				len = j;
	return len;
}

static void show(size_t n, char all[][CLI_CANDIDATE_LEN])
{
	putchar('\n');
	for (size_t i = 0; i < n; i++)
		printf("%s%s", all[i], i + 1 < n ? "  " : "\n");
	fflush(stdout);
}

static unsigned char insert(EditLine *el, size_t n, char all[][CLI_CANDIDATE_LEN],
			    const char *prefix)
{
	size_t has = strlen(prefix), len = n ? common(n, all) : 0;
	char more[CLI_CANDIDATE_LEN + 2];

	if (!n)
		return CC_ERROR;
	if (n > 1 && len == has) {
		show(n, all);
		return CC_REDISPLAY;
	}
	/* "pid:" is only a kind of target, so the word goes on */
	snprintf(more, sizeof(more), "%.*s%s", (int)(len - has), all[0] + has,
		 n == 1 && all[0][len - 1] != ':' ? " " : "");
	return el_insertstr(el, more) ? CC_ERROR : CC_REFRESH;
}

static unsigned char on_tab(EditLine *el, int ch)
{
	char all[CLI_CANDIDATES][CLI_CANDIDATE_LEN], text[512];
	const LineInfo *line = el_line(el);
	struct shell *sh = NULL;
	size_t len = (size_t)(line->cursor - line->buffer);
	Tokenizer *tok = tok_init(NULL);
	const char *words[MAX_WORDS] = { 0 }, **found = NULL;
	unsigned char done = CC_ERROR;
	int n = 0;

	el_get(el, EL_CLIENTDATA, &sh);
	snprintf(text, sizeof(text), "%.*s", (int)len, line->buffer);
	if (tok && !tok_str(tok, text, &n, &found) && n + 1 < MAX_WORDS) {
		for (int i = 0; i < n; i++)
			words[i] = found[i];
		if (!n || text[strlen(text) - 1] == ' ')
			words[n++] = "";
		done = insert(el, cli_shell_candidates(sh->table, (size_t)n, words, all), all,
			      words[n - 1]);
	}
	if (tok)
		tok_end(tok);
	return done;
}

/* ---- the terminal ---------------------------------------------------------------------------- */

static char *prompt(EditLine *el)
{
	static char text[] = "gpusched> ";

	return text;
}

static void open_history(struct shell *sh)
{
	const char *home = getenv("HOME");
	HistEvent ev;

	sh->history = history_init();
	if (!sh->history)
		return;
	history(sh->history, &ev, H_SETSIZE, REMEMBERED);
	history(sh->history, &ev, H_SETUNIQUE, 1);
	if (home && *home)
		snprintf(sh->path, sizeof(sh->path), "%s/.gpusched_history", home);
	if (sh->path[0])
		history(sh->history, &ev, H_LOAD, sh->path);
	el_set(sh->el, EL_HIST, history, sh->history);
}

static void open_terminal(struct shell *sh)
{
	sh->el = el_init("gpusched", stdin, stdout, stderr);
	if (!sh->el)
		return;
	setlocale(LC_CTYPE, "");
	el_set(sh->el, EL_PROMPT, prompt);
	el_set(sh->el, EL_EDITOR, "emacs");
	el_set(sh->el, EL_SIGNAL, 1);
	el_set(sh->el, EL_CLIENTDATA, sh);
	el_set(sh->el, EL_ADDFN, "complete", "complete a word", on_tab);
	el_set(sh->el, EL_BIND, "^I", "complete", NULL);
	open_history(sh);
}

static void close_terminal(struct shell *sh)
{
	mode_t before = umask(077);
	HistEvent ev;

	if (sh->history && sh->path[0])
		history(sh->history, &ev, H_SAVE, sh->path);
	umask(before);
	if (sh->history)
		history_end(sh->history);
	if (sh->el)
		el_end(sh->el);
}

static void on_interrupt(int sig)
{
}

/* Reads lines at a prompt. Ctrl-C drops the line. */
static void read_terminal(struct shell *sh)
{
	struct sigaction sa = { .sa_handler = on_interrupt };

	sigaction(SIGINT, &sa, NULL);
	while (!sh->over) {
		const char *line;
		HistEvent ev;
		int n = 0;

		errno = 0;
		line = el_gets(sh->el, &n);
		if (!line && errno == EINTR) {
			el_reset(sh->el);
			putchar('\n');
			continue;
		}
		if (!line || n <= 0)
			break;
		if (sh->history && line[strspn(line, " \t\n")])
			history(sh->history, &ev, H_ENTER, line);
		run_line(sh, line);
	}
}

static void read_file(struct shell *sh, FILE *in)
{
	CLEANUP_FREE char *line = NULL;
	size_t room = 0;

	while (!sh->over && getline(&line, &room, in) > 0)
		run_line(sh, line);
}

int cli_shell(struct cli *c)
{
	struct shell sh = { .table = c->table };

	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
		puts("Every verb works here without 'gpusched': 'help' lists them, 'quit' ends.");
		open_terminal(&sh);
	}
	if (sh.el)
		read_terminal(&sh);
	else
		read_file(&sh, stdin);
	close_terminal(&sh);
	return sh.el ? GS_EXIT_OK : sh.code;
}
