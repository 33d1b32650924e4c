#!/usr/bin/env bash
# Runs a sweep on a real Slurm: munge and a cluster of only this machine, with configuration and state in a temporary
# folder. There are 30 trials in 3 shards; one shard's job is killed with -9 and submitted again, another is requeued as
# at the end of its time limit. Results must equal those of an uninterrupted run. Needs root, slurm-wlm and munge, but
# no systemd.
# usage: tests/tools/slurm.sh PROGRAM     Ends with a line in doctest's form.
set -uo pipefail
program=$(realpath "$1")
# shellcheck source=tests/tools/check.sh
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"
[[ $(id -u) == 0 ]] || { echo 'slurm.sh: slurmd must be started by root' >&2; exit 1; }
PATH=$PATH:/usr/sbin:/sbin
folder=$(mktemp -d)
chmod 755 "$folder"
daemons=()
end() {
  local each
  if [[ ${job:-} ]]; then scancel "$job" ${again:+"$again"}; sleep 2; fi
  for each in "${daemons[@]}"; do kill "$each"; done
  wait
  rm -rf "$folder"
} 2> /dev/null
trap end EXIT
cd "$folder" || exit

until_true() {   # SECONDS COMMAND...
  local last=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < last)) || return 1
    sleep 0.1
  done
}

# -- the cluster -----------------------------------------------------------------------------------------------------

mkdir -m 755 munge slurm slurm/state slurm/spool
host=$(hostname -s)
export SLURM_CONF=$folder/slurm/slurm.conf
cat > "$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
StateSaveLocation=$folder/slurm/state
SlurmdSpoolDir=$folder/slurm/spool
SlurmctldPidFile=$folder/slurm/slurmctld.pid
SlurmdPidFile=$folder/slurm/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
KillWait=10
SchedulerParameters=sched_interval=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc)
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
dd if=/dev/urandom of=munge/key bs=1 count=1024 status=none
chmod 600 munge/key

munged --foreground --force --key-file=munge/key --socket="$folder/munge/socket" --pid-file="$folder/munge/pid" \
  --seed-file="$folder/munge/seed" --log-file="$folder/munge/log" > munge/said 2>&1 &
daemons+=($!)
until_true 10 test -S munge/socket
slurmctld -D -i -f "$SLURM_CONF" > slurm/slurmctld.log 2>&1 &
daemons+=($!)
slurmd -D -f "$SLURM_CONF" > slurm/slurmd.log 2>&1 &
daemons+=($!)
idle() { [[ $(sinfo --noheader --format %T 2> /dev/null) == idle ]]; }
if ! until_true 60 idle; then
  echo 'slurm.sh: Slurm does not start here:' >&2
  tail -n 15 munge/said munge/log slurm/*.log >&2
  exit 1
fi
echo "        $(sinfo --version), $(nproc) CPUs"

# -- the sweep -------------------------------------------------------------------------------------------------------

cat > sweep.toml <<END
task = "reverse_string"
encoding = "relative"
positions = ["sequential", "randomized"]
max_position = 64
layers = 1
heads = 2
d_model = 16
batch = 8
steps = 8000
train_length = 6
checkpoint_every = 200
eval_lengths = "1:9"
eval_samples = 8
seeds = 15
END
plan() { "$program" sweep plan sweep.toml > plan.jsonl && [[ $(wc -l < plan.jsonl) == 30 ]]; }
check 'a plan of 30 trials' plan
check 'the sweep runs without interruption' "$program" sweep run plan.jsonl --out straight --jobs "$(nproc)" --threads 1

submitted() { "$program" sweep submit plan.jsonl --out torn --slurm --shards 3; }
check 'it is submitted as an array of 3 shards' submitted
job=$(sed -n 's/^Submitted batch job //p' output)

shard_at() {   # SHARD: the number of its finished trials; a shard is every third line
  awk -v shard="$1" 'NR % 3 == (shard + 1) % 3' plan.jsonl | sed 's/^{"id":"\([0-9a-f]*\)".*/torn\/\1\/result.json/' |
    xargs ls 2> /dev/null | wc -l
}
at_least() { (($(shard_at "$1") >= $2)); }
state() { scontrol show job "$1" | sed -n 's/^ *JobState=\([A-Z]*\) .*/\1/p' | head -n 1; }
is() { [[ $(state "$1") =~ ^($2)$ ]]; }

