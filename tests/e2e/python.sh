#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 60
# needs: root bpf fuse
# The Python module: verbs, arguments, refusals and events with a daemon, and its error without one.
. "$(dirname "$0")/lib.sh"
enter_sim
load be --seconds 600
be=$LOAD_PID
wait_for 10 eval "[ \"\$(sim_tsgs $be)\" -ge 4 ]"
python=$(PATH=/usr/bin:$PATH command -v python3) # a python3 that other users may run
python() { # COMMAND...: runs the script on standard input by that command, such as env or as UID
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$top/integrations/python "$@" "$python" - 2>&1
}

cat >"$scratch/refused.py" <<-'SCRIPT'
	import errno, gpusched
	def refused(fn, **args):
	    try:
	        fn(**args)
	        print("done")
	    except gpusched.Error as e:
	        print(errno.errorcode[e.errno], e.strerror)
SCRIPT

out=$({ cat "$scratch/refused.py"; echo 'refused(gpusched.Gpusched().list)'; } | python env)
like "$out" "^(ENOENT|ECONNREFUSED) no daemon answers on $GPUSCHED_SIM/run/api" "without a daemon each verb is refused"
start_daemon
out=$(python env <<-SCRIPT
	import gpusched
	g = gpusched.Gpusched()
	tsgs = g.list(target="pid:$be")["tsgs"]
	print("tsgs", len(tsgs), {t["pid"] for t in tsgs} == {$be})
	print("set", g.set(target="pid:$be", timeslice_us=333, interleave=None)["changed"])
	g.class_set(target="pid:$be", class_="be")
	print("class", *{t["class"] for t in g.list(target="pid:$be")["tsgs"]})
	print("findings", type(g.status()["findings"]).__name__)
SCRIPT
)
like "$out" "tsgs 4 True" "list gives the TSGs of a target"
like "$out" "set 4" "set changes these TSGs"
is "$(sim_slice $be)" 333 "the GPU has the new timeslice"
like "$out" "class be" "a keyword with an underscore is the argument class"
like "$out" "findings list" "status is answered"
out=$(python env <<-SCRIPT
	import gpusched
	g = gpusched.Gpusched()
	events = g.watch()
	import threading
	threading.Timer(0.5, lambda: g.set(target="pid:$be", timeslice_us=444)).start()
	for e in events:
	    if e.get("pid") == $be:
	        print("event", e["event"])
	        break
	events.close()
	for line in g.trace():
	    print("trace", type(line).__name__)
	    break
SCRIPT
)
like "$out" "event [a-z]" "watch gives events"
like "$out" "trace dict" "trace gives lines"
{ cat "$scratch/refused.py"; cat; } >"$scratch/bad.py" <<-SCRIPT
	g = gpusched.Gpusched()
	refused(g.set, target="pid:$be", timeslice_us=0)
	refused(g.set, target="pid:$be", slice=1)
	refused(g.no_such_verb)
	refused(g.list, target="pid:$be")
SCRIPT
out=$(python env <"$scratch/bad.py")
like "$out" "ERANGE .*1 to 100000000" "a value out of range is refused with its range"
like "$out" "EINVAL .*slice" "an unknown argument is refused by its name"
like "$out" "E[A-Z]+ .*no_such_verb" "an unknown verb is refused by its name"
like "$out" "done" "a request after a refusal is answered"
{ cat "$scratch/refused.py"; echo "refused(gpusched.Gpusched().set, target='pid:$be', timeslice_us=100)"; } >"$scratch/user.py"
out=$(python as 4711 <"$scratch/user.py")
like "$out" "EPERM .*another user" "another user is refused"

# Debian's python3, for which tools/packages.txt has the modules. pip is imported last: it loads
# distutils.
py=/usr/bin/python3
if $py -W ignore -c 'import setuptools, wheel, pip' 2>/dev/null; then
	cp -r "$top/integrations/python" "$scratch/source"
	check "pip installs the module" $py -m pip install -q --no-index --no-build-isolation --no-deps \
		--root-user-action=ignore --target "$scratch/site" "$scratch/source"
	is "$(ls "$scratch/site" | grep -c '^gp.*\.py$')" 3 "all three modules are installed"
else
	skip "pip installs the module" "no pip, setuptools or wheel"
fi
done_testing
