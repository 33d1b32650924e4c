"""Copies a wheel with another module, another program, and the tag of the systems that they are for.
usage: wheel.py WHEEL MODULE PROGRAM TAG FOLDER     TAG as manylinux_2_28_x86_64; prints the file that it writes
usage: wheel.py WHEEL MODULE PROGRAM TAG FOLDER     TAG as manylinux_2_28_x86_64; prints the file that it writes
"""

import base64
import hashlib
import sys
import zipfile
from pathlib import Path


def recorded(name, data):
    """The line of a file in RECORD."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def main(wheel, module, program, tag, folder):
    wheel, name = Path(wheel), Path(wheel).stem.rsplit("-", 1)[0]
    made = Path(folder) / f"{name}-{tag}.whl"
    others = {"poslab/_poslab.abi3.so": module, f"{name.rsplit('-', 2)[0]}.data/scripts/poslab": program}
    partial, record = made.with_name(made.name + ".partial"), ""
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as new:
        missing = set(others) - set(old.namelist())
        if missing:
            sys.exit(f"{wheel} has no {', '.join(sorted(missing))}")
        for info in old.infolist():
            if info.is_dir():
                continue
            data = Path(others[info.filename]).read_bytes() if info.filename in others else old.read(info)
            if info.filename.endswith(".dist-info/RECORD"):          # the last one
                data = (record + f"{info.filename},,\n").encode()
            elif info.filename.endswith(".dist-info/WHEEL"):
                data = b"".join(
                    line.rsplit(b"-", 1)[0] + f"-{tag}\n".encode() if line.startswith(b"Tag: ") else line
                    for line in data.splitlines(keepends=True)
                )
            record += recorded(info.filename, data)
            info.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(info, data)
    partial.rename(made)
    print(made)


main(*sys.argv[1:])
