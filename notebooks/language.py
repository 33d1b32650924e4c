"""The small language model of notebooks 07 and 08, which the program `poslab` trains and tests."""

import csv
import subprocess
import tempfile
from pathlib import Path

from poslab import program

HEADS, WIDTH, TRAINED = 4, 64, 32                    # 16 channels a head; windows of 32 tokens in training


class Model:
    """A decoder of two layers with RoPE, trained on `copy_grammar` for 600 steps."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()
        self._run("train", "--preset", "tiny", "--text", "copy_grammar", "--encoding", "rope", "--layers", 2,
                  "--d-model", WIDTH, "--heads", HEADS, "--key-heads", HEADS, "--d-ff", 128, "--train-length", TRAINED,
                  "--batch", 16, "--lr", 0.003, "--steps", 600, "--eval-times", 1, "--eval-samples", 16,
                  "--out", "model")

    def test(self, encoding, temperature="none"):
        """The model's test on long texts with this encoding: a list of dicts, one for each length, with accuracy and
        loss of all tokens, and those of each eighth of the text, such as accuracy_1 to accuracy_8."""
        out = Path(self.folder, "test.csv")
        self._run("eval", "model", "--encoding", encoding, "--temperature", temperature, "--times", "1/2/4/8",
                  "--samples", 32, "-o", out)
        return [{name: float(value) for name, value in row.items() if name != "set"}
                for row in csv.DictReader(out.read_text().splitlines()) if row["set"] == "plain"]

    def _run(self, *words):
        done = subprocess.run([program.path(), "lm", *map(str, words)], capture_output=True, text=True, cwd=self.folder)
        if done.returncode:
            raise RuntimeError(done.stderr)
