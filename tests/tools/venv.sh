#!/bin/sh
# usage: tests/tools/venv.sh FOLDER [OPTION OF PIP...]
# Makes .venv-FOLDER at the top, once, with the packages of requirements.txt in tests/FOLDER or tests/tools/FOLDER, in
# the versions given there. PyTorch and NumPy are those of .venv, which tests/reference/venv.sh makes, unless the file
# has NumPy too, or neither is needed (# alone). It takes 0.2 GB more for huggingface, 0.3 GB for published and for
# site, 0.4 GB for python, 20 MB for mutate. Its Python is the first python3 on the PATH.
set -e
cd "$(dirname "$0")/../.."
wanted=tests/${1:?the folder of tests/ that has requirements.txt}/requirements.txt
[ -f "$wanted" ] || wanted=tests/tools/$1/requirements.txt
there=.venv-$1
shift
alone=$(grep -E '^(numpy==|# alone)' "$wanted" || true)
[ "$alone" ] || tests/reference/venv.sh
tests/tools/venv_here.sh "$there"
if ! cmp -s "$wanted" "$there/made"; then
  rm -rf "$there"
  python3 -m venv "$there"
  for packages in "$there"/lib/python3*/site-packages; do
    [ "$alone" ] || ls -d "$PWD"/.venv/lib/python3*/site-packages > "$packages/torch.pth"
  done
  "$there/bin/pip" install --quiet --disable-pip-version-check "$@" -r "$wanted"
  cp "$wanted" "$there/made"
fi
