#!/usr/bin/env bash
# usage: ./dev test [PART...]     builds and runs the tests, by default those of release
#
#   release, debug   the unit tests, races of emulated kernels, killed runs, an installation, the command line's tests
#   double           real = double: every gradient is checked against differences; gradients: most of these cases
#   lines, lint      width of lines, budgets of folders (tools/size.txt), subjects of commits, ./dev itself; linters
#   docs, site       links and code blocks of the Markdown pages; the documentation site
#   course [--all]   the steps of the course, cut, filled and checked; --all with each wrong answer
#   python, wheel, notebooks    the module with pytest, a wheel in an empty environment, the notebooks
#   wasm, web        a few steps as WebAssembly beside the native build; the page that trains, in headless browsers
#   spine, arm       the files of docs/spine.md, compiled alone, learn a task; their first steps as ARM's, under qemu
#   short, memcheck  short forms of asan and of tools/memcheck
#   cuda             nvcc compiles and links what is for the GPU, for sm_75 and sm_90; nothing runs
#   all              the parts above but debug and double, as in CI. These run only when named:
#   torch            poslab.torch; PyTorch comes into .venv and transformers into .venv-torch (6 GB)
#   asan, tsan       the unit tests, the command line's and Python's under GCC's sanitizers (docs/testing.md)
#   aarch64, libcxx  the unit tests compiled for ARM and run by qemu, or with clang's C++ library
#   alone, macos     compiles each file by itself; parses all of them with the headers of macOS
#   portable, portable-arm      the program and wheel for older systems, in a bare Debian 11; for ARM, by qemu
#
# Targets are built first, by all cores; in `all` the tests of the release build run beside the other builds. Then ctest
# runs as many parts at a time as there are cores, each with one thread and its output in build/test-NAME.log. The last
# line counts passed and failed tests. By hand, when all is built: ctest --test-dir build/tests -L python, and -N for
# the list.

passed=0 failed=0 summary='' failures='' parts=() running=() kept=()

one() {   # COMMAND...: a part that is a single case
  if "$@"; then echo 'test cases: 1 | 1 passed | 0 failed'
  else echo 'test cases: 1 | 0 passed | 1 failed'; return 1
  fi
}

