#!/usr/bin/env bash
# Tests the command line from end to end on a toy model: list, train, two interruptions, eval, report, and refusals.
# usage: tests/tools/smoke.sh PROGRAM [SLOWER]     SLOWER: how many times slower steps are, as under a sanitizer; long
# runs, which are interrupted, have fewer steps by that factor. Ends with a line in doctest's form, for ./dev test.
set -uo pipefail
program=$(realpath "$1") slower=${2:-1}
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
# shellcheck source=tests/tools/check.sh
. "$source/tests/tools/check.sh"
scratch

refuses() {   # STATUS WORDS COMMAND...: it exits with STATUS, and prints one line with WORDS to stderr
  local status=$1 words=$2 got=0
  shift 2
  "$@" 2> refusal || got=$?
  cat refusal
  [[ $got == "$status" && $(wc -l < refusal) == 1 ]] && grep -qF -- "$words" refusal
}
lists() {   # KIND COMMAND...: `poslab list KIND` has exactly the names that COMMAND finds in the sources
  diff <("${@:2}" | sort) <("$program" list "$1" | grep -oE '^[a-z0-9_]+' | sort)   # long rows continue below
}
schemes() { sed -n '/> list = {/,/};/p' "$source/encodings/all.cpp" | grep -oE '[a-z0-9_]+\(\)' | tr -d '()'; }
named() { (cd "$source/encodings" && sed -nE 's/^ *\{\.name = "([a-z0-9_]+)".*/\1/p' "$@"); }   # FILE...
tasks() { sed -n '/^Task /,/;/p' "$source/tasks/all.h" | grep -oE '[a-z_]+\(' | tr -d '('; }
whole() {
  local file
  for file in config.toml metrics.jsonl checkpoint.safetensors eval.csv result.json; do
    [[ -s $1/$file ]] || return
  done
}
rows() { [[ $(tail -n +2 "$1/${3:-eval.csv}" | cut -d, -f1 | paste -sd ' ') == "$2" ]]; }   # RUN LENGTHS [FILE]
page() { "$program" report "${@:2}" -o "$1" && grep -q '</html>' "$1" && ! grep -qE '(src|href)="https?:' "$1"; }

# The words that a shell would offer after these words, the last of which is being typed.
offers() {   # WORD WORDS...
  local wanted=$1
  shift
  bash -c '. <("$0" completion bash)
    complete -p poslab || exit
    COMP_WORDS=("$0" "$@") COMP_CWORD=$#
    _poslab
    printf "%s\n" "${COMPREPLY[@]}"' "$program" "$@" | tee /dev/stderr | finds -x -- "$wanted"
}
check 'bash completes a command' offers sweep swe
check 'a command of a command' offers collect sweep col
check 'an option' offers --encoding train --enc
check 'the name of a task' offers bucket_sort train --steps 3 --task buck
check 'the name of an encoding' offers rope train --encoding ''
check 'a switch' offers off train --causal o
check 'a list' offers encodings list enc
check 'a command to explain' offers reproduce help rep
check 'a source of tables' offers gap_shift reproduce ga
check 'another' offers su2023 reproduce su
check 'a size' offers paper reproduce ruoss2023:all --size ''
check 'an encoding to compare' offers rope compare --encodings ro
check 'a sampler' offers randomized compare --positions rand
check 'the size of a language model' offers example lm train --preset ''
check 'its encoding' offers rerope lm eval run --encoding rer
check 'the size of a T5' offers example t5 train --preset ''
check 'a retrieval task to explain' offers passkey explain retrieval pass
check 'a name to explain' offers parity_check explain task pari
check 'without its kind' offers alibi explain ali
check 'or to list' offers alibi list encodings al
check 'a file' offers output report out
candidates() { "$program" complete "$@" | cut -f1 | sort; }
names_all() {   # completion offers every task and encoding
  comm -23 <("$program" list tasks | sed 's/ .*//; /^$/d' | sort) <(candidates explain task '') | finds . && return 1
  comm -23 <("$program" list encodings | sed 's/ .*//; /^$/d' | sort) <(candidates train --encoding '') | finds . &&
    return 1
  candidates explain '' | finds -x parity_check
}
check 'all names are offered' names_all
described() { "$program" complete train --ca | finds $'^--causal\t.*earlier'; }
check 'with what the help says' described
nothing() { [[ -z $("$program" complete "$@") ]]; }
check 'for a number nothing is offered' nothing train --steps ''
check 'nor a word that begins otherwise' nothing train --task ropes
for shell in zsh fish; do   # where they are installed
  syntax() { "$1" -n <("$program" completion "$1"); }
  ! command -v "$shell" > /dev/null || check "$shell reads its script" syntax "$shell"
done

