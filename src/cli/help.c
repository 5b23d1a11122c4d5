// SPDX-License-Identifier: MIT
#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "basic/json_sheet.h"
#include "basic/say.h"
#include "basic/term.h"
#include "cli/cli.h"
#include "cli/verbs_look.h"
#include "requests/target.h"
#include "rm/rm.h"

#define OPTION_COLUMN 33 /* column where the text about an option begins */

static void name_of(const struct cli_cmd *cmd, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", cmd->noun, cmd->verb ? " " : "", cmd->verb ? cmd->verb : "");
}

/* True if this is the first entry of its noun in the table. */
static bool first_of_noun(const struct cli_table *t, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (!strcmp(t->cmds[j].noun, t->cmds[i].noun))
			return false;
	return true;
}

/* The nouns of `help`, in its order, each between blanks. Those in no group come last. */
static const struct {
	const char *head, *nouns;
} groups[] = {
	{ "Every day", " status top advise run restore " },
	{ "Who has the GPUs, and who had them",
	  " list gpus monitor history stats budget trace observe " },
	{ "Classes and policies", " class policy " },
	{ "One program's turns and memory", " set preempt suspend resume park unpark parked " },
	{ "To try and to measure", " doctor demo sim bench qualify " },
};

static void print_noun(const struct cli_table *t, FILE *out, const char *noun, size_t len)
{
	char name[64];

	for (size_t i = 0; i < t->n; i++) {
		if (strlen(t->cmds[i].noun) != len || strncmp(t->cmds[i].noun, noun, len) != 0)
			continue;
		name_of(&t->cmds[i], name, sizeof(name));
		fprintf(out, "  %-17s %s\n", name, t->cmds[i].help);
	}
}

static bool has_group(const char *noun)
{
	char word[64];

	snprintf(word, sizeof(word), " %s ", noun);
	for (size_t i = 0; i < GS_COUNT(groups); i++)
		if (strstr(groups[i].nouns, word))
			return true;
	return false;
}

static void print_groups(const struct cli_table *t, FILE *out)
{
	size_t len;

	for (size_t i = 0; i < GS_COUNT(groups); i++) {
		fprintf(out, "%s:\n", groups[i].head);
		for (const char *noun = groups[i].nouns + 1; *noun; noun += len + 1) {
			len = strcspn(noun, " ");
			print_noun(t, out, noun, len);
		}
		putc('\n', out);
	}
	fputs("More:\n", out);
	for (size_t i = 0; i < t->n; i++)
		if (first_of_noun(t, i) && !has_group(t->cmds[i].noun))
			print_noun(t, out, t->cmds[i].noun, strlen(t->cmds[i].noun));
	putc('\n', out);
}

void cli_help_usage(const struct cli_table *t, FILE *out)
{
	fputs("gpusched - who gets an NVIDIA GPU, when, and for how long\n\n"
	      "usage: gpusched VERB|NOUN VERB [ARGUMENTS] [--json]\n\n",
	      out);
	print_groups(t, out);
	gs_term_wrap(
		out,
		"'gpusched VERB --help' explains one. TARGET is " GS_TARGETS
		". Exit codes: 0 done, 1 failed, 2 usage, 3 not possible here, 4 partly done, 5 "
		"something is wrong (status).",
		0, CLI_WIDTH);
	if (gs_env()->sim)
		fprintf(out,
			"\nThe GPUs of this shell are simulated. 'gpuschedd &' starts the daemon,\n"
			"'gsload lc &' and 'gsload be &' programs (gsload --help). A second\n"
			"terminal joins by 'sudo %s/join'.\n",
			gs_env()->sim_dir);
}

/* Returns the text about @o; "%s" in it stands for the tested driver branches. */
static const char *help_of(const struct cli_opt *o, char *buf, size_t size)
{
	const char *at = strstr(o->help, "%s");
	char branches[128];

	if (!at)
		return o->help;
	gs_rm_driver_branches_text(branches, sizeof(branches), ", ", " or ");
	snprintf(buf, size, "%.*s%s%s", (int)(at - o->help), o->help, branches, at + 2);
	return buf;
}

