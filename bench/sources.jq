# SPDX-License-Identifier: MIT
# What the sources of figures in pages are written with; $all: what `bench/results.sh figures` prints.
include "results";
. as $all
| def known($where; $what): . // error("\($where): no \($what)");
def folder($day): first($all | keys[] | select(startswith("2026-11-\($day)-") and endswith("-580")))
	as $name | $all[$name] | known($day; "folder");

# Recomputed from every latency: c("23/one"; "a-1be"; "auto"), a part of a day's run.
def c($part; $load; $scheme):
	($part | split("/")) as $p | folder($p[0]).cells[$p[1]][$load][$scheme]
	| known($part; "\($load) \($scheme)");
# What a program printed of itself, and rows of which nothing else exists: pages mark both.
def row($day; $file): folder($day).rows[$file] | known($day; $file);
def kept($day; $key): folder($day).kept[$key] | known($day; $key);

def lat: .p50, .p99;
# where fewer than 500 requests, or 100 of a block, carry no p99
def few: .p50, .p90, .max;
# in percent of the other's: the median of the blocks, the least and the most
def part($c; $of; $k): 100 * (ratio($c; $of; $k), least($c; $of; $k), most($c; $of; $k));
def be_part($part; $load; $scheme):
	100 * ratio(c($part; $load; $scheme); c($part; $load; "default"); "be");
# a row: default and scheme, p99 and work in percent, requests of both, blocks; times in $us
def against(f; $k; $part; $load; $scheme; $us):
	c($part; $load; "default") as $d | c($part; $load; $scheme) as $c
	| ($d, $c | f / $us), part($c; $d; $k), part($c; $d; "be"), $d.n, $c.n, $c.blocks;
def against($part; $load; $scheme; $us): against(lat; "p99"; $part; $load; $scheme; $us);
def few_against($part; $load; $scheme; $us): against(few; "p90"; $part; $load; $scheme; $us);
