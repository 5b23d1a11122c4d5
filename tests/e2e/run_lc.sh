#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# `run --class lc` puts the agent into CMD by itself where that fits, and says in one line where it does
# not. Programs that are not the service do not inherit it.
. "$(dirname "$0")/lib.sh"
enter_sim
. "$(dirname "$0")/helper/agent_lib.sh"
agent_begin
[ -z "$asan" ] || skip_all "a sanitizer's runtime in LD_PRELOAD is one of the reasons"
start_daemon || not_ok "a daemon starts"
so=$(basename "$agent_so")
export PATH=$scratch/bin:$build:$PATH
mkdir "$scratch/bin"
cd "$scratch" || exit 1

loaded() { # COMMAND...: its memory map has the agent?
	gpusched run "$@" 2>err
}
maps=(grep -c "$so" /proc/self/maps)
count() { [ "$(loaded "$@" "${maps[@]}")" -gt 0 ]; }

check "an lc has the agent" count --class lc --
is "$(cat err)" "" "nothing is said about it"
check "be has none" eval '! count --class be --'
check "normal has none" eval '! count --class normal --'
check "--no-agent: none" eval '! count --no-agent --class lc --'
is "$(cat err)" "" "nor a word"
check "--means slices: none" eval '! count --means slices --class lc --'
like "$(loaded --agent --no-agent --class lc -- true || cat err)" "--agent and --no-agent do not go together$" "both are refused"

why() { # TEXT NAME COMMAND...
	local text=$1 name=$2
	shift 2
	"$@" 2>err
	is $? 0 "$name: CMD runs"
	like "$(cat err)" "^gpusched: run: no agent, so nobody is paused for its requests: $text$" "$name: one line says why"
	is "$(wc -l <err)" 1 "$name: only one"
}
why "LD_PRELOAD is set" "another library" env LD_PRELOAD=libm.so.6 "$gpusched" run --class lc -- true
why "CUDA_INJECTION64_PATH is set" "a profiler" env CUDA_INJECTION64_PATH=/x "$gpusched" run --class lc -- true
why "ASAN_OPTIONS is set" "a sanitizer" env ASAN_OPTIONS=x=1 "$gpusched" run --class lc -- true
cc -x c - -static -o static <<<'int main(void) { return 0; }'
why "$scratch/static is linked statically" "a static program" gpusched run --class lc -- ./static
cc -x c - -fsanitize=address -o sanitized <<<'int main(void) { return 0; }'
why "$scratch/sanitized has a sanitizer \(libasan[.]so[.][0-9]+\)" "a program with a sanitizer" gpusched run --class lc -- ./sanitized
cc -x c - -o setuid <<<'int main(void) { return 0; }'
chmod 4755 setuid
why "$scratch/setuid has its file's rights \(setuid\)" "a setuid program" gpusched run --class lc -- ./setuid
printf '#!/bin/sh\nexec true\n' >script
chmod 755 script
cp /bin/true bin/docker
why "docker starts programs elsewhere" "a container's client" gpusched run --class lc -- docker run image
exits 0 "a script runs" gpusched run --class lc -- ./script
exits 127 "a program that is not there" gpusched run --class lc -- ./nothing
loaded --class lc -- ./nothing
is "$(grep -c agent err)" 0 "says nothing about an agent"
like "$(loaded --class lc -- env LD_PRELOAD= sudo -n true; cat err)" "" "env is no sudo"

# who inherits it: a service behind shells, and its workers; no shell that the service starts
cat >service.py <<-END
	import subprocess, sys
	def of(*command): return int(subprocess.run(command, capture_output=True).stdout)
	grep = ["grep", "-c", "$so", "/proc/self/maps"]
	worker = of(sys.executable, "-c", "print(open('/proc/self/maps').read().count('$so'))")
	print(worker > 0, of("sh", "-c", " ".join(grep) + " || true"), of("sh", "-c", "env | grep -c -e GPUSCHED_AGENT -e ASAN || true"))
END
is "$(loaded --class lc -- sh -c 'nohup python3 service.py')" "True 0 0" \
	"a worker of a service behind a shell has it, what the service's shell starts has not"
is "$(loaded --class lc -- python3 -c "import subprocess; print(subprocess.run(['./sanitized']).returncode)")" 0 \
	"a program with a sanitizer lives that the service starts"
preload=$(loaded --class lc -- printenv LD_PRELOAD)
check "a loader that takes the path as it is written finds nothing" eval '[ -n "$preload" ] && [ ! -e "$preload" ]'
is "$(loaded --class lc -- sh -c 'gpusched run --class lc -- true'; cat err)" "" "a second run says nothing"
like "$(loaded --agent -- python3 service.py)" "^True [1-9][0-9]* 1$" "all descendants have it with --agent"
like "$(loaded --class lc -- sh -c 'docker; env')" "LD_PRELOAD=.*$so" "a shell before the service keeps it"

# a service that runs already
load lc --seconds 600
check "a service without an agent is up" wait_tsgs "pid:$LOAD_PID" 4
like "$(gpusched class set "pid:$LOAD_PID" lc)" "Nobody is paused for its requests: they are not seen[.] Its next start by 'gpusched run --class lc' changes that[.]$" \
	"class set says what only a restart would give"
is "$(gpusched class set "pid:$LOAD_PID" be | wc -l)" 1 "it says nothing of the kind about be"
end_load "$LOAD_PID"
gpusched run --class lc -- "$gsload" lc --seconds 600 >/dev/null 2>&1 &
LOAD_PID=$!
at_end+=("$LOAD_PID")
check "a service with an agent is up" wait_tsgs "pid:$LOAD_PID" 4
check "class set says nothing about a service whose requests are told" wait_for 10 eval '[ "$(gpusched class set "pid:$LOAD_PID" lc | wc -l)" = 1 ]'
end_load "$LOAD_PID"
agent_end
done_testing