static void print_opt(FILE *out, char letter, const char *name, const char *arg, const char *help)
{
	char left[64];

	bool may = arg && *arg == '=';

	snprintf(left, sizeof(left), "%c%c%s--%s%s%s%s", letter ? '-' : ' ', letter ? letter : ' ',
		 letter ? ", " : "  ", name,
		 may   ? "["
		 : arg ? " "
		       : "",
		 arg ? arg : "", may ? "]" : "");
	fprintf(out, "  %-30s ", left);
	gs_term_wrap(out, help, OPTION_COLUMN, CLI_WIDTH);
}

void cli_help(FILE *out, const struct cli_cmd *cmd)
{
	char name[64], text[256];

	name_of(cmd, name, sizeof(name));
	snprintf(text, sizeof(text), "gpusched %s - %s", name, cmd->help);
	gs_term_wrap(out, text, 0, CLI_WIDTH);
	fputs("\nusage: ", out);
	snprintf(text, sizeof(text), "gpusched %s%s%s%s", name, cmd->args[0] ? " " : "", cmd->args,
		 /* the usage line may name options itself */
		 strstr(cmd->args, "[-") ? "" : " [OPTION]...");
	gs_term_wrap(out, text, strlen("usage: "), CLI_WIDTH);
	if (cmd->more) {
		putc('\n', out);
		gs_term_wrap(out, cmd->more, 0, CLI_WIDTH);
	}
	if (cmd->flags & CLI_TARGET) {
		putc('\n', out);
		gs_term_wrap(out, "TARGET is " GS_TARGETS ".", 0, CLI_WIDTH);
	}
	fputs("\noptions:\n", out);
	for (const struct cli_opt *o = cmd->opts; o && o->name; o++)
		print_opt(out, o->letter, o->name, o->arg, help_of(o, text, sizeof(text)));
	if (cmd->flags & CLI_JSON)
		print_opt(out, 0, "json", NULL, "print JSON instead of text");
	print_opt(out, 'h', "help", NULL, "print this");
}

void cli_help_noun(const struct cli_table *t, FILE *out, const char *noun)
{
	bool first = true;

	for (size_t i = 0; i < t->n; i++) {
		if (strcmp(t->cmds[i].noun, noun))
			continue;
		if (!first)
			putc('\n', out);
		first = false;
		cli_help(out, &t->cmds[i]);
	}
}

/* Escapes what scdoc would take for markup. */
static void scdoc_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("_*\\#<>[]|~", *text))
			putc('\\', out);
		putc(*text, out);
	}
}

static void man_opt(FILE *out, const struct cli_opt *o)
{
	char text[256];

	fprintf(out, "\t*--%s*", o->name);
	if (o->letter)
		fprintf(out, ", *-%c*", o->letter);
	if (o->arg && *o->arg == '=')
		fprintf(out, "\\[=_%s_\\]", o->arg + 1);
	else if (o->arg)
		fprintf(out, " _%s_", o->arg);
	fputs(": ", out);
	scdoc_text(out, help_of(o, text, sizeof(text)));
	fputs(".\n\n", out);
}

static void print_man(const struct cli_table *t, FILE *out)
{
	char name[64];

	for (size_t i = 0; i < t->n; i++) {
		const struct cli_cmd *cmd = &t->cmds[i];

		name_of(cmd, name, sizeof(name));
		fprintf(out, "*%s*%s", name, cmd->args[0] ? " " : "");
		scdoc_text(out, cmd->args);
		if (cmd->flags & CLI_JSON)
			fputs(" \\[--json\\]", out);
		fputs("\n\t", out);
		scdoc_text(out, cmd->help);
		fputs(".\n\n", out);
		if (cmd->more) {
			putc('\t', out);
			scdoc_text(out, cmd->more);
			fputs("\n\n", out);
		}
		for (const struct cli_opt *o = cmd->opts; o && o->name; o++)
			man_opt(out, o);
	}
}

static void completion_case(FILE *out, const struct cli_cmd *cmd)
{
	char name[64];

	name_of(cmd, name, sizeof(name));
	fprintf(out, "\t\"%s\") opts=\"", name);
	for (const struct cli_opt *o = cmd->opts; o && o->name; o++)
		fprintf(out, "--%s ", o->name);
	fprintf(out, "%s--help\"", cmd->flags & CLI_JSON ? "--json " : "");
	if (strstr(cmd->args, "TARGET"))
		fputs(" words=\"$targets\"", out);
	/* "NAME" alone is the name of a new policy */
	else if (!strncmp(cmd->args, "NAME", 4) && cmd->args[4])
		fputs(" words=\"$(_gpusched_names policy)\"", out);
	else if (!strncmp(cmd->args, "SCENARIO", 8))
		fputs(" words=\"all $(_gpusched_names sim)\"", out);
	else if (!strcmp(cmd->args, "pid:N"))
		fputs(" words=\"pid:\"", out);
	else if (!strcmp(cmd->args, "[on|off]"))
		fputs(" words=\"on off\"", out);
	else if (!strcmp(cmd->noun, "help"))
		fputs(" words=$(_gpusched_topics)", out);
	fputs(" ;;\n", out);
}

