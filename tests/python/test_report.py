"""`poslab report` of language models whose tokens differ: bits per byte alone compare them."""

import subprocess

from built import PROGRAM


def test_models_of_different_tokens_are_compared_by_bits_per_byte(tmp_path):
    text, page = tmp_path / "text.txt", tmp_path / "page.html"
    text.write_text("the quick brown fox jumps over the lazy dog\n" * 300)

    def trained(merges, seed):
        out = tmp_path / f"m{merges}-{seed}"
        sizes = "--layers 1 --heads 1 --key-heads 1 --d-model 16 --d-ff 16 --train-length 16 --steps 2 --warmup 1"
        subprocess.run([PROGRAM, "lm", "train", "--preset", "tiny", "--text", text, *sizes.split(), "--eval-times", "2",
                        "--eval-samples", "2", "--merges", str(merges), "--seed", str(seed), "--out", out],
                       check=True, capture_output=True)  # fmt: skip
        return out

    def report(*runs):
        subprocess.run([PROGRAM, "report", *runs, "-o", page], check=True, capture_output=True)
        return page.read_text()

    letters, words = ([trained(merges, seed) for seed in range(2)] for merges in (0, 40))
    both, one = report(*letters, *words), report(*letters)
    assert "only bits per byte compare" in both and "nats a token, against" not in both
    assert both.index("[merges=40]{c1} has ") < both.index("[merges=0]{c0} has ")  # bits of long tokens are fewer
    assert "Paired differences" not in both
    assert "only bits per byte compare" not in one and "with a loss of" in one
