/* SPDX-License-Identifier: MIT */
/* scene.h - makes random scenarios from a seed: programs that gpusched might harm, or told ones */
#ifndef TESTS_POLICY_HARM_SCENE_H
#define TESTS_POLICY_HARM_SCENE_H

#include <stdint.h>
#include <stdio.h>

#include "sim/scenario.h"

/* The name of a group is its kind and its number: "spin2". */
void scene_write(uint64_t seed, FILE *f);

/*
 * One or two services of class lc beside one to four programs of class be, on one GPU. The names of
 * services: one, many, tokens, eager.
 */
void scene_write_told(uint64_t seed, FILE *f);

/* The scenario that one of these writes; NULL, and a line on stderr, if it cannot be loaded. */
struct sim_scenario *scene_load(void (*write)(uint64_t seed, FILE *f), uint64_t seed);

#endif /* TESTS_POLICY_HARM_SCENE_H */