static const char completion_head[] =
	"# SPDX-License-Identifier: MIT\n"
	"# bash completion for gpusched; made by `gpusched help --completion`\n\n"
	"_gpusched_names()\n{\n"
	"\tgpusched \"$@\" list --json 2>/dev/null |\n"
	"\t\tsed -n 's/^[^[]*\"name\":\"\\([^\"]*\\)\".*/\\1/p'\n"
	"}\n\n"
	"_gpusched_classes()\n{\n"
	"\tlocal names=$(_gpusched_names class)\n\n"
	"\techo \"${names:-lc be normal}\"\n"
	"}\n\n"
	/* values that TSGs have for a key: pid, tsg, uid, comm, gpu */
	"_gpusched_values()\n{\n"
	"\tlocal key=$1\n\n"
	"\t[[ $key != tsg ]] || key=id\n"
	"\tgpusched list --json 2>/dev/null |\n"
	"\t\tsed -nE \"s/^(.*[{,])?\\\"$key\\\":\\\"?([^,\\\"]*).*/\\2/p\" | sort -u\n"
	"}\n\n"
	/* options of the policy on the command line, with = */
	"_gpusched_options()\n{\n"
	"\tlocal i policy=\n\n"
	"\tfor ((i = 2; i < ${#COMP_WORDS[@]}; i++)); do\n"
	"\t\tif [[ ${COMP_WORDS[i - 1]} == --policy || ${COMP_WORDS[i - 1]} == start ]]; then\n"
	"\t\t\tpolicy=${COMP_WORDS[i]}\n\t\tfi\n\tdone\n"
	"\tgpusched policy show \"$policy\" --json 2>/dev/null |\n"
	"\t\tgrep -o '{\"name\":\"[^\"]*\",\"type\"' | sed 's/^[^:]*:\"\\([^\"]*\\).*/\\1=/'\n"
	"}\n\n"
	/* loads or schemes: completes the last name of NAME,NAME,... */
	"_gpusched_bench()\n{\n"
	"\tgpusched bench --list --json 2>/dev/null |\n"
	"\t\tsed -n \"/\\\"kind\\\":\\\"$1\\\"/s/.*\\\"name\\\":\\\"\\([^\\\"]*\\).*/\\1/p\"\n"
	"}\n\n"
	"_gpusched_list()\n{\n"
	"\tlocal before=\n\n"
	"\t[[ $1 == *,* ]] && before=${1%,*},\n"
	"\tcompgen -P \"$before\" -W \"$2\" -- \"${1##*,}\"\n"
	"}\n\n";

static const char completion_words[] =
	"_gpusched()\n{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\tlocal noun=${COMP_WORDS[1]} verb=${COMP_WORDS[2]} opts= words= what i\n"
	"\tlocal targets=\"pid: tid: tsg: uid: user: comm: cgroup: class: gpu: all\"\n\n"
	"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	"\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n"
	"\t\t\tCOMPREPLY=($(compgen -c -f -- \"$cur\"))\n\t\t\treturn\n\t\tfi\n\tdone\n"
	/* readline splits pid:4 into three words */
	"\t[[ $prev != : ]] || prev=${COMP_WORDS[COMP_CWORD - 2]}:\n"
	"\t[[ $cur != : ]] || { prev+=: cur=; }\n"
	"\tcase $prev in\n"
	"\tpid: | tsg: | uid: | comm: | gpu:)\n"
	"\t\tCOMPREPLY=($(compgen -W \"$(_gpusched_values \"${prev%:}\")\" -- \"$cur\"))\n"
	"\t\treturn ;;\n"
	"\t--class | -c | class:)\n"
	"\t\tCOMPREPLY=($(compgen -W \"$(_gpusched_classes)\" -- \"$cur\"))\n\t\treturn ;;\n";