# The line that zsh in a terminal makes of LINE at the Tab key, with our script sourced, or found in $fpath.
zsh_makes() {   # WANTED LINE HOW
  mkdir -p zsh && "$program" completion zsh > zsh/_poslab
  program=$program timeout 30 zsh -f -c '
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell "fpath=($PWD/zsh \$fpath); autoload -Uz compinit"
    zpty -w shell "poslab() { [[ \$1 = complete ]] && $program \"\$@\" || echo said: \$* }"
    zpty -w shell "$3"
    zpty -w shell "$2"$'"'\t'"'
    zpty -r -m shell said "*said: $1*"' zsh "$@"
}
if command -v fish > /dev/null; then
  fish_offers() { fish -c "$program completion fish | source; complete -C '$program $1'" | finds "$2"; }
  fish_completes() { fish_offers 'train --task ev' '^even_pairs' && fish_offers tra $'^train\t'; }
  check 'fish completes the name of a task, and says what a command does' fish_completes
fi
if command -v zsh > /dev/null; then
  here='fpath=(${fpath:#*/zsh}); compinit -u -D; source zsh/_poslab'
  check 'zsh completes a command' zsh_makes 'train' 'poslab tra' "$here"
  check 'the name of a task' zsh_makes 'explain task parity_check' 'poslab explain task pari' "$here"
  check 'also if installed, at the first Tab' zsh_makes 'sweep collect' 'poslab sweep col' 'compinit -u -D'
fi

toy=(--task even_pairs --encoding relative --positions randomized --max-position 64 --layers 1 --heads 2 --d-model 16
     --batch 8 --train-length 8 --eval-lengths 1:12 --eval-samples 16)

check 'every task is listed, and nothing else' lists tasks tasks
check 'every encoding' lists encodings schemes
check 'every sampler' lists samplers named samplers_{spread,subset,shifted,segment}.cpp
check 'every temperature policy' lists temperatures named temperature.cpp

check 'twenty steps' "$program" train "${toy[@]}" --steps 20 --out twenty
check 'leave a complete run folder' whole twenty
check 'resume of a complete run says so' "$program" resume twenty
check 'eval at another temperature' "$program" eval twenty --temperature log_n:length=16 --samples 32
check 'eval of other lengths' "$program" eval twenty --lengths 10:13 --samples 32
check 'is kept in a file of its own' rows twenty '10 11 12 13' eval-lengths-10-13-samples-32.csv
check 'and leaves eval.csv unchanged' rows twenty '1 2 3 4 5 6 7 8 9 10 11 12'

# The same run without interruption on one thread, and on two threads with two interruptions, each after a checkpoint.
# The first interruption lets it save its state, the second does not.
long=("${toy[@]}" --steps $((12000 / slower)) --checkpoint-every 200 --log-every 200)
cut_off() {   # SIGNAL STATUS COMMAND...: stops the run in the folder $cut (default: cut)
  local signal=$1 status=$2 got=0 run=${cut:-cut}
  shift 2
  touch started
  "$@" 2> stopped &
  until [[ $run/checkpoint.safetensors -nt started ]] || ! kill -0 $! 2> /dev/null; do sleep 0.01; done
  sleep 0.1
  kill -s "$signal" $!
  { wait $! || got=$?; } 2> /dev/null
  cat stopped
  [[ $got == "$status" && ! -e $run/eval.csv ]] && { [[ $signal == KILL ]] || grep -q "resume $run\`" stopped; }
}
check 'a long run' "$program" train "${long[@]}" --threads 1 --out straight
check 'the same, stopped' cut_off TERM 143 "$program" train "${long[@]}" --threads 2 --out cut
check 'resumed and killed' cut_off KILL 137 "$program" resume cut --threads 2
check 'resumed to its end' "$program" resume cut --threads 2
check 'it has the same checkpoint, bit for bit' cmp straight/checkpoint.safetensors cut/checkpoint.safetensors
check 'and the same metrics' cmp straight/metrics.jsonl cut/metrics.jsonl
check 'and the same accuracies' cmp straight/eval.csv cut/eval.csv

# Windows follow the trained length unless they are set.
small=(--task even_pairs --layers 1 --heads 2 --d-model 16 --batch 4 --train-length 10 --eval-samples 4 --steps 2)
check 'a window without a length' "$program" train "${small[@]}" --encoding rerope --eval-lengths 1:12 --out open
check 'the run names the length' grep -q '^encoding = "rerope:window=0.5L"' open/config.toml
check 'it is 5 positions' "$program" train "${small[@]}" --encoding rerope:window=5 --eval-lengths 1:12 \
  --out five
check 'with the same losses' cmp open/metrics.jsonl five/metrics.jsonl
says_unreached() {   # COMMAND...: a line on stderr says that 512 is too much
  "$@" 2>&1 > /dev/null | finds '^rerope.*: window = 512 is not reached, because the longest string has [0-9]* slots'
}
sed 's/rerope:window=0.5L/rerope/' open/config.toml > left.toml
check 'a file without the length' "$program" train --config left.toml --out left
check 'gives the same run' cmp open/config.toml left/config.toml
check 'a window that no string reaches' says_unreached "$program" train "${small[@]}" --encoding rerope:window=512 \
  --eval-lengths 1:6 --out wide
check 'eval says so, too' says_unreached "$program" eval wide
check 'and show' says_unreached "$program" show rerope:window=512
told() { local line=$1; shift; "$@" 2>&1 > /dev/null | finds "$line"; }   # LINE COMMAND...: stderr has LINE
past=("$program" train "${small[@]}" --eval-lengths 1:6)
check 'a length that no string reaches' told '^dynamic_ntk:length=90: length = 90 is not reached' "${past[@]}" \
  --encoding dynamic_ntk:length=90 --out past
