"""The tape, and pictures, whose contents are read from the drawn axes."""

import matplotlib
import numpy as np
import pytest

import poslab as pl

matplotlib.use("Agg")


def texts(axes):
    return [t.get_text() for t in axes.texts if t.get_text()]


def test_a_tape_is_what_was_recorded_and_is_drawn_with_gradients():
    x, w = pl.Tensor([[1.0, 2.0]], requires_grad=True), pl.Tensor([[3.0], [4.0]])
    (x * x)                                                    # recorded earlier, so not on this tape
    with pl.Tape() as tape:
        y = pl.softmax(x) * x
        loss = pl.sum_all(y @ w)
    assert [op for op, _, _ in tape.steps][:3] == ["softmax", "mul", "matmul"] and len(tape) == 4
    _, inputs, results = tape.steps[1]
    assert inputs[1].numpy().ctypes.data == x.numpy().ctypes.data and results[0].tolist() == y.tolist()
    assert "2  mul(1×2, 1×2) -> 1×2" in repr(tape)
    drawn = texts(tape.plot(x=x, loss=loss))
    assert "x\n1×2" in drawn and "2 mul\n1×2" in drawn and "constant\n2×1" in drawn
    assert not any("grad" in t for t in drawn)
    loss.backward()
    assert f"x\n1×2\n|grad| {np.linalg.norm(x.grad.numpy()):.3g}" in texts(tape.plot(x=x, loss=loss))
    pl.clear_tape()


def test_an_empty_tape_says_why():
    with pl.Tape() as tape:
        pl.softmax([[1.0, 2.0]])
    with pytest.raises(ValueError, match="the tape is empty"):
        tape.plot()


def test_a_tape_has_what_its_own_block_records():
    x = pl.Tensor([1.0], requires_grad=True)
    with pytest.raises(KeyError), pl.Tape():
        raise KeyError
    x * x
    with pl.Tape() as outer:
        pl.exp(x)
        with pl.Tape() as tape:
            pl.sum_all(x * x).backward()
        pl.exp(x)
    x * x
    assert [(op, len(inputs), len(results)) for op, inputs, results in tape.steps] == [("mul", 2, 1), ("sum", 1, 1)]
    assert [op for op, _, _ in outer.steps] == ["exp", "exp"]
    pl.clear_tape()


def test_matrices_are_drawn_in_one_scale_with_their_numbers():
    axes = pl.plot_matrices({"a": [[0, 1.25], [np.nan, -np.inf]], "b": np.arange(100.0).reshape(10, 10)}, row="r")
    assert texts(axes[0]) == ["0", "1.2"] and texts(axes[1]) == []
    assert axes[0].images[0].get_clim() == axes[1].images[0].get_clim() == (0, 99)
    assert [axes[0].get_title(), axes[0].get_ylabel(), axes[0].get_xlabel()] == ["a", "r", "key slot"]
    assert pl.plot_matrices(np.eye(2), one_scale=False).images[0].get_clim() == (0, 1)
    with pytest.raises(ValueError, match="one head of"):
        pl.plot_matrices(np.zeros((8, 3, 3)))
    with pytest.raises(ValueError, match="give as many"):
        pl.plot_matrices({"a": np.eye(2), "b": np.eye(2)}, axes=axes[0])


def test_accuracy_by_length(tmp_path):
    run = pl.train(preset="tiny", task="even_pairs", encoding="rope", steps=2, eval_lengths="1:5", eval_samples=8,
                   progress=False, out=tmp_path / "run")
    axes = pl.plot_lengths({"rope": run})
    line, majority, trained = axes.lines
    assert list(line.get_ydata()) == [100 * a for a in run.lengths["accuracy"]] and line.get_label() == "rope"
    assert list(majority.get_ydata()) == [100 * a for a in run.lengths["majority"]]
    assert trained.get_xdata()[0] == run.result["config"]["train_length"] and axes.get_ylabel() == "accuracy (%)"
    far = pl.train(preset="tiny", task="parity_check", encoding="none", steps=2, train_length=4, eval_lengths="1:6",
                   eval_samples=8, progress=False, out=tmp_path / "far")
    axes = pl.plot_lengths({"rope": run, "none": far})
    by_name = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    assert by_name["rope"] == [100 * a for a in run.lengths["accuracy"]]
    assert by_name["none"] == [100 * a for a in far.lengths["accuracy"]]
    assert by_name["majority"] == [100 * a for a in far.lengths["majority"]]
    assert {line.get_xdata()[0] for line in axes.lines[3:]} == {4, 20}
    assert axes.get_title() == "even_pairs, parity_check"
