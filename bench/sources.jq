# SPDX-License-Identifier: MIT
# Functions for the sources of the figures in pages. $all is the output of `bench/results.sh figures`.
include "results";
. as $all
| def known($where; $what): . // error("\($where): no \($what)");
def folder($day): first($all | keys[] | select(startswith("2026-11-\($day)-") and endswith("-580")))
	as $name | $all[$name] | known($day; "folder");

# c("23/one"; "a-1be"; "auto"): figures of one part of a day's run, recomputed from every latency.
def c($part; $load; $scheme):
	($part | split("/")) as $p | folder($p[0]).cells[$p[1]][$load][$scheme]
	| known($part; "\($load) \($scheme)");
# row(): a summary that a program printed. kept(): a row whose raw output is lost. Pages mark both.
def row($day; $file): folder($day).rows[$file] | known($day; $file);
def kept($day; $key): folder($day).kept[$key] | known($day; $key);

def lat: .p50, .p99;
# instead of lat, for fewer than 500 requests, or 100 in a block: too few for a p99
def few: .p50, .p90, .max;
# figure $k of $c in percent of that of $of: the median, minimum and maximum over the blocks
def part($c; $of; $k): 100 * (ratio($c; $of; $k), least($c; $of; $k), most($c; $of; $k));
def be_part($part; $load; $scheme):
	100 * ratio(c($part; $load; $scheme); c($part; $load; "default"); "be");
# a row of a table: times of default and scheme (in units of $us), p99 and BE work in percent of the
# default, number of requests of default and scheme, number of blocks
def against(f; $k; $part; $load; $scheme; $us):
	c($part; $load; "default") as $d | c($part; $load; $scheme) as $c
	| ($d, $c | f / $us), part($c; $d; $k), part($c; $d; "be"), $d.n, $c.n, $c.blocks;
def against($part; $load; $scheme; $us): against(lat; "p99"; $part; $load; $scheme; $us);
def few_against($part; $load; $scheme; $us): against(few; "p90"; $part; $load; $scheme; $us);
