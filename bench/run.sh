#!/usr/bin/env bash
# usage: ./dev bench [KIND] [OPTION...]
#
#   (none)        training, evaluation and memory against PyTorch and JAX, installed in .venv (6 GB): 40 minutes;
#                 --quick two; --schemes the most used schemes, 20 minutes; --decoder a causal decoder, a minute;
#                 --example the time of the example preset; --help has the options
#   kernels       every op alone, and products against OpenBLAS and oneDNN, as shares of this machine's limits
#   decoder       attention and decoding with ReRoPE against RoPE, to 16384 tokens: a minute
#   generate      tokens a second generated from a checkpoint, against transformers (.venv-huggingface): three minutes
#   python        training from Python against the command line, Python twins against C++ encodings: a minute
#   llama         tokens a second of a LLaMA of transformers, poslab's attention against its own: five minutes
#   view          `poslab view` draws 40 maps of 4096 x 4096; chromium opens and scrolls them: two minutes
#   web           steps a second of the page that trains, in headless chromium, against the program with one thread and
#                 AVX2, into bench/results/web.csv: three minutes, from a clean commit
#   t5            time and memory of a T5's encoder, against transformers: ten minutes
#   bf16 [--threads N]     training, evaluation, the decoder, T5 and generation with products in bf16 against fp32 and
#                 the peers in bf16, into bench/results/bf16-PROCESSOR-*.json and fp32-PROCESSOR-*.json: 40 minutes
#   ladder        one product, from three loops to tiles in bf16, into bench/results/ladder-PROCESSOR.csv: ten seconds
#   products [--turns N]   a training step with each matrix-product engine, into bench/results/products.csv: ten minutes
#   schemes       a training step of every scheme against one without positions, on one thread, into
#                 bench/results/schemes.csv, which the site reads: two minutes
# shellcheck source=tools/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tools/setup.sh"
this=./dev

processor() { if [[ -r /proc/cpuinfo ]]; then sed -n "/^model name/ { s/[^:]*: */# /p; q; }" /proc/cpuinfo; fi; }
ready() { needs products && build release poslab_bench; }

bf16() {   # OPTION...
  local precision out more name
  ready
  venv huggingface
  bench/venv.sh
  for precision in bf16 fp32; do
    out="bench/results/$precision-{processor}" more=(--precision "$precision" "$@")
    for name in train eval; do
      bench/compare.py --what $name --positions sequential --encoding none --encoding rope --encoding relative \
        --seconds 3 --out "$out-$name.json" "${more[@]}"
    done
    bench/compare.py --decoder --seconds 4 --out "$out-decoder.json" "${more[@]}"
    bench/t5.py --lengths 512 --peers "transformers,transformers compiled,jax" --seconds 6 --out "$out-t5.json" \
      "${more[@]}"
  done
  bench/generate.py --seconds 6 --out "bench/results/bf16-{processor}-write.json" --precision bf16 "$@"
}

kind=${1:-}
[[ -z $kind || $kind == -* ]] ||
  known bench "$kind" kernels decoder generate python llama view web t5 bf16 ladder products schemes
case $kind in
  python) python_module poslab_program && .venv-python/bin/python bench/python.py "${@:2}" ;;
  llama) torch_venv && .venv-torch/bin/python bench/llama.py "${@:2}" ;;
  view) build release poslab_program && bench/view.py "${@:2}" ;;
  web) needs browsers && build release poslab_program training_steps && tools/web && bench/web.py "${@:2}" ;;
  kernels | decoder) ready && build/release/poslab_bench "$@" ;;
  generate | t5) ready && venv huggingface && "bench/$1.py" "${@:2}" ;;
  bf16) bf16 "${@:2}" ;;
  ladder)
    ready
    { processor | tr '\n' ';'; build/release/poslab_bench ladder | sed '1s/^#//'; } > build/ladder.csv
    name=$(PYTHONPATH=bench python3 -c 'import command; print(command.short_name())')
    mv build/ladder.csv "bench/results/ladder-$name.csv" ;;
  schemes)
    ready
    { processor; build/release/poslab_bench schemes; } > build/schemes.csv && mv build/schemes.csv bench/results ;;
  products)
    ready
    { echo "$(processor); $(nproc) cores; $(date -u +%F)"; build/release/poslab_bench "$@"; } > build/products.csv
    mv build/products.csv bench/results ;;
  *) needs venv && trust_system && ready && bench/venv.sh && bench/compare.py "$@" ;;
esac