static const char completion_values[] =
	"\t--host)\n\t\twords=\"native sim\"\n"
	"\t\t[ \"$noun\" != policy ] || words=\"stock module hooked\"\n"
	"\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n\t\treturn ;;\n"
	"\t--facts) COMPREPLY=($(compgen -W \"stock all\" -- \"$cur\")); return ;;\n"
	"\t--by | -b | --sort)\n"
	"\t\tCOMPREPLY=($(compgen -W \"$(_gpusched_words \"$noun $prev\")\" -- \"$cur\"))\n"
	"\t\treturn ;;\n"
	"\t--columns)\n"
	"\t\tCOMPREPLY=($(_gpusched_list \"$cur\" \"$(_gpusched_words \"$noun $prev\")\"))\n"
	"\t\tcompopt -o nospace\n\t\treturn ;;\n"
	"\t--load | --scheme)\n"
	"\t\tCOMPREPLY=($(_gpusched_list \"$cur\" \"$(_gpusched_bench \"${prev#--}\")\"))\n"
	"\t\tcompopt -o nospace\n\t\treturn ;;\n"
	"\t--option | -o)\n"
	"\t\tCOMPREPLY=($(compgen -W \"$(_gpusched_options)\" -- \"$cur\"))\n"
	"\t\tcompopt -o nospace\n\t\treturn ;;\n"
	"\t--gpu)\n"
	"\t\t[[ $noun == bench ]] &&\n"
	"\t\t\tCOMPREPLY=($(compgen -W \"real path sim\" -- \"$cur\")) && return ;;\n"
	"\t--policy)\n"
	"\t\tCOMPREPLY=($(compgen -W \"$(_gpusched_names policy)\" -- \"$cur\"))\n\t\treturn ;;\n"
	"\tesac\n";

static const char completion_tail[] =
	"\tif [[ $what == set && $COMP_CWORD -gt 2 ]]; then\n"
	"\t\twords=\"timeslice= interleave= preempt_mode= limit= request= clear\"\n"
	"\telif [[ $what == \"class set\" && $COMP_CWORD -gt 3 ]]; then\n"
	"\t\twords=$(_gpusched_classes)\n"
	"\tfi\n"
	"\t[[ $cur == -* ]] && words=$opts\n"
	"\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	"\t[[ ${COMPREPLY[0]} == *[:=] ]] && compopt -o nospace\n"
	"\t[[ -z $words ]] && COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
	"\treturn 0\n"
	"}\n"
	"complete -F _gpusched gpusched\n\n"
	/* readline splits the word at a colon; other shells do not, and want the whole word back */
	"# For other shells: prints what may stand in place of the last of WORDS...\n"
	"_gpusched_print()\n{\n"
	"\tlocal last=${!#} before= word\n\n"
	"\tcompopt() { :; }\n"
	"\tCOMP_WORDS=(\"$@\") COMPREPLY=()\n"
	"\tif [[ $last == ?*:* ]]; then\n"
	"\t\tbefore=${last%:*}:\n"
	"\t\tCOMP_WORDS=(\"${@:1:$#-1}\" \"${last%:*}\" :)\n"
	"\t\t[[ $last == *: ]] || COMP_WORDS+=(\"${last##*:}\")\n"
	"\tfi\n"
	"\tCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
	"\t_gpusched\n"
	"\tfor word in \"${COMPREPLY[@]}\"; do\n"
	"\t\tprintf '%s\\n' \"$before$word\"\n"
	"\tdone\n"
	"}\n";

static void print_nouns(const struct cli_table *t, FILE *out)
{
	for (size_t i = 0; i < t->n; i++)
		if (first_of_noun(t, i))
			fprintf(out, "%s ", t->cmds[i].noun);
}

static void print_verbs(const struct cli_table *t, FILE *out, const char *noun)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->cmds[i].verb && !strcmp(t->cmds[i].noun, noun))
			fprintf(out, "%s ", t->cmds[i].verb);
}

/* Writes the verbs of each noun that has some. */
static void completion_verbs(const struct cli_table *t, FILE *out)
{
	fputs("\twhat=$noun\n\tcase $noun in\n", out);
	for (size_t i = 0; i < t->n; i++) {
		if (!t->cmds[i].verb || !first_of_noun(t, i))
			continue;
		fprintf(out, "\t%s)\n\t\twhat=\"$noun $verb\"\n\t\twords=\"", t->cmds[i].noun);
		print_verbs(t, out, t->cmds[i].noun);
		fputs("--help\"\n\t\t;;\n", out);
	}
	fputs("\tesac\n"
	      "\tif ((COMP_CWORD == 2)) && [[ -n $words ]]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n\t\treturn\n\tfi\n",
	      out);
}

