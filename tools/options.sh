# For tools/lint and tests/tools/alone.sh, which compile each C++ file by itself: the compiler options that CMake adds
# for some files, and the files whose headers are missing here.
# shellcheck shell=bash
module='' toolkit='' unread='^$'
if ! module=$(.venv-python/bin/python -c 'import nanobind, sysconfig
print("-isystem", nanobind.include_dir(), "-isystem", sysconfig.get_path("include"))' 2> /dev/null); then
  unread+='|^python/'
  echo 'left out: python/, as there is no .venv-python (tools/python)'
fi
for folder in /usr/local/cuda .nvcc/lib/python3*/site-packages/nvidia/cu13; do
  [[ ! -e $folder/include/cuda_runtime.h ]] || toolkit="-isystem $folder/include"
done
if [[ ! $toolkit ]]; then
  unread+='|^cuda/(driver|cublas)[.]cpp$'
  echo 'left out: cuda/driver.cpp and cuda/cublas.cpp, as there is no CUDA toolkit'
fi
export module toolkit

options() {   # FILE
  case $1 in
    core/cpu/bf16/*) echo -DPOSLAB_ISA=avx512_bf16 -march=x86-64-v4 -mavx512bf16 ;;
    core/cpu/*) echo -DPOSLAB_ISA=baseline ;;
    core/kernels.cpp) echo '-DPOSLAB_ISAS=ISA(baseline)' ;;
    core/platform/exceptions_wasm.cpp) echo '-D__builtin_wasm_throw(tag,thrown)=std::abort()' ;;
    course/*) echo -Icourse -DPOSLAB_ISA=baseline -DPOSLAB_EMULATE ;;
    cuda/driver.cpp | cuda/cublas.cpp) echo "$toolkit" ;;
    python/*) echo "$module" ;;
    tests/cuda/emulated/record_key.cpp) echo '-DPOSLAB_EMULATE -D__builtin_clear_padding(x)=' ;;   # clang 19 has none
    tests/support/places.cpp) echo '-DPOSLAB_SOURCE="" -DPOSLAB_PROGRAM="" -DPOSLAB_COMPILER=""' ;;
    cuda/* | tests/*) echo -DPOSLAB_EMULATE ;;
    web/*) echo '-DPOSLAB_WEB -DPOSLAB_VERSION="" -Wno-unknown-attributes' ;;   # only WebAssembly has export_name
  esac
}
