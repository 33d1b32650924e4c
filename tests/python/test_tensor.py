"""Tensors: memory shared with NumPy and DLPack, operators, slices, gradients."""

import copy
import gc
import pickle
import subprocess
import sys

import numpy as np
import pytest

import poslab as pl


def values(*shape, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype("float32")


def address(array):
    return array.__array_interface__["data"][0]


def test_numpy_shares_memory_both_ways():
    a = values(3, 4)
    x = pl.from_numpy(a)
    assert address(x.numpy()) == address(a)
    a[1, 2] = 7
    assert x.numpy()[1, 2] == 7
    x.numpy()[0, 0] = -3
    assert a[0, 0] == -3
    assert address(np.asarray(x)) == address(a)


def test_dlpack_shares_memory_both_ways():
    x = pl.Tensor(values(2, 3))
    a = np.from_dlpack(x)
    assert address(a) == address(x.numpy())
    assert address(pl.from_dlpack(x).numpy()) == address(a)


def test_memory_lives_as_long_as_anyone_sees_it():
    a = pl.Tensor(values(1000, 100, seed=3)).numpy()          # the tensor itself is deleted
    x = pl.from_numpy(values(1000, 100, seed=4))              # so is the only name of this array
    gc.collect()
    pl.full([1000, 100], 9)
    np.testing.assert_array_equal(a, values(1000, 100, seed=3))
    np.testing.assert_array_equal(x.numpy(), values(1000, 100, seed=4))


def test_a_tensor_of_data_is_a_copy():
    a = values(3)
    x = pl.Tensor(a)
    assert address(x.numpy()) != address(a)
    assert address(pl.Tensor(x).numpy()) != address(x.numpy())
    assert pl.Tensor([[1, 2], [3, 4.5]]).tolist() == [[1, 2], [3, 4.5]]
    assert pl.Tensor(np.float64(0.1)).shape == (1,)
    assert pl.Tensor(values(4, 3).T).tolist() == values(4, 3).T.tolist()


def test_operators_are_those_of_numpy():
    a, b = values(2, 3), values(3, seed=1) + 2
    x, y = pl.Tensor(a), pl.Tensor(b)
    for ours, theirs in [(x + y, a + b), (x - y, a - b), (x * y, a * b), (x / y, a / b), (x + 1, a + 1),
                         (2 - x, 2 - a), (3 * x, 3 * a), (1 / y, 1 / b), (-x, -a), (abs(x), abs(a)), (y**3, b**3),
                         (x @ x.T, a @ a.T), (a + y, a + b), (a @ y.reshape(3, 1), a @ b.reshape(3, 1)),
                         (x >= 0, a >= 0), (x <= 0, a <= 0), (x > a[0], a > a[0]), (x < a[:1], a < a[:1]),
                         (0 > x, 0 > a), (x == a[0, 1], a == a[0, 1]), (a == x, a == a), (x != a[0], a != a[0]),
                         (x * np.nan == x * np.nan, a * np.nan == a)]:
        assert isinstance(ours, pl.Tensor)
        np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-5, atol=1e-6)


def test_a_tensor_is_equal_by_its_numbers_and_has_a_hash():
    x = pl.Tensor([0.0, 0.1, 2.0], requires_grad=True)
    assert pl.where(x == 0, 10, 20).tolist() == [10, 20, 20] and (x == 0.1).tolist() == [0, 1, 0]
    assert not (x == 0).requires_grad and 2 in x and 0.1 in x and 3 not in x and "a" not in x
    assert (x == None) is False and (x != "a") is True and {x: 1}[x] == 1                         # noqa: E711
    with pytest.raises(ValueError, match="shapes"):
        x == [1, 2]