/* Writes the arguments of `help`: a noun, then its verb. */
static void completion_topics(const struct cli_table *t, FILE *out)
{
	fputs("_gpusched_topics()\n{\n\tcase ${COMP_WORDS[2]}:$COMP_CWORD in\n", out);
	for (size_t i = 0; i < t->n; i++) {
		if (!t->cmds[i].verb || !first_of_noun(t, i))
			continue;
		fprintf(out, "\t%s:3) echo \"", t->cmds[i].noun);
		print_verbs(t, out, t->cmds[i].noun);
		fputs("\" ;;\n", out);
	}
	fputs("\t*:2) echo \"", out);
	print_nouns(t, out);
	fputs("\" ;;\n\tesac\n}\n\n", out);
}

static void completion_words_of(const struct cli_opt *o, FILE *out)
{
	CLEANUP_JSON json_t *words = json_object();
	const char *word;
	json_t *v;

	o->words(words);
	fputs(") echo \"", out);
	json_object_foreach(words, word, v)
		fprintf(out, "%s ", word);
	fputs("\" ;;\n", out);
}

/* Writes what may follow the options of each command, as "VERB OPTION) echo WORDS". */
static void completion_option_words(const struct cli_table *t, FILE *out)
{
	fputs("_gpusched_words()\n{\n\tcase $1 in\n", out);
	for (size_t i = 0; i < t->n; i++) {
		const char *noun = t->cmds[i].noun, *before = "\t";

		for (const struct cli_opt *o = t->cmds[i].opts; o && o->name; o++) {
			if (!o->words)
				continue;
			fprintf(out, "%s\"%s --%s\"", before, noun, o->name);
			if (o->letter)
				fprintf(out, " | \"%s -%c\"", noun, o->letter);
			before = " | ";
			if (o[1].words == o->words)
				continue; /* together with the next one */
			completion_words_of(o, out);
			before = "\t";
		}
	}
	fputs("\tesac\n}\n\n", out);
}

static void print_completion(const struct cli_table *t, FILE *out)
{
	char branches[128];

	gs_rm_driver_branches_text(branches, sizeof(branches), " ", " ");
	fputs(completion_head, out);
	completion_topics(t, out);
	completion_option_words(t, out);
	fputs(completion_words, out);
	fprintf(out, "\t--branch) COMPREPLY=($(compgen -W \"%s\" -- \"$cur\")); return ;;\n",
		branches);
	fputs(completion_values, out);
	fputs("\tif ((COMP_CWORD == 1)); then\n\t\tCOMPREPLY=($(compgen -W \"", out);
	print_nouns(t, out);
	fputs("--help --version\" -- \"$cur\"))\n\t\treturn\n\tfi\n", out);
	completion_verbs(t, out);
	fputs("\twords=\n\tcase $what in\n", out);
	for (size_t i = 0; i < t->n; i++)
		completion_case(out, &t->cmds[i]);
	fputs("\tesac\n", out);
	fputs(completion_tail, out);
}

int cli_help_cmd(struct cli *c)
{
	const struct cli_table *t = c->table;
	const struct cli_cmd *cmd = NULL;
	struct gs_error err = {};
	char *words[3] = { (char *)"gpusched" };
	int used, r;

	if (cli_opt(c, "man") || cli_opt(c, "completion")) {
		(cli_opt(c, "man") ? print_man : print_completion)(t, stdout);
		return GS_EXIT_OK;
	}
	if (!c->argc) {
		cli_help_usage(t, stdout);
		return GS_EXIT_OK;
	}
	if (c->argc == 1 && cli_find_noun(t, c->argv[0])) {
		cli_help_noun(t, stdout, c->argv[0]);
		return GS_EXIT_OK;
	}
	for (int i = 0; i < c->argc; i++)
		words[i + 1] = c->argv[i];
	r = cli_find(t, c->argc + 1, words, &cmd, &used, &err);
	if (r)
		return cli_fail_err(r, &err, "help");
	cli_help(stdout, cmd);
	return GS_EXIT_OK;
}
