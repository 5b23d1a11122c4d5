# SPDX-License-Identifier: MIT
# Reads events of `gpusched monitor --json`. Computes, in us, how long it takes until gpusched's
# timeslice is in force: after a TSG is made, and after its owner overrides the timeslice.
# before_first_work: how many TSGs had gpusched's slice before their owner put them on the runlist,
# that is, before any of their work could run.
def spread: sort | if length == 0 then null else
	{n: length, median_us: .[length / 2 | floor], max_us: last} end;
def first_call($calls; $from): [$calls[] | select(.id == $from.id and .t >= $from.t) | .t] | min;
[.[] | select(.event == "call" and .call == "set-timeslice" and .done) | {id, t: .time_ns}] as $calls |
def after($name): [.[] | select(.event == $name and .engine == "GR0") | {id, t: .time_ns}
	| . as $e | first_call($calls; $e) as $c | select($c != null) | ($c - $e.t) / 1000] | spread;
def before_first_work: [.[] | select(.event == "schedule" and .engine == "GR0") | {id, t: .time_ns}] as $schedules |
	[.[] | select(.event == "tsg-new" and .engine == "GR0") | {id, t: .time_ns} | . as $e |
		first_call($calls; $e) as $c | first_call($schedules; $e) as $s |
		select($c != null and $s != null) | $c < $s] | {n: map(select(.)) | length, of: length};
{from_creation: after("tsg-new"), from_own_timeslice: after("timeslice"), before_first_work: before_first_work}
