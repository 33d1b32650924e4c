#!/usr/bin/env bash
# usage: tests/tools/memcheck/run.sh FOLDER [PATTERN]
# Runs poslab under valgrind's memcheck, which reports uses of unwritten memory, wrong addresses and leaks: a run
# of each kind, its evaluation, the texts that it writes, its pages, and all ops. FOLDER has poslab_memcheck and
# poslab_memcheck_ops. With PATTERN, only the checks whose names match it run. Ends with a line that ./dev test counts.
set -uo pipefail
built=$(realpath "$1") only=${2:-}
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../..")
# shellcheck source=tests/tools/check.sh
. "$source/tests/tools/check.sh"
scratch
watch() {   # COMMAND...: the status is 99 if valgrind reports anything
  valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite "$@"
}
clean() { watch "$built/poslab_memcheck" "$@"; }
reported() {   # CASE: valgrind must report it
  local status=0
  watch "$built/poslab_memcheck_ops" --no-skip --test-case="planted: $1" || status=$?
  ((status == 99))
}
may() { [[ $1 =~ $only ]] && check "$@"; }   # NAME COMMAND...

may 'planted: a new buffer is read' reported 'a new buffer*'
may 'planted: a buffer that another tensor had' reported 'a buffer that another*'
may 'planted: scratch memory of the kernel before' reported 'scratch memory of the*'
may 'planted: scratch memory that was not requested' reported 'scratch memory that was*'
may 'planted: the place past a buffer is written' reported 'the place past*'

strings=(train --task even_pairs --positions randomized --max-position 64 --layers 1 --heads 2 --d-model 16 --batch 8
         --train-length 8 --eval-lengths 1:12 --eval-samples 8 --steps 10)
may 'strings: a training run' clean "${strings[@]}" --encoding relative --dropout 0.1 --threads 1 --out strings
may 'strings: on two threads' clean "${strings[@]}" --encoding rope --threads 2 --out two
baseline() { POSLAB_ISA=baseline clean "$@"; }
may 'strings: with the baseline kernels' baseline "${strings[@]}" --encoding alibi --out baseline
may 'strings: products in bf16' clean "${strings[@]}" --encoding rope --matmul bf16 --out narrow
may 'strings: an evaluation' clean eval strings --lengths 10:14 --samples 8
may 'strings: more steps' clean resume strings
may 'strings: a question' clean ask strings 0110
may 'strings: a page' clean report strings two -o report.html
may 'strings: a look inside' clean inspect strings --samples 2 -o inside
may 'strings: maps of attention' clean view strings --length 12 --heads 1 -o viewed

mkdir texts
for n in {1..30}; do seq $((n * n)) $((n * n + 200)) > "texts/$n.txt"; done
words=(lm train --text texts --layers 1 --heads 2 --key-heads 1 --d-model 16 --d-ff 24 --batch 4 --train-length 16
       --eval-times 1/2 --eval-samples 2 --merges 20 --steps 5)
may 'lm: a training run' clean "${words[@]}" --out language
may 'lm: with gated units' clean lm train --unit gau --text copy_grammar --layers 2 --d-model 16 --d-ff 32 --batch 4 \
  --train-length 16 --eval-times 2 --eval-samples 2 --steps 4 --out units
may 'lm: an evaluation' clean lm eval language --encoding rerope:window=8 --temperature log_n:length=16,only_longer \
  --times 1/4 -o rerope.csv
may 'lm: a text' clean lm generate language --prompt 12 --count 20 --seed 3 --top-k 20 --top-p 0.9
may 'lm: a page' clean report language -o language.html
may 'lm: an export' clean lm export language --to exported
may 'lm: the export is read' clean lm generate --hf exported --prompt 12 --count 10 --temperature 0
may 'lm: a Gemma' clean lm generate --hf "$source/tests/data/huggingface/gemma3" --prompt 'the end' --count 8

finding=(t5 train --tasks passkey:digits=1/line --layers 1 --decoder-layers 1 --heads 2 --d-model 16 --d-ff 24
         --tokens 64 --train-length 24 --eval-lengths 24/32 --eval-samples 4 --steps 5)
may 't5: a training run' clean "${finding[@]}" --out finding
may 't5: an evaluation' clean t5 eval finding --temperature constant:tau=0.5 --lengths 48 -o sharp.csv
may 't5: an answer' clean t5 generate finding --prompt 'passkey a4 . . . . ask passkey' --count 4
may 't5: an external checkpoint, with beams' clean t5 generate --hf "$source/tests/data/huggingface/t5/v1_0" \
  --prompt 'for all lengths' --count 5 --beams 3
may 't5: a page' clean report finding -o finding.html

all_ops() { watch "$built/poslab_memcheck_ops" > said || { cat said; return 1; }; tail -n 3 said; }
may 'all ops, with each instruction set' all_ops

checked memcheck
