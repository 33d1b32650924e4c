// Sweeps: many runs as one. A plan lists the trials, workers run its shards, collect makes one table of the results.
#pragma once
#include "lab/sweep/collect.h"
#include "lab/sweep/named.h"
#include "lab/sweep/plan.h"
#include "lab/sweep/run.h"
#include "lab/sweep/slurm.h"
#include "lab/sweep/state.h"