# The first or the second half of a test program's cases. The program counts those of the other half as passed.
half() {   # PROGRAM 1|2
  local cases middle mine range status=0 bad emulator=()
  # Built for another processor, it runs under qemu.
  if [[ $1 == build/aarch64/* ]]; then emulator=(qemu-aarch64-static -L /usr/aarch64-linux-gnu); fi
  cases=$(${emulator[@]+"${emulator[@]}"} "$1" --count | grep -oE '[0-9]+$')
  middle=$((cases / 2))
  if (($2 == 1)); then mine=$middle range=--last=$middle
  else mine=$((cases - middle)) range=--first=$((middle + 1))
  fi
  ${emulator[@]+"${emulator[@]}"} "$1" "$range" > "$1.$2.log" 2>&1 || status=$?
  sed '/test cases:/d' "$1.$2.log"
  bad=$(sed -nE 's/.*test cases:.* ([0-9]+) failed.*/\1/p' "$1.$2.log")
  [[ $bad ]] || mine=1 bad=1        # it died, and has counted nothing
  printf 'test cases: %d | %d passed | %d failed\n' "$mine" $((mine - bad)) "$bad"
  return "$status"
}

# 500 steps, after which answers of length 10 are right far more often than by chance, which is 20 %.
spine_learns() { build/spine_test/spine 500 | awk '{print} $1 == 10 {learned = $2 > 50} END {exit !learned}'; }

# With the kernels of this machine alone: those of all take a quarter of an hour more to compile. Valgrind's part has
# others.
watched() {   # asan|tsan
  kernels=here
  with_module "$1" poslab_program poslab_tests poslab_python
}

planted_race() {   # is reported, with both threads
  { build/tsan/poslab_tests --no-skip --test-case='planted: two pieces*' 2>&1 || true; } |   # a report is its failure
    sed '/test cases:/d' | tee /dev/stderr | grep 'WARNING: ThreadSanitizer: data race' > /dev/null
}

# Tests ask for more memory than there is, which then is refused, as it is without the sanitizer.
huge=allocator_may_return_null=1

# Python is not built with the sanitizer, so its library comes first, and leaks of the interpreter are none of ours. A
# test forks a process that has threads, and both go on.
watched_python() {   # asan|tsan
  LD_PRELOAD="$(g++ -print-file-name="lib$1.so") $(g++ -print-file-name=libstdc++.so)" \
    ASAN_OPTIONS=detect_leaks=0:$huge TSAN_OPTIONS=die_after_fork=0:$huge:suppressions=$PWD/tests/tools/tsan.supp \
    PYTHONPATH=$PWD/build/$1/python BUILD=$1 tests/tools/pytest.sh python
}

# Half of the tests in the build with counters. All its threads keep to one processor: two that count in the same place
# at once would lose counts.
counted() {   # 1|2
  taskset -cp "$((($1 - 1) % $(nproc)))" "$BASHPID" > /dev/null || true
  LLVM_PROFILE_FILE=$PWD/build/coverage/profile/%4m.profraw POSLAB_THREADS=2 half build/coverage/poslab_tests "$1"
}

part() {   # NAME: runs it. It ends with a line "test cases: ... N passed ... N failed".
  case $1 in
    asan-[12]) ASAN_OPTIONS=$huge half build/asan/poslab_tests "${1#*-}" ;;
    coverage-[12]) counted "${1#*-}" ;;
    *-[12]) half "build/${1%-?}/poslab_tests" "${1#*-}" ;;
    gradients) build/gradients/poslab_gradient_tests --test-case='*gradient*,*reference*' ;;
    races) build/release/poslab_race_tests ;;
    memcheck) tests/tools/memcheck/run.sh build/release 'planted|a training' ;;
    asan-smoke | tsan-smoke) tests/tools/smoke.sh "build/${1%-smoke}/poslab" 10 ;;
    short) ASAN_OPTIONS=$huge:handle_segv=2 tests/tools/sanitizers/run.sh build/short/poslab_short_tests ;;
    tsan-planted) one planted_race ;;
    asan-python | tsan-python) watched_python "${1%-python}" ;;
    smoke) tests/tools/smoke.sh build/release/poslab ;;
    torture) PATH=$PWD/.venv-python/bin:$PATH tests/tools/torture.py build/release/poslab ;;
    install) tests/tools/install.sh build/release ;;
    spine) one spine_learns ;;
    python | torch) tests/tools/pytest.sh "$1" ;;
    wheel) tests/python/wheel.sh build/wheel/*.whl ;;
    notebooks) .venv-python/bin/python notebooks/run.py ;;
    arm) tests/aarch64/run.sh build/spine_test/losses build/spine_arm/losses ;;
    aarch64-steps) tests/aarch64/run.sh build/release/training_steps build/aarch64/training_steps ;;
    alone) tests/tools/alone.sh ;;
    portable) tests/tools/portable/run.sh build/portable/poslab build/release/poslab ;;
    portable-wheel) tests/tools/portable/wheel.sh build/wheel-portable/*.whl ;;
    macos) tests/tools/macos.sh build/release ;;
    portable-arm)
      tests/tools/portable/arm.sh build/portable-arm/poslab build/release/poslab build/wheel-portable-arm/*.whl ;;
    wasm) tests/wasm/compare.sh build/release/training_steps build/wasm/training_steps.wasm ;;
    web) node tests/web/engine.mjs build/web build/release/poslab build/release/training_steps ;;
    page) tests/web/run.sh build/web/past-the-edge.html build/release/poslab ;;
    docs) tests/tools/docs.sh build/release/poslab ;;
    site) tests/site/run.sh ;;
    course) CXX=${quick_compiler:-${CXX:-c++}} tests/course/course.py ${COURSE_ALL:+--all} ;;
    lint) tools/lint --changed && tests/tools/lint/run.sh ;;
    lines) one eval 'tests/tools/lines.sh && tests/tools/size.sh && tests/tools/dev.sh &&
                     .venv-mutate/bin/python tests/tools/mutate/mutate.py --self-test' ;;
  esac
}

# poslab waits until a file is on the disk before it goes on (lab/files/files.h). Tests write thousands of files that
# nobody keeps, and waited longer than they computed. So fsync returns at once here, by Debian's eatmydata; but not in
# torture, which tries to lose files.
wait_for_no_disk() {   # NAME
  case $1 in
    release-[12] | coverage-[12] | smoke | python | notebooks | docs) ;;
    *) return ;;
  esac
  if present lib:libeatmydata.so; then export LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}libeatmydata.so"; fi
}

# One part: its output in build/test-NAME.log; its seconds (real, user, system) and exit status in build/test-NAME.time.
run_part() {   # NAME
  local name=$1 status=0 TIMEFORMAT='%R %U %S'
  wait_for_no_disk "$name"
  export MPLCONFIGDIR=$PWD/build/matplotlib        # this matplotlib lists its own fonts
  case $name in smoke | tsan-*) ;; *) export POSLAB_THREADS=${POSLAB_THREADS:-1} ;; esac   # others run beside it
  { time part "$name" < /dev/null > "build/test-$name.log" 2>&1 || status=$?; } 2> "build/test-$name.time"
  echo "$status" >> "build/test-$name.time"
  return "$status"
}

add_up() {   # NAME: counts the cases of a part that has run
  local name=$1 log=build/test-$1.log good=0 bad=0 real user system status line
  read -r -d '' real user system status < <(cat "build/test-$name.time" 2> /dev/null || echo 0 0 0 1) || true
  while read -r line; do
    [[ $line =~ ([0-9]+)' passed'[^0-9]+([0-9]+)' failed' ]] || continue
    good=$((good + BASH_REMATCH[1])) bad=$((bad + BASH_REMATCH[2]))
  done < <(grep 'test cases:' "$log" 2> /dev/null)
  # A program that died, or that ran nothing, is a failure too, whatever it had counted.
  if ((bad == 0 && (status != 0 || good == 0))); then bad=1; fi
  if ((bad > 0)); then                    # the whole of it, and at the very end what says why
    sed "s/^/$name: /" "$log"
    failures+=$({ grep -E -B 4 -A 8 "ERROR|FAIL|[Ee]rror:" "$log" || cat "$log"; } | tail -n 60 | sed "s/^/$name: /")
    failures+=$'\n'
  fi
  passed=$((passed + good)) failed=$((failed + bad))
  [[ $name != [at]san-* ]] || kept+=("$name" "$good" "$bad" "$(awk "BEGIN {printf \"%.0f\", $user + $system}")")
  printf -v line '  %-10s %4d passed %4d failed  %5.0f s, %5.0f s of processor time; output in %s' \
    "$name" "$good" "$bad" "$real" "$(awk "BEGIN {print $user + $system}")" "$log"
  summary+=$line$'\n'
}

# Labels, durations and limits are in tests/parts.cmake; ctest starts the longest part first.
run_parts() {   # FOLDER PLACES: all of `parts`, so many at a time
  local name pattern
  mkdir -p "build/$1"
  echo "include($PWD/tests/parts.cmake)" > "build/$1/CTestTestfile.cmake"
  for name in ${parts[@]+"${parts[@]}"}; do rm -f "build/test-$name".{log,time}; done
  pattern=$(IFS='|'; echo "^(${parts[*]-})\$")
  ctest --test-dir "build/$1" --parallel "$2" --tests-regex "$pattern" --no-tests=ignore || true    # add_up sees it
}

ready() {   # WHAT PART... -- COMMAND...: the parts are run if the command, which builds what they take, succeeds
  local what=$1 mine=() began=$SECONDS
  shift
  while [[ $1 != -- ]]; do mine+=("$1"); shift; done
  shift
  if ("$@"); then
    parts+=("${mine[@]}")
    summary+="  built      $what in $((SECONDS - began)) s"$'\n'
  else
    failed=$((failed + 1)) summary+="  failed     $what could not be built, see above"$'\n'
  fi
}

# Nothing of it runs here: whether all of it compiles and links without a warning, for the oldest GPU and a recent one.
# In a folder of its own, as `./dev build cuda` compiles for seven.
compile_cuda() {   # GPUS TARGET FLAGS
  local compiler flags=$3
  needs program && compiler=$(nvcc) || return
  # Older ones have no --Ofast-compile.
  [[ $("$compiler" --help) == *--Ofast-compile* ]] || flags=
  cmake --preset cuda -B build/cuda_test -DCMAKE_CUDA_COMPILER="$compiler" -DCMAKE_CUDA_ARCHITECTURES="$1" \
    -DCMAKE_CUDA_FLAGS="$flags" ${as_one[@]+"${as_one[@]}"} &&
    cmake --build build/cuda_test --target "$2" 2>&1 | tee build/test-cuda.log &&
    ! grep 'warning' build/test-cuda.log
}

quick_spine() { CXX=${quick_compiler:-${CXX:-c++}} spine build/spine_test -DPOSLAB_QUICK_BUILD=ON; }

# The spine's first losses: natively, and for ARM.
arm_spine() {
  needs arm && quick_spine && cmake --build build/spine_test --target losses &&
    cmake -S cmake/spine -B build/spine_arm -G Ninja -DCMAKE_BUILD_TYPE=Release \
      --toolchain "$PWD/cmake/aarch64.cmake" &&
    cmake --build build/spine_arm --target losses
}
for_memcheck() { needs memcheck && build release poslab_memcheck poslab_memcheck_ops; }
for_macos() { venv portable && build release poslab_program; }
for_older() { ./dev build portable && tools/wheel portable; }
for_aarch64() { build release training_steps && build aarch64 poslab_tests training_steps; }
for_wasm() { build release training_steps && build wasm training_steps; }   # natively and as WebAssembly
for_web() { needs page browsers && build release poslab_program training_steps && tools/web; }
for_lint() { needs lint && venv lint; }

# What all parts take: Debian's packages at once, and what comes from PyPI while the compiler works. A part that needs
# something makes it if it is not there.
fetch_all() {
  (needs program tests torture course module site page short browsers memcheck arm lint) || return 0
  trust_system
  (tests/tools/venv.sh python && tests/tools/venv.sh site) > build/venvs.log 2>&1 &
  fetching=$!
}

# meanwhile: the tests of the parts before it run beside the builds of the parts after it
ci_parts='release memcheck docs lint lines meanwhile
  python notebooks wheel wasm web site course gradients short cuda spine arm'
all_parts="${ci_parts/meanwhile/} debug double torch aarch64 libcxx portable portable-arm macos alone asan tsan"

run_tests() {   # [PART...]
  (($#)) || set -- release
  local part began=0 cores of_release='poslab_program poslab_tests poslab_race_tests'
  cores=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 1)
  # shellcheck disable=SC2086                 # words
  [[ $* == all || $* == 'course --all' ]] || for part; do known 'part of the tests' "$part" $all_parts; done
  local gpus='75-real;90-real' target=poslab_cuda_tests nvcc_flags='' fetching=''
  local as_one=()                              # for the next builds of CUDA's kernels
  mkdir -p build
  if [[ $* == 'course --all' ]]; then set -- course; export COURSE_ALL=1; fi
  if [[ $* == all ]]; then
    # shellcheck disable=SC2086               # words
    set -- $ci_parts
    of_release=all                             # the benchmark, too, which no test calls
    gpus=90-real target=cuda_device            # ./dev test cuda has the oldest one, too, and links the tests,
    nvcc_flags=--Ofast-compile=max             # and optimizes
    as_one=(-DPOSLAB_CUDA_SOURCES_AS_ONE=16)
    fetch_all
    quick_compiler=$(type -P clang++-19 || true)         # takes half the time of g++ where nothing is optimized
    export quick_compiler
  fi
  if [[ " $* " =~ ' '(release|debug|double|gradients)' ' ]]; then
    (needs tests torture) || say 'no OpenBLAS: its engine is not tested; no eatmydata: tests wait for the disk'
  fi
  for part; do
    if [[ $part == python && $fetching ]]; then wait "$fetching" || say 'see build/venvs.log; again:'; fi
    case $part in
      memcheck | macos | wasm | lint) ready "$part" "$part" -- "for_$part" ;;
      web) ready web web page -- for_web ;;
      aarch64) ready aarch64 aarch64-{steps,1,2} -- for_aarch64 ;;
      portable) ready portable portable{,-wheel} -- for_older ;;
      portable-arm) ready portable-arm portable-arm -- tools/wheel portable arm ;;
      wheel) ready wheel wheel -- tools/wheel ;;
      lines) ready 'what plants faults' lines -- venv mutate ;;
      docs) ready docs docs -- build release poslab_program ;;
      course) ready course course -- needs course ;;
      site) ready site site -- site_ready ;;
      cuda)
        if (compile_cuda "$gpus" "$target" "$nvcc_flags"); then
          passed=$((passed + 1)) summary+="  compiled   $target by nvcc for $gpus"$'\n'
        else failed=$((failed + 1)) summary+="  failed     nvcc failed or warned, see build/test-cuda.log"$'\n'
        fi ;;
      python | notebooks) ready "$part" "$part" -- python_module poslab_program ;;
      torch) ready torch torch -- torch_venv ;;
      spine) ready spine spine -- quick_spine ;;
      arm) ready arm arm -- arm_spine ;;
      meanwhile)
        run_parts early $((cores + 1)) > build/early.log 2>&1 &
        running=(${parts[@]+"${parts[@]}"}) parts=() began=$SECONDS ;;
      libcxx) ready libcxx libcxx-{1,2} -- build libcxx poslab_tests ;;
      alone) ready alone alone -- needs program ;;
      asan) ready asan asan-{1,2,smoke,python} -- watched asan ;;
      gradients) ready gradients gradients -- build gradients poslab_gradient_tests ;;
      short) ready short short -- build short poslab_short_tests ;;
      tsan) ready tsan tsan-{planted,1,2,smoke,python} -- watched tsan ;;
      release)
        more_options=(${as_one[@]+"${as_one[@]}"})
        # shellcheck disable=SC2086             # words
        ready release torture release-1 release-2 smoke races install -- build release $of_release
        more_options=() ;;
      *) ready "$part" "$part-1" "$part-2" -- build "$part" all ;;
    esac
  done
  ((began)) || began=$SECONDS
  run_parts tests "$cores"
  if ((${#running[@]})); then wait; cat build/early.log; fi
  for part in ${running[@]+"${running[@]}"} ${parts[@]+"${parts[@]}"}; do add_up "$part"; done
  ((${#kept[@]} == 0)) || tests/tools/sanitized.py "${kept[@]}"
  summary+="  tests in $((SECONDS - began)) s"$'\n'
  [[ -z $failures ]] || printf '\nWhat failed:\n%s' "$failures"
  printf '\n%s\n%d passed, %d failed\n' "$summary" "$passed" "$failed"
  ((failed == 0))
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then        # as ctest calls it
  # shellcheck source=tools/setup.sh
  . "$(dirname "$0")/../../tools/setup.sh"
  run_part "$1"
fi
