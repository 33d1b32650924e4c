#!/bin/sh
# usage: tests/tools/venv_here.sh FOLDER
# The scripts of a virtual environment contain its folder's name, so after the tree was copied or moved, its pip would
# install into the original tree. This replaces that name by the present folder. FOLDER is below the top of the tree.
set -e
there=$1
was=$(sed -n 's/^command = .* -m venv //p' "$there/pyvenv.cfg" 2> /dev/null || true)
# shellcheck disable=SC3013                # dash and all other shells in use have it
[ "$was" ] && ! [ "$was" -ef "$there" ] || exit 0
set -- "$there"/bin/* "$there"/lib/python3*/site-packages/*.pth "$there/pyvenv.cfg"
python3 - "$(dirname "$was")" "$PWD" "$@" << 'END'
import os
import sys

old, new = (os.fsencode(folder) + b"/" for folder in sys.argv[1:3])
for path in sys.argv[3:]:
    if os.path.islink(path) or not os.path.isfile(path):
        continue
    with open(path, "rb") as file:
        before = file.read()
    after = before.replace(old, new)
    if b"\0" not in before and after != before:
        with open(path, "wb") as file:
            file.write(after)
END
echo "./dev: $there came from $was; its scripts name this folder now"
