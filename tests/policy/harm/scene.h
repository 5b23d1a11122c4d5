/* SPDX-License-Identifier: MIT */
/* scene.h - makes a random scenario of programs that gpusched might harm, from a seed */
#ifndef TESTS_POLICY_HARM_SCENE_H
#define TESTS_POLICY_HARM_SCENE_H

#include <stdint.h>
#include <stdio.h>

/* The name of a group is its kind and its number: "spin2". */
void scene_write(uint64_t seed, FILE *f);

#endif /* TESTS_POLICY_HARM_SCENE_H */
