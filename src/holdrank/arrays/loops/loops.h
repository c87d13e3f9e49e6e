/* Hot loops. Arrays come from numpy, row by row without gaps; `holdrank.arrays.native` lists every function and checks
   what it is given. Numbers are added in the order in which they are written down, and nothing is fused, so that every
   compiler gives the same bits. A function that finds no memory returns -1. */

#ifndef HOLDRANK_LOOPS_H
#define HOLDRANK_LOOPS_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define LOOP __declspec(dllexport)
#else
#define LOOP __attribute__((visibility("default")))
#endif

/* WIDE is compiled twice where the loader can choose: for any x86-64, and for those with registers of 256 bits. Nothing
   is fused or reordered in either, so that both give the same bits. What it calls must be INSIDE, to be so twice, too. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#define INSIDE inline __attribute__((always_inline))
#else
#define WIDE
#define INSIDE
#endif

#define TINY 1e-12

/* Dynamic programming over subsets and insertion search, which other loops need, too: orders.c. */
size_t subset_room(int64_t n);
void fill_subset_table(const double *cost, int64_t n, double *least, double *room);
double descend_from(const double *margin, int64_t n, int64_t *order, double least_gain);

#endif
