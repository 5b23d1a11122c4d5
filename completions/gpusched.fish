# SPDX-License-Identifier: MIT
# fish completion for gpusched: asks the one for bash, which knows the verbs

set -g __gpusched_bash (status dirname)/../../bash-completion/completions/gpusched
test -r $__gpusched_bash; or set -g __gpusched_bash /usr/share/bash-completion/completions/gpusched

function __gpusched_complete
	bash -c '. "$1" && shift && _gpusched_print "$@"' - \
		$__gpusched_bash (commandline -opc) "$(commandline -ct)" 2>/dev/null |
		string match -v ''
end

complete -c gpusched -f -a '(__gpusched_complete)'