check 'shard 1 is in the middle' until_true 120 at_least 1 2
number=$(scontrol show job "${job}_1" | sed -n 's/^JobId=\([0-9]*\).*/\1/p')
pids=$(scontrol listpids "$number" "$host" | awk 'NR > 1 && $1 > 0 { print $1 }')
echo "        kill -9 $(paste -sd ' ' <<< "$pids")"
# shellcheck disable=SC2086
check 'all processes of its job are killed with -9' kill -9 $pids
check 'and the job has failed' until_true 60 is "${job}_1" 'FAILED|NODE_FAIL'
check 'with work left' test "$(shard_at 1)" -lt 10
check 'it is submitted again' sbatch --array=1 torn/job.sh
again=$(sed -n 's/^Submitted batch job //p' output)

check 'shard 2 is in the middle' until_true 120 at_least 2 2
requeued() { [[ $(scontrol show job "${job}_2") == *Restarts=1* ]]; }
check 'its time is nearly up' scancel --batch --signal=USR1 "${job}_2"
check 'it saves its trials and is in the queue again' until_true 60 requeued
waits() { is "${job}_2" PENDING; }
check 'and waits' until_true 60 waits
check 'it starts again now' scontrol update JobId="${job}_2" StartTime=now

gone() { [[ -z $(squeue --noheader) ]]; }
check 'the queue becomes empty' until_true 300 gone
status_of() { "$program" sweep status plan.jsonl --out "$1" > status && cat status >&2; }
all_done() { status_of torn && grep -qx '  done  *30' status; }
check 'all 30 trials are done' all_done

same() {   # compares every file of every trial, except for clock times
  local run file
  for run in straight/*/; do
    run=$(basename "$run")
    diff <(ls "straight/$run") <(ls "torn/$run") || return
    for file in straight/"$run"/*; do
      file=$(basename "$file")
      if [[ $file == clock.jsonl ]]; then
        continue
      elif [[ $file == result.json ]]; then
        diff <(clockless "straight/$run/$file") <(clockless "torn/$run/$file")
      else
        cmp "straight/$run/$file" "torn/$run/$file"
      fi || return
    done
  done
}
clockless() { grep -vE '^  "(seconds|steps_per_second)":' "$1"; }
check 'and have the same bytes as undisturbed' same
twice() { grep -h '"event":"done"' torn/journal.jsonl | grep -o '"id":"[0-9a-f]*"' | sort | uniq -d | grep .; }
none_twice() { ! twice; }
check 'none was done twice' none_twice

# -- cancelled ---------------------------------------------------------------------------------------------------------

sed -i 's/^steps = .*/steps = 1000000/; s/^seeds = .*/seeds = 1/' sweep.toml
long() {
  "$program" sweep plan sweep.toml > plan.jsonl && "$program" sweep submit plan.jsonl --out cancelled --slurm --jobs 2
}
check 'two long trials' long
job=$(sed -n 's/^Submitted batch job //p' output) again=
both_run() { [[ $(cat cancelled/*.log 2> /dev/null | grep -c '^training  ') -ge 2 ]]; }
check 'are running' until_true 60 both_run
check 'cancelled' scancel "$job"
check 'they end' until_true 60 gone
both_saved() { [[ $(cat cancelled/*.log | tee /dev/stderr | grep -c 'which is saved') == 2 ]]; }
check 'with their state saved' both_saved
told() { status_of cancelled && grep -qx '  stopped  *2' status; }
check 'and the status says so' told

((bad == 0)) || tail -n 20 torn/slurm-*.log slurm/*.log
checked slurm
