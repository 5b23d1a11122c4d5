# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# pool_lib.sh - helpers of the attacks by a user who has an MPS server
#
#   enter_sim
#   pool_programs
#   start_daemon
#   users_pool           starts the attacker's pool; $SERVER is its server's PID
#   pool_set '"clients":["4711"]'
#   end_pool

# Installs the programs into a folder that root owns, as an administrator does.
pool_programs() {
	mount -t tmpfs -o mode=755 none /opt || not_ok "a folder of root's for the programs of MPS"
	cp "$build"/simmps/* "$gsload" "$gpusched" /opt
	cp -r "$build/simcuda" /opt
	export LD_LIBRARY_PATH=/opt/simcuda PATH=/opt:$PATH GPUSCHED_POOL_IDLE=60s
	unset XDG_RUNTIME_DIR
	chmod 755 "$GPUSCHED_SIM"
	chmod 711 "$scratch"
}

server_process() {
	local p
	for p in $(here nvidia-cuda-mps); do
		case $(readlink "/proc/$p/exe") in *server) echo "$p" ;; esac
	done
}

# Starts the attacker's pool, of class be. Stops its supervisor, which would report the true state every few
# seconds and so correct the attacker's claims.
users_pool() {
	"${as_attacker[@]}" gpusched run --pool --class be -- sleep 100 >"$scratch/pool" 2>&1 &
	POOL=$!
	at_end+=("$POOL")
	check "a user has a pool" wait_for 30 eval '[ "$(list_json uid:65534 "[.[] | select(.pool != null)] | length")" -ge 1 ]' ||
		diag "$(cat "$scratch/pool")"
	SERVER=$(server_process)
	here gpusched-pool | xargs -r kill -STOP
}

# pool_set WORDS: sends the attacker's claims about its server, as JSON. Repeats the request while the
# daemon is still reading the server's program.
pool_set() {
	local i
	for ((i = 0; i < 50; i++)); do
		"${as_attacker[@]}" curl -s --unix-socket "$GPUSCHED_SIM/run/api" \
			-d "{\"server\":$SERVER,\"name\":\"x\",\"class\":\"be\",$1}" http://gpusched/v1/pool_set \
			>"$scratch/told"
		grep -q EBUSY "$scratch/told" || break
		sleep 0.1
	done
	cat "$scratch/told"
}

end_pool() {
	here gpusched-pool | xargs -r kill -CONT
	kill "$POOL" 2>/dev/null
	wait "$POOL" 2>/dev/null
	return 0
}