check 'and one of a temperature' told '^llama4:length=90: length = 90 is not reached' "${past[@]}" --encoding rope \
  --temperature llama4:length=90 --out colder
check 'and one at test' told '^log_n:length=90,only_longer: length = 90 is not reached' "$program" eval colder \
  --test-temperature log_n:length=90,only_longer -o colder.csv
check 'and a limit of positions' told '^clipped:limit=90: limit = 90 is not reached' "${past[@]}" --encoding rope \
  --positions clipped:limit=90 --out limited
says_unread() {
  "$@" 2>&1 > /dev/null | finds '^none reads no positions, so positions = randomized change nothing here'
}
check 'positions that nothing reads are reported' says_unread "$program" train "${small[@]}" --encoding none \
  --positions randomized --out unread
not_open() { ! says_unreached "$program" eval open; }
check 'but not a length that is reached' not_open
check 'nor are they drawn again' refuses 2 '--samples 5 changes nothing: none reads no positions; leave it out' \
  "$program" ask unread 01 --positions randomized --samples 5
printf 'task = "even_pairs"\nencoding = "rerope"\nsteps = 2\n' > typed.toml
typed_file() { [[ $("$program" sweep plan typed.toml) == *'"encoding":"rerope:window=0.5L"'* ]]; }
check 'in a hand-written file the window follows the length, too' typed_file
explains() { [[ $("$program" explain "$1") == "$1"[:\ ]* ]]; }
for one in rope bucket_sort randomized log_n 'rope|none' rerope:window=0.5L; do
  check "explain $one needs no kind" explains "$one"
done
fails_beyond() { "$program" explain rope | grep -q 'Beyond the trained length it fails, because'; }
check 'explain rope says why it fails beyond the trained length' fails_beyond

demo=("$program" demo --out shown --layers 1 --heads 2 --d-model 16 --eval-lengths 8:24 --eval-samples 4)
drawn_twice() {   # it trains once and draws twice; with other options it leaves the run unchanged
  "${demo[@]}" --steps 5 > first && cp shown/demo-plain/checkpoint.safetensors kept && rm shown/demo.html &&
    "${demo[@]}" --steps 5 2> log > second && grep -q 'demo-plain is complete already' log && cmp first second &&
    cmp kept shown/demo-plain/checkpoint.safetensors && [[ -s shown/demo.html ]] &&
    grep -q '^Accuracy against length: bucket sort,majority,24,' shown/demo.csv && grep -q '^    10 .* 20.0 ' first &&
    grep -q '^On lengths 21 to 24, longer than in training, [0-9.]* % of the symbols' first &&
    ! "${demo[@]}" --steps 6 2> log &&
    grep -q 'shown/demo-plain is a run with other options.*--out' log &&
    cmp kept shown/demo-plain/checkpoint.safetensors
}
check 'the demo trains two runs and draws them' drawn_twice

cat > expected << 'END'
twenty: even_pairs, relative (randomized), 20 steps on lengths 1 to 8
asked under randomized:max_position=64 positions, draw 0: the first one in tests of this length
0110
  slot      1
  correct   0
  answer    0
  sure     68%
  right    1 of 1 slots, 100.0 %
  at length 4 (trained): chance 50.0 %, majority 47.2 %, content only 61.4 %
10
  slot      1
  correct   1
  answer    0!
  sure     68%
  right    0 of 1 slots, 0.0 %
  at length 2 (trained): chance 50.0 %, majority 50.4 %, content only 100.0 %
