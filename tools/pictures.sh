#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the pictures of README.md and docs/account.md anew: the screens of top and status from this
# version, on a simulated GPU, and the figures from bench/results. Needs root, tmux and gnuplot.
# Usage: tools/pictures.sh [BUILD]
set -eu -o pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
for tool in tmux gnuplot "$build/gpusched"; do
	command -v "$tool" >/dev/null || { echo "pictures: no $tool" >&2; exit 1; }
done
if [ -z "${GPUSCHED_SIM:-}" ]; then
	"$build/gpusched" sim shell -- "$PWD/tools/pictures.sh" "$build"
	exec bench/picture.sh
fi

scratch=$(mktemp -d)
started=()
finish() {
	tmux -S "$scratch/tmux" kill-server 2>/dev/null || :
	kill "${started[@]}" 2>/dev/null || :
	wait
	rm -rf "$scratch"
}
trap finish EXIT
start() { # COMMAND...
	"$@" >/dev/null 2>&1 &
	started+=($!)
}
await() { # COMMAND...: for 20 s at most
	local i
	for ((i = 0; i < 100; i++)); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.2
	done
	echo "pictures: in vain: $*" >&2
	exit 1
}
works() { # PID
	gpusched status --json | jq -e ".gpus[].tsgs[] | select(.pid == $1 and .held_pct > 0)"
}
# load NAME CLASS ARGUMENTS...: gsload under this name
load() {
	ln -s "$build/gsload" "$scratch/$1"
	start gpusched run --no-agent --class "$2" -- "$scratch/$1" "${@:3}" --seconds 0
}
screen() {
	tmux -S "$scratch/tmux" capture-pane -pe
}
shows() { # REGEX
	tmux -S "$scratch/tmux" capture-pane -p | grep -qE "$1"
}
# picture NAME REGEX ROWS COMMAND: what a terminal of 100 columns shows once REGEX is there
picture() {
	tmux -S "$scratch/tmux" -f /dev/null new-session -d -x 100 -y "$3" "export LC_ALL=C.UTF-8 PS1='\$ '; $4"
	await shows "$2"
	sleep 5 # figures of some seconds
	screen | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' | tools/screen-svg.sh 100 >"$scratch/$1.svg"
	mv "$scratch/$1.svg" "docs/pictures/$1.svg"
	tmux -S "$scratch/tmux" kill-server
}

start gpuschedd --foreground
await gpusched list
load train be be --iterations-per-us 27.78 --allocate-mib 36000
train=${started[-1]}
load server lc lc --arrivals closed --period-us 5000 --iterations-per-us 27.78 --allocate-mib 4000
await works "$train"
gpusched policy start auto >/dev/null
load sweep be be --iterations-per-us 27.78 --allocate-mib 12000
sweep=${started[-1]}
await works "$sweep"
gpusched suspend "pid:$sweep" >/dev/null
picture status '^GPU 0.*policy auto' 20 "printf '\$ gpusched status\n'; sleep 10; gpusched status; sleep 100"
picture top '^c .*paused by a person' 9 "gpusched top"