INDICES = [np.s_[0], np.s_[-1], np.s_[1, 2], np.s_[1, 2, 3], np.s_[:, 1], np.s_[1:3], np.s_[:, ::2], np.s_[::-1],
           np.s_[..., 0], np.s_[:, None, 1], np.s_[0, ..., 1:3], np.s_[None], np.s_[3:0:-2, :, 1], np.s_[...],
           np.s_[np.array([2, 0, 2])], np.s_[np.array([[1], [3]])]]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_slices_are_those_of_numpy_and_have_gradients(index):
    a = values(4, 3, 5)
    x = pl.Tensor(a, requires_grad=True)
    y = x[index]
    expected = np.atleast_1d(a[index])
    np.testing.assert_array_equal(y.numpy(), expected)
    weight = values(*expected.shape, seed=5)
    pl.sum_all(y * weight).backward()
    grad = np.zeros_like(a)
    np.add.at(grad, index, weight if a[index].shape else weight[0])
    np.testing.assert_allclose(x.grad.numpy(), grad, rtol=1e-6)


def test_gradients_add_up_until_they_are_cleared():
    x = pl.Tensor([2.0], requires_grad=True)
    assert x.grad is None
    (x * x).backward()
    assert x.grad.item() == 4
    (x * x).backward()
    assert x.grad.item() == 8
    x.clear_grad()
    (3 * x).backward()
    assert x.grad.item() == 3


def test_no_grad_records_nothing():
    pl.clear_tape()
    x = pl.Tensor([1.0, 2.0], requires_grad=True)
    with pl.no_grad():
        with pl.no_grad():
            y = x * x
        z = x * x
    assert pl.tape_length() == 0 and not y.requires_grad and not z.requires_grad
    (x * x)
    assert pl.tape_length() == 1
    pl.clear_tape()


def test_a_second_backward_says_why_it_cannot():
    x = pl.Tensor([1.0], requires_grad=True)
    y = x * x
    y.backward()
    with pytest.raises(ValueError, match="the loss is a result of an earlier pass .* compute it again here"):
        y.backward()


def test_detach_and_reshape_share_memory():
    x = pl.Tensor(values(2, 3), requires_grad=True)
    assert address(x.detach().numpy()) == address(x.reshape(3, -1).numpy()) == address(x.numpy())
    assert not x.detach().requires_grad
    pl.sum_all(x.reshape([6]) * np.arange(6)).backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.arange(6).reshape(2, 3))


def test_copies_and_text():
    x = pl.Tensor([[1.0, 2.5]], requires_grad=True)
    for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert y.tolist() == x.tolist() and y.requires_grad and address(y.numpy()) != address(x.numpy())
    assert repr(x) == "Tensor([[1. , 2.5]], requires_grad=True)"
    assert len(x) == 1 and float(x[0, 1]) == 2.5 and x.ndim == 2 and x.size == 2 and x.dtype == np.float32


def test_a_notebook_shows_a_table():
    html = pl.Tensor([[1.0, 2.5], [float("nan"), -3e-9]], requires_grad=True)._repr_html_()
    assert "Tensor (2, 2), with a gradient<" in html
    assert "<tr><td>1</td><td>2.5</td></tr><tr><td>nan</td><td>-3e-09</td></tr>" in html
    big = pl.Tensor(np.arange(2 * 300 * 300).reshape(2, 300, 300))._repr_html_()
    assert "the first of 2 matrices" in big and big.count("<tr>") == 10 and len(big) < 3000
    assert "<td>0</td><td>1</td>" in big and "<td>9e+04</td></tr></table>" in big
    assert pl.Tensor([3.0])._repr_html_().count("<td>") == 1


def test_a_tape_that_only_grows_is_warned_of_once():
    code = ("import poslab as pl\n"
            "w = pl.Tensor([1.0], requires_grad=True)\n"
            "for n in range(30000): w * 2.0\n"
            "pl.clear_tape()\n"
            "for n in range(%d): pl.sum_all(w * 2.0).backward()\n")
    told = subprocess.run([sys.executable, "-c", code % 1], capture_output=True, text=True, timeout=300).stderr
    assert told.count("\n") == 1 and "10,000 ops" in told and "no_grad()" in told
    steps = code.replace("30000", "9000") % 6000
    assert subprocess.run([sys.executable, "-c", steps], capture_output=True, text=True, timeout=300).stderr == ""