END
asked() {   # the answers of a checkpoint with a fixed seed, and an object for each string
  "$program" ask twenty 0110 10 > asked && cat asked && diff expected asked && "$program" ask twenty 0110 --json &&
    "$program" ask twenty --file - --json <<< $'0110\n10' > asked.json && [[ $(wc -l < asked.json) == 2 ]] &&
    grep -q '^{"task":"even_pairs",.*"input":"10","length":2,.*"expected":"1",' asked.json
}
check 'a question to a run' asked
explained() { "$program" explain "$@" | tee /dev/stderr | finds '^example   '; }
check 'an explanation of a task' explained task solve_equation
check 'and of an encoding' explained encoding alibi:symmetric
in_numpy() {   # the file without its imports, after the functions that it imports: test_formulas.py runs all
  local text
  text=$("$program" explain lambda --numpy) && [[ $text != *$'\nfrom .'* ]] &&
    [[ $text == *"$(< "$source/python/poslab/formulas/rotated.py")"*"$(
      grep -v '^from [.]' "$source/python/poslab/formulas/lambda.py")"*lambda_both* ]]
}
check 'a formula in NumPy is the file of the package' in_numpy
says_numbers() {   # the code has the numbers of another spelling
  "$program" explain rerope:window=8 --numpy 2>&1 > /dev/null |
    finds '^the code is for rerope:window=3; change its numbers for other options, as in rerope:window=8$' &&
    [[ -z $("$program" explain alibi --numpy 2>&1 > /dev/null) ]]
}
check 'which says that its numbers may differ' says_numbers

check 'a report of two runs' page report.html straight twenty
numbers() {   # the data that matplotlib draws for papers (tests/python/test_figures.py)
  "$program" report straight twenty -o curves.csv && grep -q '^panel,series,x,y,low,high$' curves.csv &&
    "$program" report straight twenty -o curves.json && grep -q '"name":"chance"' curves.json &&
    "$program" show --set rerope -o maps.json && [[ $(grep -o '"kind":"matrix"' maps.json | wc -l) == 6 ]]
}
check 'the numbers of its curves' numbers

inside() {   # it wrote the page, the numbers, and the files for NumPy
  "$program" inspect straight twenty --samples 4 -o inspected && grep -q '</html>' inspected/index.html &&
    [[ $(wc -l < inspected/pca.csv) == 5 && -s inspected/coverage.csv ]] &&
    [[ $(head -c 2 inspected/pca.npz)$(head -c 2 inspected/attention.npz) == PKPK ]]
}
check 'two runs from inside' inside
viewed() {   # it wrote the page and its tiles, and left nothing else
  "$program" view straight twenty --length 12 --heads 1 -o viewed && grep -q '</html>' viewed/index.html &&
    grep -q '^poslab_tile("maps/1/20"' viewed/maps/1/20/overview.js && [[ ! -e viewed.partial ]]
}
check 'and their attention, cell by cell' viewed
if [[ -e $source/build/web/past-the-edge.html ]]; then     # tools/web has made it
  in_the_page() { "$program" web straight -o trains.html && grep -q '"name":"straight"' trains.html; }
  check 'and a run in the page that trains' in_the_page
fi
tape() {   # a table of ops has more rows than one of modules
  "$program" graph straight -o modules.html && "$program" graph straight --zoom op -o ops.json &&
    grep -q '"module":"block0.attention"' modules.html &&
    (($(grep -o '"gradient":' ops.json | wc -l) > $(grep -o '"gradient":' modules.html | wc -l)))
}
check 'the tape of a step' tape

second_stage() {   # a run's attention becomes the bias of another run, which then needs no file
  "$program" calibrate straight --samples 4 -o biases.txt && grep -q '^1\.1 ' biases.txt &&
    "$program" train "${toy[@]}" --set encoding=calibrated:of=@biases.txt --steps 20 --out biased && rm biases.txt &&
    "$program" eval biased --lengths 1:9 --samples 4
}
check 'a run with the biases of another' second_stage

aligned() {   # temperatures for longer strings, which the run keeps, and another model refuses
  "$program" align straight --short 4 --long 8,12 --samples 4 --per head -o temperatures.json &&
    "$program" eval straight --lengths 1:9 --samples 4 --temperature aligned:temperatures.json
}
check 'a run with attention aligned' aligned
says_on_what() { "$program" align --help | finds 'on short inputs that no test uses'; }
check 'but not on strings of the test' says_on_what
check 'and another one' refuses 2 'temperature aligned: it belongs to weights' "$program" eval twenty --lengths 1:9 \
  --samples 4 --temperature aligned:temperatures.json

looked() {   # LEVEL WORDS: POSLAB_DEBUG=LEVEL prints WORDS, and all of its output is on stderr
  POSLAB_DEBUG=$1 "$program" train "${toy[@]}" --steps 20 --out "looked$1" > answer 2> table
  cat answer table
  grep -q "$2" table && ! grep -q "$2" answer
}
check 'POSLAB_DEBUG=2 says where the time goes' looked 2 '^linear_backward .* \(compute\|memory\)$'
check 'POSLAB_DEBUG=4 says what runs' looked 4 '^residual_norm backward .* norm_backward .* GB/s$'
check '2 does not change the checkpoint' cmp looked2/checkpoint.safetensors twenty/checkpoint.safetensors
check 'and neither does 4' cmp looked4/checkpoint.safetensors twenty/checkpoint.safetensors
debug5() { POSLAB_DEBUG=5 "$program" "$@"; }
check 'an invalid POSLAB_DEBUG' refuses 2 'POSLAB_DEBUG is "5"' debug5 train "${toy[@]}" --out x

printf '%s\n' 'task = "even_pairs"' 'encoding = ["rope", "none"]' 'layers = 1' 'heads = [2, 3]' 'd_model = 16' \
  'batch = 8' 'steps = 20' 'train_length = 8' 'eval_lengths = "1:12"' 'eval_samples = 16' > sweep.toml
planned() { "$program" sweep plan sweep.toml > plan.jsonl 2> count && cat count && [[ $(wc -l < plan.jsonl) == 4 ]]; }
swept() { "$program" sweep run plan.jsonl --out sweep --jobs 2 2> events | finds -x 'shard 0/1: 2 done, 2 impossible'; }
collected() { [[ $("$program" sweep collect plan.jsonl --out sweep | tee /dev/stderr | grep -c ',done,') == 2 ]]; }
check 'a sweep is planned' planned
check 'and run' swept
check 'and collected' collected
check 'and drawn, from its folder' page sweep.html sweep
check 'and from its plan, next to a file that is not a run' page sweep.html plan.jsonl report.html
unused_option() {   # positions that are not random cannot be drawn once for each layer
  printf '%s\n' 'preset = "tiny"' 'task = "even_pairs"' 'encoding = "rope"' 'steps = 2' \
    'positions = ["sequential", "randomized"]' 'resample = ["per_forward", "per_layer"]' \
    'eval_lengths = "1:21"' 'eval_samples = 2' > unused.toml
  "$program" sweep plan unused.toml > unused.jsonl && "$program" sweep run unused.jsonl --out unused --jobs 2 |
    finds -x 'shard 0/1: 4 done'
}
check 'a grid may vary an option that some of its runs do not use' unused_option

# Language models, on a few small files.
mkdir texts
for n in {1..30}; do seq $((n * n)) $((n * n + 200)) > "texts/$n.txt"; done
words=(--text texts --layers 1 --heads 2 --key-heads 1 --d-model 16 --d-ff 24 --batch 4 --train-length 16
       --eval-times 1/2/4 --eval-samples 2)
lm_rows() { [[ $(tail -n +2 "$1" | cut -d, -f1,2 | paste -sd ' ') == "$2" ]]; }
check 'a language model is trained' "$program" lm train "${words[@]}" --merges 20 --steps 20 --out language
check 'and tested, plain and repeated' lm_rows language/eval.csv \
  '16,plain 32,plain 64,plain 16,repeated 32,repeated 64,repeated'
says_complete() { "$program" lm resume language | finds 'language is complete: 20 steps'; }
check 'it has no more to learn' says_complete
one_file() {   # key_heads is then that of heads
  seq 9999 > one.txt && "$program" lm train --text one.txt --layers 1 --heads 2 --d-model 16 --d-ff 24 --batch 2 \
    --train-length 16 --eval-times 1 --eval-samples 2 --steps 2 --out one-file 2> log &&
    grep -q 'one.txt: 1 file, .*; its last tenth is held out for the test' log &&
    grep -q '^key_heads = 2 ' one-file/config.toml &&
    page one.html one-file && grep -q '1 file of .*, of which the last tenth is for the test' one.html
}
check 'one on a single file' one_file
check 'also with ReRoPE and log n' "$program" lm eval language --encoding rerope:window=8 \
  --temperature log_n:length=16,only_longer --times 1/8 -o rerope.csv
check 'without a window length, it follows the trained length' "$program" lm eval language --encoding rerope \
  --temperature log_n:length=16,only_longer --times 1/8 -o half.csv
check 'half of it' cmp half.csv rerope.csv
check 'a window that no text reaches is reported' says_unreached "$program" lm eval language --times 1 -o wide.csv \
  --encoding rerope:window=512
check 'at other lengths' lm_rows rerope.csv '16,plain 128,plain 16,repeated 128,repeated'
check 'with gated attention units, on the grammar' "$program" lm train --unit gau --text copy_grammar --layers 2 \
  --d-model 16 --d-ff 32 --batch 4 --train-length 16 --eval-times 2 --eval-samples 2 --steps 10 --out units
aligned_words() {
  "$program" align language --short 16 --long 64 --samples 2 --mode entropy -o words.json &&
    "$program" lm eval language --temperature aligned:words.json --times 1/4 -o aligned.csv
}
check 'aligned' aligned_words
writes() { "$program" lm generate language --prompt 12 --count 40 --seed "$1" --top-k 20 --top-p 0.9 > "$2"; }
check 'it writes' writes 3 one
check 'and again' writes 3 two
check 'the same' cmp one two
long_words=(lm train "${words[@]}" --steps $((2000 / slower)) --checkpoint-every 40 --log-every 40)
cut=cut_words
check 'a long run of it' "$program" "${long_words[@]}" --threads 1 --out straight_words
check 'the same, stopped' cut_off TERM 143 "$program" "${long_words[@]}" --threads 2 --out cut_words
check 'resumed and killed' cut_off KILL 137 "$program" lm resume cut_words --threads 2
check 'resumed to its end' "$program" lm resume cut_words --threads 2
check 'has the same checkpoint' cmp straight_words/checkpoint.safetensors cut_words/checkpoint.safetensors
check 'the same metrics' cmp straight_words/metrics.jsonl cut_words/metrics.jsonl
check 'and the same losses' cmp straight_words/eval.csv cut_words/eval.csv
check 'it is exported' "$program" lm export language --to exported
check 'and tested as a checkpoint' "$program" lm eval --hf exported --text texts --times 1/4 --samples 2 \
  --encoding rerope:window=8 --temperature log_n:length=16,only_longer -o exported.csv
check 'with a window that follows its length' "$program" lm eval --hf exported --text texts --times 1/4 --samples 2 \
  --encoding rerope --temperature log_n:length=16,only_longer -o half.csv
check 'half of it' cmp half.csv exported.csv
check 'at the requested lengths' lm_rows exported.csv '16,plain 64,plain 16,repeated 64,repeated'
same_words() {
  local a=(--prompt 12 --count 40 --temperature 0)
  "$program" lm generate language "${a[@]}" > ours && "$program" lm generate --hf exported "${a[@]}" > theirs &&
    cmp ours theirs
}
check 'and writes what the run writes' same_words
with_gains() {   # BYTES WORDS: tests with these four bytes for each gain of the last norm, and expects WORDS
  local about length from to n file=spoiled/model.safetensors
  rm -rf spoiled && cp -r exported spoiled && length=$(od -An -tu8 -N8 $file)
  about=$(head -c $((8 + length)) $file | grep -ao '"model.norm.weight":{[^}]*}')
  read -r from to < <(sed 's/.*offsets":\[\([0-9]*\),\([0-9]*\)\].*/\1 \2/' <<< "$about")
  for ((n = from; n < to; n += 4)); do printf '%b' "$1"; done |
    dd of=$file bs=1 seek=$((8 + length + from)) conv=notrunc status=none
  ! "$program" lm eval --hf spoiled --text texts --times 1 --samples 1 2> said && tail -n 1 said | finds "$2"
}
check 'weights that are NaN are a damaged file' with_gains '\0\0\xc0\x7f' \
  'model.norm.weight holds NaN or infinity, first at (0)'
check 'NaN from finite weights is reported' with_gains '\xff\xff\x7f\x7f' 'the loss at length 16 is NaN'
gemma=(--hf "$source/tests/data/huggingface/gemma3")
check 'a model of Gemma is tested' "$program" lm eval "${gemma[@]}" --text "$source/docs/language.md" --length 16 \
  --times 1/4 --samples 2 --encoding rerope:window=8 -o gemma.csv
check 'at its lengths' lm_rows gemma.csv '16,plain 64,plain 16,repeated 64,repeated'
check 'with encodings side by side' "$program" lm eval "${gemma[@]}" --text "$source/docs/language.md" --length 16 \
  --times 1/4 --samples 2 --encoding rope,rerope:window=8,none -o gemma.html
check 'as a page' grep -q 'tested with 3 encodings' gemma.html
check 'inside it' "$program" inspect "${gemma[1]}" --text 'the end of the' --samples 2 --lengths 8,16 -o inside_gemma
check 'and writes' "$program" lm generate "${gemma[@]}" --prompt 'the end of the' --count 20 --temperature 0
check 'from nothing' "$program" lm generate "${gemma[@]}" --prompt '' --count 20 --temperature 0
check 'which needs a token to begin with' refuses 2 'no token that begins a text; give it a letter' \
  "$program" lm generate --hf exported --prompt ''
language_page() { page language.html language && [[ $(wc -l < language-lengths.csv) == 7 ]]; }
check 'a report of it, and its table' language_page
strings_page() { page language.html straight twenty && [[ ! -e language-lengths.csv ]]; }
check 'a report of other runs under that name leaves no such table' strings_page
inside_language() {
  "$program" inspect language --text '12 13' --samples 2 -o inside_language &&
    grep -q '"symbols":\["12"\|"symbols":\["1"' inside_language/index.html
}
check 'and a look inside' inside_language
check 'and its attention' "$program" view language --length 16 -o viewed_language
check 'also on a given text' "$program" view language --text '12 13' -o viewed_text
rows_of() { "$program" graph "$1" -o "$1.json" && grep -q "\"module\":\"$2\"" "$1.json"; }   # RUN MODULE
check 'and the tape of a step' rows_of language block0.ffn
check 'another scheme cannot be exported' refuses 2 'no architecture of transformers' "$program" lm export units --to x
check 'a scheme that nobody trained' refuses 2 'it learns parameters' "$program" lm eval language --encoding t5 -o x
check 'another kind of run' refuses 2 'poslab lm' "$program" resume language
echo more >> texts/1.txt
check 'a text that has changed' refuses 2 'not the text' "$program" lm eval language

# T5s, trained on retrieval.
finding=(t5 train --tasks passkey:digits=1/line --layers 1 --decoder-layers 1 --heads 2 --d-model 16 --d-ff 24
         --tokens 64 --train-length 24 --eval-lengths 24/64 --eval-samples 4)
t5_rows() { [[ $(tail -n +2 "$1" | cut -d, -f1,2 | paste -sd ' ') == "$2" ]]; }
check 'a T5 is trained' "$program" "${finding[@]}" --steps 20 --out finding
check 'and tested, task by task' t5_rows finding/eval.csv 'passkey,24 passkey,64 line,24 line,64'
check 'also sharper, and longer' "$program" t5 eval finding --temperature constant:tau=0.5 --lengths 128 -o sharp.csv
check 'at the requested length' t5_rows sharp.csv 'passkey,128 line,128'
cut=cut_finding
long_finding=("${finding[@]}" --steps $((2000 / slower)) --checkpoint-every 40)
check 'a long run of it' "$program" "${long_finding[@]}" --threads 1 --out straight_finding
check 'the same, stopped' cut_off TERM 143 "$program" "${long_finding[@]}" --threads 2 --out cut_finding
check 'resumed to its end' "$program" t5 resume cut_finding --threads 2
check 'has the same checkpoint' cmp straight_finding/checkpoint.safetensors cut_finding/checkpoint.safetensors
check 'and the same answers' cmp straight_finding/eval.csv cut_finding/eval.csv
check 'a report of it' page finding.html finding
check 'and the tape of a step' rows_of finding decoder.block0.cross
check 'it answers' "$program" t5 generate finding --prompt 'passkey a4 . . . . ask passkey' --count 4
check 'not to nothing' refuses 2 'the prompt is empty' "$program" t5 generate finding --prompt ''
check 'its attention is drawn' "$program" view finding --length 24 -o viewed_finding
check 'for 16 tokens or more' refuses 2 'ask for 16 tokens or more' "$program" view finding --length 3 -o x
check 'it is exported' "$program" t5 export finding --to exported_finding
check 'without tokens it cannot be read' refuses 2 'has no spiece.model' "$program" t5 generate --hf exported_finding \
  --prompt x
checkpoint_answers() {   # a small random one: its words mean nothing
  local folder=$source/tests/data/huggingface/t5/v1_0
  "$program" t5 generate --hf "$folder" --prompt 'for all lengths' --count 9 --beams 3 --length-penalty 0.6 > one &&
    echo 'for all lengths' > prompt.txt && "$program" t5 generate --hf "$folder" --file prompt.txt --count 9 \
      --beams 3 --length-penalty 0.6 --threads 1 > other && cmp one other
}
check 'an external checkpoint answers' checkpoint_answers
passes_over() {
  cp -r "$source/tests/data/huggingface/t5/v1_0" forcing && echo '{"forced_bos_token_id": 0}' > \
    forcing/generation_config.json && "$program" t5 generate --hf forcing --prompt x --count 2 2>&1 > /dev/null |
    finds '^forcing/generation_config.json: forced_bos_token_id would change the text, but poslab ignores it$'
}
check 'and names the setting that it ignores' passes_over
asks_again() {
  echo '{"question": "who?", "answers": ["Ada"], "ctxs": [{"title": "b", "text": "Ada", "isgold": true}]}' > one.jsonl
  "$program" t5 eval --hf forcing --task documents --questions one.jsonl --sizes 1 --samples 2 2>&1 > /dev/null |
    finds '^one.jsonl: 2 samples of 1 question, so some repeat, .*; take fewer, or more questions$'
}
check 'repeated questions are reported' asks_again
check 'with one beam no penalty is accepted' refuses 2 '--length-penalty changes nothing with one beam' "$program" \
  t5 generate --hf "$source/tests/data/huggingface/t5/v1_0" --prompt x --beams 1 --length-penalty 0.6
checkpoint_aligned() {
  local folder=$source/tests/data/huggingface/t5/v1_0
  "$program" align --hf "$folder" --task line --short 2 --long 9 --samples 2 -o lines.json &&
    "$program" t5 eval --hf "$folder" --task line --sizes 9 --samples 2 --temperature aligned:lines.json
}
check 'and is aligned' checkpoint_aligned
check 'a T5 is no language model' refuses 2 'poslab t5' "$program" lm eval finding

# Names that look like options, and checkpoints that are named instead of their runs.
dashed() {
  "$program" train "${toy[@]}" --steps 20 --out -dash > said 2>&1 && "$program" report ./-dash -o dash.html &&
    cat said && ! grep -q 'poslab report -dash' said dash.html
}
check 'a run whose name begins with a dash' dashed
dashed_sweep() {
  local id plan=(--out -s)
  printf '%s\n' 'task = "even_pairs"' 'encoding = "rope"' 'layers = 1' 'heads = 2' 'd_model = 16' 'batch = 8' \
    'steps = 20' 'eval_lengths = "1:6"' > dash.toml
  "$program" sweep plan dash.toml > dash.jsonl && "$program" sweep run dash.jsonl "${plan[@]}" || return
  id=$(grep -o '[0-9a-f]\{16\}' dash.jsonl | head -1)
  rm "./-s/$id/eval.csv" "./-s/$id/result.json" && "$program" sweep run dash.jsonl "${plan[@]}" && whole "./-s/$id"
}
check 'and a sweep' dashed_sweep
both_tables() { "$program" sweep collect dash.jsonl --out -s --csv /dev/stdout --lengths-csv /dev/stdout > both; }
check 'two tables on the standard output' both_tables
ln -s loop loop
check 'in spite of a link to itself' page looped.html dash.jsonl
checkpoint_alone() {
  cp twenty/checkpoint.safetensors alone.safetensors
  "$program" eval alone.safetensors > own && grep -q 'poslab report alone -o' own &&
    "$program" eval alone.safetensors --lengths 1:2 && [[ -s alone/eval-lengths-1-2.csv ]] &&
    "$program" eval twenty/checkpoint.safetensors --lengths 1:2 && [[ -s twenty/eval-lengths-1-2.csv ]] &&
    [[ ! -e twenty/checkpoint ]]
}
check 'a checkpoint that is tested' checkpoint_alone
no_room() (ulimit -f 4; "$program" inspect twenty -o seen)
half_a_page() { ! no_room && [[ ! -e seen && ! -e seen.partial ]] && "$program" inspect twenty -o seen; }
check 'a page that did not fit on a disk is made again' half_a_page
printf '0110\0\n' > nul
check 'a NUL character' refuses 2 'line 1: "0110\x00": a NUL' "$program" ask twenty --json < nul
check 'a page without a question' refuses 2 'there was no string, so there is no page' \
  "$program" ask twenty -o asked.html < /dev/null
damaged() {
  cp -r twenty hurt && echo '{' > hurt/result.json && refuses 1 'test hurt again, by' \
    "$program" report hurt -o hurt.html && "$program" eval hurt && page hurt.html hurt
}
check 'a damaged result is written again' damaged
listed() {
  sed 's/^encoding.*/encoding = [["rope"]]/' dash.toml > listed.toml
  refuses 2 'encoding has a list in its list of values' "$program" sweep plan listed.toml
}
check 'a list in a list' listed
randomly() {
  "$program" lm train --text copy_grammar --positions randomized:max_position=64 --layers 1 --heads 2 --d-model 16 \
    --batch 2 --train-length 8 --eval-times 1 --eval-samples 2 --steps 1 --out random_lm || return
  "$program" lm generate random_lm > wrote 2> refused
  [[ $? == 2 && ! -s wrote ]] && grep -q 'use a model whose positions are not random' refused
}
check 'a model that cannot generate prints only the reason' randomly

# If the terminal is closed, a run is saved; a run started with nohup continues.
cut=hung
check 'a run whose terminal is closed' cut_off HUP 129 "$program" train "${long[@]}" --threads 2 --out hung
hung_twice() {
  local status=0
  touch started
  "$program" resume hung --threads 2 2> stopped &
  until [[ hung/metrics.jsonl -nt started ]] || ! kill -0 $! 2> /dev/null; do sleep 0.01; done
  kill -s HUP $! && kill -s HUP $! && { wait $! || status=$?; } 2> /dev/null
  cat stopped
  [[ $status == 129 ]] && grep -q 'resume hung' stopped
}
check 'and closed once more' hung_twice
hung_nohup() { (trap '' HUP; "$program" resume hung --threads 2 & sleep 0.3; kill -s HUP $!; wait $!) && whole hung; }
check 'with nohup it goes on' hung_nohup
check 'to the same bits' cmp straight/checkpoint.safetensors hung/checkpoint.safetensors

on_a_full_disk() { "$program" "$@" > /dev/full; }
if [[ -c /dev/full ]]; then
  for words in --version version 'ask twenty 0110' 'ask twenty 0110 --json' 'lm generate units --count 3'; do
    # shellcheck disable=SC2086             # words
    check "output of $words that is lost" refuses 1 'cannot write to the standard output' on_a_full_disk $words
  done
fi
# If stderr is not read, the work goes on and ends with its usual status.
unheard() {   # RUN HOW: a run, its test and its report
  local status=0
  { "$program" train "${toy[@]}" --steps 20 --out "$1" && "$program" eval "$1" --lengths 1:3 &&
    "$program" report "$1" -o "$1.html"; } > /dev/null || return
  "$program" train "${toy[@]}" --out "$1" || status=$?
  whole "$1" && cmp twenty/checkpoint.safetensors "$1/checkpoint.safetensors" && [[ -s $1.html && $status == 2 ]]
}
into_closed() { unheard closed 2>&-; }
into_full() { unheard full 2> /dev/full; }
into_broken() { { sleep 0.2; unheard broken && touch heard; } 2>&1 > /dev/null | true && [[ -e heard ]]; }
check 'with stderr closed' into_closed
check 'where stderr is a pipe that nobody reads' into_broken
[[ ! -c /dev/full ]] || check 'and where it is on a full disk' into_full
closed_stdout() { "$program" list tasks >&-; }
check 'output that is closed' refuses 1 'cannot write to the standard output' closed_stdout
check 'no command' refuses 2 'One of list, train' "$program"
check 'no command of a sweep' refuses 2 'One of plan, run' "$program" sweep
check 'an unknown task' refuses 2 'even_pairs' "$program" train --task even_pair --encoding none --out x
check 'an unknown option' refuses 2 '--layers' "$program" train "${toy[@]}" --layer 2 --out x
check 'heads that do not divide' refuses 2 '3' "$program" train "${toy[@]}" --set heads=3 --out x
check 'a length beyond the pool' refuses 2 '64' "$program" train "${toy[@]}" --set train_length=80 --out x
check 'a folder that exists' refuses 2 'twenty' "$program" train "${toy[@]}" --out twenty
check 'a look inside beyond the pool' refuses 2 '64' "$program" inspect twenty --lengths 8,80 -o x
check 'a question with a wrong symbol' refuses 2 'its symbols are 0 1' "$program" ask twenty 012
zeros=$(printf '0%.0s' {1..100})
check 'a question beyond the pool' refuses 2 'answer slots take 101 positions' "$program" ask twenty "$zeros"
check 'none of these made a folder' test ! -e x
[[ ! -x ${program}_tests ]] || check 'no unit test' refuses 1 'no test case matches' "${program}_tests" -tc=nothing
truncate -s -100 cut/checkpoint.safetensors
check 'a truncated checkpoint' refuses 1 'checkpoint.safetensors' "$program" resume cut

checked smoke
