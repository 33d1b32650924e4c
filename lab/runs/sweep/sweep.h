// Sweeps: many runs as one. A plan lists the trials, workers run its shards, collect makes one table of the results.
#pragma once
#include "lab/runs/sweep/collect.h"
#include "lab/runs/sweep/kept.h"
#include "lab/runs/sweep/named.h"
#include "lab/runs/sweep/plan.h"
#include "lab/runs/sweep/run.h"
#include "lab/runs/sweep/slurm.h"
#include "lab/runs/sweep/state.h"
