"""The program that the tests start: that of build/release, or of the build that $BUILD names."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "build" / os.environ.get("BUILD", "release") / "poslab"
HANGS = 600  # seconds after which a process counts as hanging, however busy the machine is
