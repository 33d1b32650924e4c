#!/usr/bin/env bash
# The results beside the paper's in the README: Even Pairs and Bucket Sort, plain against randomized positions, for the relative and the
# rotary encoding. Preset `example` with fewer steps (the preset's are 10,001).
#
#   lab/results/reproduce.sh [STEPS [JOBS]]      3000 steps, 2 runs at a time with a thread each: about 40 minutes on 2 cores
#
# A run that is there already is kept, one that was cut off goes on. lab/results/table.py prints what came of it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
steps=${1:-3000} jobs=${2:-2}
program=$PWD/build/release/poslab
runs=$PWD/runs/results

one() {   # TASK ENCODING POSITIONS
  local name=$1-$2-$3
  if [[ -d $runs/$name ]]; then
    [[ -f $runs/$name/result.json ]] || "$program" resume "$runs/$name"
  else
    "$program" train --preset example --steps "$steps" --threads 1 --task "$1" --encoding "$2" --positions "$3" --out "$runs/$name"
  fi > "$runs/$name.log" 2>&1
  mkdir -p "lab/results/$name"
  cp "$runs/$name"/{config.toml,eval.csv,result.json} "lab/results/$name/"
  grep 'paper score' "$runs/$name.log" | sed "s/^/$name /"
}
export -f one
export program runs steps

mkdir -p "$runs"
for task in even_pairs bucket_sort; do
  for encoding in relative rope; do
    for positions in sequential randomized; do echo "$task $encoding $positions"; done
  done
done | xargs -P "$jobs" -L 1 bash -c 'one "$@"' one
