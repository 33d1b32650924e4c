# For ./dev and the commands in tools/, which source this file: messages, packages, virtual environments, and builds
# of a preset. It makes the top of the tree the current folder, and must run in macOS's bash 3.2.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# shellcheck disable=SC2034                # this and the next are for scripts that source this file
presets=$(sed -n 's/.*"name": "\([a-z0-9]*\)", "inherits".*/\1/p' CMakePresets.json | paste -sd ' ' -)
# shellcheck disable=SC2034
version=$(sed -n 's/^project(poslab VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt 2> /dev/null) || true
this=$(basename "$0")
if [[ $this == dev ]]; then this=./dev; else this=tools/$this; fi

kernels=all      # the instruction sets that a build has kernels for
more_options=()  # options of CMake for the next build
architectures=   # the GPUs that a build with CUDA is for; empty: those of cmake/cuda.cmake

say() { printf '%s: %s\n' "$this" "$*"; }
stop() { printf '%s: %s\n' "$this" "$*" >&2; exit 1; }
refuse() { printf '%s: %s\n' "$this" "$*" >&2; exit 2; }   # for mistakes in the command line

header() {   # FILE: its opening comment
  awk 'NR > 1 {if (!/^#/ || /^# shellcheck/) exit; sub(/^# ?/, ""); print}' "$1"
}

takes() {   # COUNT ARGUMENT...: prints this command's opening comment if asked, and refuses arguments beyond COUNT
  if [[ ${2:-} == -h || ${2:-} == --help ]]; then header "$this"; exit; fi
  if (($# > $1 + 1)); then shift $(($1 + 1)); refuse "unexpected \"$1\"; $this --help says what it takes"; fi
}

asks_help() { [[ " $* " == *' -h '* || " $* " == *' --help '* ]]; }   # ARGUMENT...

# The known word that begins with the typed word, or else the nearest one. An edit adds, drops or changes a letter, or
# swaps two neighbours.
nearest() {   # WORD KNOWN...
  printf '%s\n' "${@:2}" | awk -v word="$1" '
    function least(a, b) {return a < b ? a : b}
    function edits(a, b,    d, i, j, cost) {
      for (i = 0; i <= length(a); ++i) d[i, 0] = i
      for (j = 0; j <= length(b); ++j) d[0, j] = j
      for (i = 1; i <= length(a); ++i) for (j = 1; j <= length(b); ++j) {
        cost = substr(a, i, 1) != substr(b, j, 1)
        d[i, j] = least(least(d[i - 1, j], d[i, j - 1]) + 1, d[i - 1, j - 1] + cost)
        if (i > 1 && j > 1 && substr(a, i, 1) == substr(b, j - 1, 1) && substr(a, i - 1, 1) == substr(b, j, 1))
          d[i, j] = least(d[i, j], d[i - 2, j - 2] + 1)
      }
      return d[length(a), length(b)]
    }
    BEGIN {word = tolower(word); best = 2 + int(length(word) / 4)}
    {
      distance = length(word) > 1 && index($0, word) == 1 ? 1 : edits(word, $0)
      if (distance < best) {best = distance; meant = $0}
    }
    END {print meant}'
}

known() {   # KIND WORD KNOWN...: refuses an unknown word
  local meant
  [[ " ${*:3} " != *" $2 "* ]] || return 0
  meant=$(nearest "${@:2}")
  [[ -z $meant ]] || refuse "unknown $1 \"$2\"; did you mean \"$meant\"?"
  refuse "unknown $1 \"$2\"; there are ${*:3}"
}

# Removes a build folder that CMake configured for another tree, as after copying a tree: it cannot be used here.
cmake() {
  local word before='' folder='' was
  for word; do
    case $before in
      -B) folder=$word ;;
      --preset) folder=${folder:-build/$word} ;;
    esac
    before=$word
  done
  if [[ $folder && -f $folder/CMakeCache.txt ]]; then
    was=$(sed -n 's/^CMAKE_CACHEFILE_DIR:INTERNAL=//p' "$folder/CMakeCache.txt")
    if [[ ! $was -ef $folder ]]; then
      say "$folder was configured as $was, so it is removed, configured and compiled again"
      rm -rf "$folder"
    fi
  fi
  command cmake "$@"
}

# A header that conda, brew or the like installed without root: in a folder next to one of the PATH, as CMake finds it.
beside_path() {   # HEADER
  local folder
  while read -r -d : folder; do
    [[ ! -e ${folder%/*}/include/$1 ]] || return 0
  done <<< "$PATH:"
  return 1
}

present() {   # WHAT: a file, a library, a file of clang, a module of Python, a header, or a command
  case $1 in
    file:*) test -e "${1#file:}" ;;
    lib:*) [[ $(PATH=$PATH:/sbin ldconfig -p) == *"${1#lib:}"* ]] ;;
    llvm:*) compgen -G "/usr/lib/llvm-19/${1#llvm:}" ;;
    debian:*) test -d "/usr/lib/python3/dist-packages/${1#debian:}" ;;
    import:*) python3 -c "import ${1#import:}" 2>&1 ;;
    header:*) test -e "$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')/${1#header:}" ;;
    *.h | *.hpp) compgen -G "/usr/include/$1" || compgen -G "/usr/include/*-linux-*/$1" ||
                 compgen -G "/usr/local/include/$1" || beside_path "$1" ;;
    *) PATH=$PATH:/usr/sbin:/sbin type -P "$1" ;;   # a user's PATH lacks these folders
  esac > /dev/null
}

# The libraries of the program that a bundle or a build for another machine must include.
libraries() { awk '$1 ~ /-dev$/ && $1 !~ /boost/ && / program/ {print $1}' tools/packages.txt; }

missing() {   # PURPOSE...: packages of these purposes (tools/packages.txt) that are not installed
  local package mark purposes purpose
  while read -r package mark purposes; do
    [[ $package != '#'* ]] || continue
    for purpose; do
      [[ " $purposes " == *" $purpose "* ]] || continue
      present "$mark" || printf '%s ' "$package"
      break
    done
  done < tools/packages.txt
}

needs() {   # PURPOSE...: installs what is missing, if it can
  local packages as_root=''
  packages=$(missing "$@")
  [[ -n $packages ]] || return 0
  if ! command -v apt-get > /dev/null; then
    say "not found: $packages(Debian's names); there is no apt-get here: install them your way if the build fails"
    return 0
  fi
  [[ $(id -u) == 0 ]] || as_root='sudo '
  local line="${as_root}apt-get update && ${as_root}env DEBIAN_FRONTEND=noninteractive"
  # waits for other installations, such as updates after the machine starts
  line+=" apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=120 ${packages% }"
  if [[ $as_root ]] && ! command -v sudo > /dev/null; then
    say "not found: $packages, and there is no sudo here; going on without. As root, install them by:"
    printf '  %s\n' "${line//sudo /}"
    return 0
  fi
  say "installing what is missing: $line"
  if ! sh -c "$line" < /dev/null; then
    [[ $as_root ]] || stop "that failed, see above; nothing was built. Once it works, run $this again"
    say "that failed, see above; going on without: $packages"
    return 0
  fi
  packages=$(missing "$@")
  [[ -z $packages ]] || stop "installed, but still not found: $packages"
}

# pip trusts only its own list of certificates; the system's list also has those of your network.
trust_system() {
  local store=/etc/ssl/certs/ca-certificates.crt
  [[ ${PIP_CERT:-}${REQUESTS_CA_BUNDLE:-} || ! -f $store ]] || export PIP_CERT=$store
}

venv() { needs venv && trust_system && tests/tools/venv.sh "$@"; }   # NAME [OPTION OF PIP...]: .venv-NAME

# The compiler of the CUDA kernels: an installed one, or one with a fixed version from NVIDIA on PyPI, in .nvcc (0.5
# GB), which compiles and links without a GPU too.
nvcc() {
  if type -P nvcc; then return; fi
  if [[ -x /usr/local/cuda/bin/nvcc ]]; then echo /usr/local/cuda/bin/nvcc; return; fi
  needs venv >&2
  trust_system
  cuda/nvcc.sh >&2 || stop 'there is no nvcc, and PyPI gave none (see above). Install the CUDA toolkit, or let pip
  reach PyPI: PIP_INDEX_URL names another index, https_proxy a proxy. If it says CERTIFICATE_VERIFY_FAILED, your network
  has a certificate of its own: put it in /usr/local/share/ca-certificates/NAME.crt and run update-ca-certificates, or
  name the file with PIP_CERT=/path/to/it.pem'
  ls -d "$PWD"/.nvcc/lib/python3*/site-packages/nvidia/cu13/bin/nvcc
}

build() {   # PRESET TARGET...
  local kernels=$kernels
  case $1 in libcxx | short | gradients) kernels= ;; esac         # these presets have one set of kernels
  local more=(${kernels:+-DPOSLAB_KERNELS=$kernels} ${more_options[@]+"${more_options[@]}"}) compiler packages
  if [[ -d .bundle/deps && -n $(missing program) ]]; then      # then its libraries come from .bundle
    export PATH=$PATH:$PWD/.bundle/bin
    more+=(-DCMAKE_PREFIX_PATH="$PWD/.bundle/deps/usr" -DCMAKE_BUILD_RPATH="$PWD/.bundle/lib"
           -DCMAKE_EXE_LINKER_FLAGS="-Wl,--disable-new-dtags,-rpath-link,$PWD/.bundle/lib")
  else
    needs program
  fi
  case $1 in
    cuda)
      compiler=$(nvcc) || return
      more+=(-DCMAKE_CUDA_COMPILER="$compiler" ${architectures:+-DCMAKE_CUDA_ARCHITECTURES="$architectures"}) ;;
    wasm | libcxx | short | gradients) needs "$1" ;;
    aarch64) needs arm ;;
    arm)                                # with the libraries of program and module, and Python to try the module
      # shellcheck disable=SC2046         # names of packages are words
      needs arm module && cmake/portable/arm_root.sh build/arm_root $(libraries) libpython3-dev python3-minimal ||
        return ;;
  esac
  # bash before 4.4 treats an empty array as unset
  cmake --preset "$1" ${more[@]+"${more[@]}"} && cmake --build "build/$1" --target "${@:2}" && return
  packages=$(missing program)
  [[ -z $packages || -d .bundle/deps ]] || say "that failed; what is not found here: $packages" >&2
  return 1
}

