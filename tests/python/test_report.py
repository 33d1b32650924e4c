"""`poslab report` of language models with different tokens: only bits per byte can compare them."""

import subprocess

from built import PROGRAM


def test_models_of_different_tokens_are_compared_by_bits_per_byte(tmp_path):
    text, page = tmp_path / "text.txt", tmp_path / "page.html"
    text.write_text("the quick brown fox jumps over the lazy dog\n" * 300)

    def trained(merges, seed, *more):
        out = tmp_path / "-".join(["m", str(merges), str(seed), *more])
        sizes = "--layers 1 --heads 1 --key-heads 1 --d-model 16 --d-ff 16 --train-length 16 --steps 2 --warmup 1"
        subprocess.run([PROGRAM, "lm", "train", "--preset", "tiny", "--text", text, *sizes.split(), "--eval-times", "2",
                        "--eval-samples", "2", "--merges", str(merges), "--seed", str(seed), *more, "--out",
                        out], check=True, capture_output=True)  # fmt: skip
        return out

    def report(*runs):
        subprocess.run([PROGRAM, "report", *runs, "-o", page], check=True, capture_output=True)
        return page.read_text()

    letters, words = ([trained(merges, seed) for seed in range(2)] for merges in (0, 40))
    both, one = report(*letters, *words), report(*letters)
    assert "only bits per byte can be compared" in both and "nats a token, against" not in both
    assert both.index("[merges=40]{c1} needs ") < both.index("[merges=0]{c0} needs ")  # long tokens need fewer bits
    assert "Paired differences" not in both
    assert "only bits per byte can be compared" not in one and "with a loss of" in one
    assert "the lengths differ" not in one and "repeated texts" in one
    tails = [trained(0, seed, "--eval-tail", "8") for seed in range(2)]  # the same models, but other tokens count
    apart = report(*letters, *tails)
    assert "count other tokens (eval_tail, documents), so these cannot be compared" in apart
    assert "Paired differences" not in apart and "between them in loss" not in apart
    subprocess.run([PROGRAM, "lm", "eval", letters[0], "--times", "1", "--name", "near"], check=True,
                   capture_output=True)  # fmt: skip
    assert "the lengths differ, so the numbers cannot be compared" in report(letters[0])


def test_packed_documents_are_tested_without_repeats_and_have_no_charts_of_them(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("the quick brown fox jumps over the lazy dog\n" * 300)
    shown = subprocess.run([PROGRAM, "lm", "train", "--preset", "tiny", "--text", text, "--documents", "packed",
                            "--separator", r"\n", "--steps", "2", "--warmup", "1", "--layers", "1", "--train-length",
                            "16", "--eval-times", "1", "--eval-samples", "2", "--out", tmp_path / "run"],
                           check=True, capture_output=True, text=True).stdout  # fmt: skip
    assert "bits a byte" in shown and "repeated" not in shown
    page = tmp_path / "page.html"
    subprocess.run([PROGRAM, "report", tmp_path / "run", "-o", page], check=True, capture_output=True)
    assert "repeated texts" not in page.read_text() and "long texts" in page.read_text()


def test_losses_of_other_tokens_share_a_chart_that_says_so(tmp_path):
    for what in ("answer", "all"):
        subprocess.run([PROGRAM, "decoder", "train", "--task", "reverse_string", "--preset", "tiny", "--layers", "1",
                        "--steps", "2", "--warmup", "1", "--eval-lengths", "1:22", "--eval-samples", "2", "--loss-on",
                        what, "--out", tmp_path / what], check=True, capture_output=True)  # fmt: skip
    for runs in (["answer"], ["answer", "all"]):
        page = tmp_path / "page.html"
        subprocess.run([PROGRAM, "report", *(tmp_path / run for run in runs), "-o", page], check=True,
                       capture_output=True)  # fmt: skip
        assert ("Lines with another loss_on are means over other tokens" in page.read_text()) == (len(runs) > 1)