with_module() {   # PRESET TARGET...: a build with the module
  needs module && venv python || return
  more_options=(-DPOSLAB_PYTHON=ON -DPython_EXECUTABLE="$PWD/.venv-python/bin/python")
  build "$@" || return
  more_options=()
}

# The module of the release build; .venv-python finds it there, and finds PyTorch in .venv if it is installed.
python_module() {   # [TARGET...]
  with_module release poslab_python_types "$@" || return
  local packages
  for packages in .venv-python/lib/python3*/site-packages; do
    printf '%s\n' "$PWD/build/release/python" "$PWD/.venv/${packages#.venv-python/}" > "$packages/poslab.pth"
  done
}

# PyTorch and transformers, with the module of the release build.
torch_venv() {
  python_module && venv torch || return
  local packages
  for packages in .venv-torch/lib/python3*/site-packages; do echo "$PWD/build/release/python" > "$packages/poslab.pth"
  done
}

# The site's reference pages come from the module, its tables from the program, its links to files from Git's list.
site_ready() { needs site && python_module poslab_program && venv site; }

spine() {   # [FOLDER [OPTION...]]: builds the files that docs/spine.md lists, and nothing else
  needs spine && cmake -S cmake/spine -B "${1:-build/spine}" -G Ninja -DCMAKE_BUILD_TYPE=Release "${@:2}" &&
    cmake --build "${1:-build/spine}"
}

# Links TARGET for systems with an older glibc than this one's, from the objects of the release or the ARM build.
link_portable() {   # TARGET [arm]
  local file=build/portable${2:+-$2}/$1 prefix=()
  if [[ ${2:-} == arm ]]; then prefix=(aarch64-linux-gnu-); fi
  venv portable && cmake/portable/link.sh "build/${2:-release}" "$1" "${file/%poslab_program/poslab}" \
    .venv-portable/bin/python ${prefix[@]+"${prefix[@]}"}
}
