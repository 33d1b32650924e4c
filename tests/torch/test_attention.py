"""pt.Scheme and pt.Attention as modules: parameters, memory, copies, caches, positions, and what they refuse."""

import copy
import io
import warnings

import numpy as np
import pytest
import torch
from torch.func import functional_call
from torch.utils.checkpoint import checkpoint

import poslab as pl
import poslab.torch as pt
from poslab.torch import bridge


def x_of(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_values_share_their_memory():
    t = x_of(2, 3, 4)
    own = bridge.shared(t, "t")
    assert own.numpy().ctypes.data == t.data_ptr()
    assert bridge.of_engine(own).data_ptr() == t.data_ptr()
    layer = pt.Attention("t5", 16, 2)
    layer.scheme.encoding.table.data[3, 1] = 7
    assert layer.scheme._built.parameters["encoding.table"].numpy()[3, 1] == 7


def test_without_positions_it_is_the_attention_of_pytorch():
    layer, x = pt.Attention("none", 32, 4, causal=True), x_of(2, 9, 32).requires_grad_()
    y = layer(x)
    y.square().sum().backward()
    got = [x.grad.clone(), *(p.grad.clone() for p in layer.parameters())]
    x.grad = None
    layer.zero_grad()
    q, k, v = (p(x).unflatten(-1, (4, 8)).transpose(1, 2) for p in (layer.query, layer.key, layer.value))
    other = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    other = layer.output(other.transpose(1, 2).flatten(-2))
    assert torch.allclose(y, other, atol=1e-5)
    other.square().sum().backward()
    for mine, theirs in zip(got, [x.grad, *(p.grad for p in layer.parameters())]):
        assert torch.allclose(mine, theirs, atol=1e-4)


def test_logits_and_weights_are_those_of_the_attention():
    layer, x = pt.Attention("rerope:window=3", 32, 4, causal=True, temperature="log_n:length=4"), x_of(1, 9, 32)
    s, a = layer.logits(x), layer.weights(x)
    assert a.shape == (1, 4, 9, 9) and not a.requires_grad and s.requires_grad
    assert torch.allclose(s.softmax(-1), a, atol=1e-5)
    mixed = torch.einsum("bhij,bjhd->bihd", a, layer.value(x).unflatten(-1, (4, 8)))
    assert torch.allclose(layer.output(mixed.flatten(-2)), layer(x), atol=1e-5)


def test_parameters_are_in_the_state_and_train():
    torch.manual_seed(0)
    layer, other = (pt.Attention("dape", 16, 2, causal=True, temperature="ssmax") for _ in range(2))
    names = set(layer.state_dict())
    assert {"scheme.encoding.layer0.w1", "query.weight"} < names and any("temperature" in n for n in names)
    x = x_of(2, 6, 16)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.01)
    losses = []
    for _ in range(60):
        loss = (layer(x) - x.flip(-1)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]
    other.load_state_dict(layer.state_dict())
    assert torch.equal(other(x), layer(x))


def test_copies_and_pickles_have_parameters_of_their_own():
    layer, x = pt.Attention("kerple", 16, 2), x_of(1, 6, 16)
    y = layer(x)
    stored = io.BytesIO()
    torch.save(layer, stored)
    stored.seek(0)
    for other in (copy.deepcopy(layer), torch.load(stored, weights_only=False)):
        assert torch.equal(other(x), y)
        with torch.no_grad():
            for p in other.scheme.parameters():
                p.fill_(0.5)
        assert not torch.equal(other(x), y) and torch.equal(layer(x), y)
    moved = copy.deepcopy(layer).double().float()       # tensors in other memory than the engine's
    assert torch.equal(moved(x), y)


def at_one_place(scheme):
    own = scheme._built.parameters
    return all(own[name].numpy().ctypes.data == p.data_ptr() for name, p in scheme.named_parameters())


def test_parameters_with_new_memory_come_back_to_the_engines():
    layer, x = pt.Attention("t5", 16, 2), x_of(1, 6, 16)
    other = pt.Attention("t5", 16, 2, seed=5)
    with torch.no_grad():
        layer.scheme.encoding.table.copy_(x_of(*layer.scheme.encoding.table.shape))
    other.load_state_dict(layer.state_dict(), assign=True)
    assert torch.equal(other(x), layer(x)) and at_one_place(other.scheme) and at_one_place(layer.scheme)
    other.double().float()
    assert torch.equal(other(x), layer(x)) and at_one_place(other.scheme)
    table = other.scheme.encoding.table
    other(x).sum().backward()
    torch.optim.SGD([table], lr=1).step()
    assert table.grad.abs().sum() > 0 and not torch.equal(other(x), layer(x))
    assert all(p.dtype == torch.float64 for p in copy.deepcopy(copy.deepcopy(other).double()).parameters())
    assert copy.deepcopy(other).share_memory().scheme.encoding.table.is_shared()
    other.scheme.encoding.table = torch.nn.Parameter(torch.zeros(1, 2))
    with pytest.raises(ValueError, match=r"parameter encoding.table is \(1, 2\); it must be \(32, 2\)"):
        other(x)


def test_no_grad_of_the_engine_leaves_no_gradient():
    scheme, q = pt.Scheme("t5", 16, 2), x_of(1, 6, 2, 8).requires_grad_()
    with pl.no_grad():
        y = scheme(q, q, q)
    assert not y.requires_grad and scheme(q, q, q).requires_grad and torch.equal(scheme(q, q, q), y)


@pytest.mark.parametrize("encoding", ["relative", "t5", "fire", "shaw", "dape"])
def test_other_parameters_are_those_of_their_call_alone(encoding):
    scheme = pt.Scheme(encoding, 16, 2, causal=True, temperature="ssmax")
    inputs = tuple(x_of(1, 5, 2, 8, seed=n).requires_grad_() for n in range(3))
    kept = {name: x.clone() for name, x in scheme.state_dict().items()}
    others = [{name: x_of(*x.shape, seed=n).requires_grad_() for name, x in kept.items()} for n in (3, 4)]

    def gradients(y, parameters):
        return torch.autograd.grad(y.square().sum(), [*inputs, *parameters.values()])
    y = scheme(*inputs)
    alone = [gradients(functional_call(scheme, p, inputs), p) for p in others]
    results = [functional_call(scheme, p, inputs) for p in others]
    assert not torch.allclose(results[0], results[1]) and torch.equal(scheme(*inputs), y)
    for wanted, result, parameters in zip(alone, results, others):
        assert all(torch.equal(a, b) for a, b in zip(gradients(result, parameters), wanted))
    assert all(torch.equal(x, kept[name]) for name, x in scheme.state_dict().items())


def test_other_parameters_may_begin_where_its_own_do():
    scheme, inputs = pt.Scheme("t5", 16, 2), tuple(x_of(1, 5, 2, 8, seed=n) for n in range(3))
    with torch.no_grad():
        scheme.encoding.table.copy_(x_of(*scheme.encoding.table.shape))
    row = scheme.encoding.table.detach()[:1].expand_as(scheme.encoding.table)
    y, wanted = (functional_call(scheme, {"encoding.table": table}, inputs) for table in (row, row.clone()))
    assert torch.equal(y, wanted) and not torch.equal(y, scheme(*inputs))


def test_a_graph_can_be_gone_through_again_and_what_was_changed_is_told():
    scheme, (q, k, v) = pt.Scheme("relative", 16, 2), (x_of(1, 5, 2, 8, seed=n).requires_grad_() for n in range(3))
    y = scheme(q, k, v)
    first = torch.autograd.grad(y.square().sum(), [q, *scheme.parameters()], retain_graph=True)
    again = torch.autograd.grad(y.square().sum(), [q, *scheme.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(first, again))
    y = scheme(q, k, v)
    with torch.no_grad():
        k.add_(1)
    with pytest.raises(RuntimeError, match="inplace"):
        y.sum().backward()


def test_the_tape_of_the_engine_is_left_as_it_was():
    x = pl.Tensor([[1.0, 2.0]], requires_grad=True)
    loss = pl.sum_all(x * x)
    length = pl.tape_length()
    layer, inputs = pt.Attention("fire", 16, 2, causal=True), x_of(1, 5, 16)
    layer(inputs).sum().backward()
    with torch.no_grad():
        layer(inputs)
    with pytest.raises(ValueError, match="layer 1 of 1"):
        layer.scheme(*(x_of(1, 5, 2, 8).requires_grad_() for _ in range(3)), layer=1)
    assert pl.tape_length() == length
    loss.backward()
    assert x.grad.tolist() == [[2.0, 4.0]]


@pytest.mark.parametrize("encoding, positions", [("rope", "sequential"), ("rerope:window=3", "sequential"),
                                                 ("t5", "randomized:max_position=64"), ("fire", "sequential"),
                                                 ("cable", "sequential"), ("forgetting", "sequential"),
                                                 ("none|rope", "sequential"), ("none*2+alibi*2", "sequential")])
@pytest.mark.parametrize("sequences", [1, 2])
def test_a_cache_gives_what_one_pass_gives(encoding, positions, sequences):
    layer = pt.Attention(encoding, 32, 4, key_heads=2, causal=True, positions=positions).eval()
    x = x_of(sequences, 12, 32)
    with torch.no_grad():
        cache = layer.cache(12, sequences)
        parts = [layer(x[:, a:b], cache=cache) for a, b in ((0, 5), (5, 6), (6, 7), (7, 12))]
        whole = layer(x, positions=cache.positions())
    assert torch.allclose(torch.cat(parts, 1), whole, atol=2e-5)
    with pytest.raises(ValueError, match="12 slots"), torch.no_grad():
        layer(x[:, :1], cache=cache)


def test_a_cache_with_given_positions_takes_no_call_without():
    layer, x, places = pt.Attention("rope", 32, 4, causal=True).eval(), x_of(1, 6, 32), torch.arange(6.0) * 3
    with torch.no_grad():
        cache = layer.cache(6)
        layer(x[:, :4], positions=places[:4], cache=cache)
        with pytest.raises(ValueError, match="give those of all 5 slots again"):
            layer(x[:, 4:5], cache=cache)
        newest = layer(x[:, 4:], positions=places, cache=cache)
        assert torch.allclose(newest, layer(x, positions=places)[:, 4:], atol=2e-5)


def test_random_positions_are_drawn_anew_while_training_alone():
    layer, x = pt.Attention("rope", 32, 4, positions="randomized:max_position=99"), x_of(1, 12, 32)
    assert not torch.equal(layer(x), layer(x))
    layer.eval()
    assert torch.equal(layer(x), layer(x))
    drawn = pl.samplers["randomized:max_position=99"].draw(12)
    assert torch.equal(layer(x), layer(x, positions=torch.tensor(drawn)))
    shared = pt.Scheme("rope", 32, 4, layers=2, positions="randomized")
    first, second = (pt.Attention(shared, 32, 4, layer=n) for n in range(2))
    assert torch.equal(first(x), first(x)) and second.scheme is first.scheme
    before = first(x)
    shared.next_pass()
    assert not torch.equal(first(x), before)


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_pass_that_is_repeated_for_its_gradient_has_the_same_positions(reentrant):
    random, x = {"positions": "randomized:max_position=99"}, x_of(1, 12, 32).requires_grad_()

    def gradient(y):
        x.grad = None
        y.square().sum().backward()
        return x.grad
    alone = pt.Attention("rope", 32, 4, **random)
    with pytest.raises(ValueError, match=r"randomized:.* other positions.*share a Scheme.*next_pass\(\)"):
        gradient(checkpoint(alone, x, use_reentrant=reentrant))
    shared = pt.Attention(pt.Scheme("rope", 32, 4, **random), 32, 4)
    for layer in (shared, pt.Attention("rope", 32, 4, positions="stretched"), alone.eval()):
        shared.scheme.next_pass()
        wanted = gradient(layer(x))
        assert torch.equal(gradient(checkpoint(layer, x, use_reentrant=reentrant)), wanted)


def test_padding_is_not_seen():
    layer, x = pt.Attention("alibi", 32, 4), x_of(2, 9, 32)
    y = layer(x, lengths=[9, 5])
    assert torch.allclose(y[1, :5], layer(x[1:, :5])[0], atol=1e-5) and torch.allclose(y[0], layer(x)[0], atol=1e-5)


def test_positions_are_added_at_the_first_door():
    layer, x = pt.Attention("sincos", 32, 4), x_of(2, 9, 32)
    assert torch.allclose(layer.embed(x) - x, layer.embed(x * 0), atol=1e-6) and layer.scheme.adds_to_embedding
    assert pt.Attention("rope", 32, 4).embed(x) is x


@pytest.mark.parametrize("shares", [False, True])
def test_an_embedding_that_is_not_added_is_warned_of(shares):
    scheme = pt.Scheme("learned", 32, 4, positions="randomized") if shares else None
    layer, x = pt.Attention(scheme, 32, 4) if shares else pt.Attention("learned", 32, 4, positions="randomized"), \
        x_of(2, 9, 32)
    with pytest.warns(UserWarning, match=r"learned adds positions to the embedding, and embed\(\) was not called"):
        layer(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        layer(layer.embed(x))
        copy.deepcopy(layer)(x)
        pt.Attention("rope", 32, 4)(x)


def test_threads_may_go_back_where_others_went_forward():
    import threading
    layer, x = pt.Attention("tupe", 16, 2), x_of(1, 5, 16)
    loss = layer(x).square().sum()
    wanted = torch.autograd.grad(loss, list(layer.parameters()), retain_graph=True)
    thread = threading.Thread(target=loss.backward)
    thread.start()
    thread.join()
    assert all(torch.equal(p.grad, w) for p, w in zip(layer.parameters(), wanted))


def test_under_autocast_the_encoding_computes_in_float32():
    layer, x = pt.Attention("rope", 16, 2), x_of(1, 4, 16).requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = layer(layer(x))
    y.float().sum().backward()
    assert y.dtype == torch.bfloat16 and x.grad.dtype == torch.float32
    assert torch.allclose(y.float(), layer(layer(x)), atol=0.02)


def test_what_cannot_be_done_is_named():
    layer = pt.Attention("rope", 16, 2)
    with pytest.raises(ValueError, match=r"the layer is torch.float64.*use layer.float\(\)"):
        layer.double()(x_of(1, 4, 16).double())
    with pytest.raises(ValueError, match=r"q is torch.float64.*use .float\(\)"):
        layer.scheme(*(x_of(1, 4, 2, 8).double() for _ in range(3)))
    with pytest.raises(ValueError, match=r"q is on meta.*move the model and its inputs there with .cpu\(\)"):
        pt.Attention("rope", 16, 2).to("meta")(x_of(1, 4, 16).to("meta"))
    layer = pt.Attention("rope", 16, 2)
    with pytest.raises(ValueError, match=r"x is torch.float64, and the layer is torch.float32; use x.float\(\)"):
        layer(x_of(1, 4, 16).double())
    with pytest.raises(ValueError, match="x is a ndarray; give a tensor"):
        layer(np.ones((1, 4, 16), "float32"))
    with pytest.raises(ValueError, match="'randomized' is a sampler; give it to the layer's constructor"):
        layer(x_of(1, 4, 16), positions="randomized")
    for kind in (torch.bfloat16, torch.float16, torch.bool):
        with pytest.raises(ValueError, match=f"positions are {kind}, which cannot hold every position; give whole"):
            layer(x_of(1, 4, 16), positions=torch.arange(4).to(kind))
    with pytest.raises(ValueError, match="encoding is None; name one of pl.encodings"):
        pt.Scheme(None, 16, 2)
    for x in (x_of(4, 16), x_of(1, 4, 8)):
        with pytest.raises(ValueError, match=r"it must be \(batch, time, 16\)"):
            layer(x)
    with pytest.raises(ValueError, match="torch.nn.Dropout after the layer"):
        pt.Attention("rope", 16, 2, dropout=.1)
    with pytest.raises(ValueError, match="causal is 'yes'; give True or False"):
        pt.Attention("rope", 16, 2, causal="yes")
    with pytest.raises(ValueError, match="d_model is 16.0; give a whole number"):
        pt.Attention("rope", 16.0, 2)
    with pytest.raises(ValueError, match=r"'alibi' is not a Scheme; write pt.Scheme\('alibi', d_model, heads\)"):
        pt.score_mod("alibi", 6)
    with pytest.raises(ValueError, match="takes a model of transformers.*'llama'"):
        pt.patch("llama", "rope")
    with pytest.raises(ValueError, match='did you mean "rope"'):
        pt.Attention("ropo", 16, 2)
    with pytest.raises(ValueError, match="width 16 with 3 heads"):
        pt.Attention("rope", 16, 3)
    with pytest.raises(ValueError, match=r"positions are \(4\); they must be \(6\)"):
        pt.Attention("rope", 16, 2)(x_of(1, 6, 16), positions=[0, 1, 2, 3])
    with pytest.raises(ValueError, match=r"positions have no gradient.*give positions.detach\(\)"):
        pt.Attention("rope", 16, 2)(x_of(1, 6, 16), positions=torch.arange(6.0, requires_grad=True))
    with pytest.raises(ValueError, match="a cache has no gradients"):
        layer = pt.Attention("rope", 16, 2, causal=True)
        layer(x_of(1, 4, 16), cache=layer.cache(8))
    with pytest.raises(ValueError, match="give causal=True"):
        pt.Attention("rope", 16, 2).cache(8)
    with pytest.raises(ValueError, match="give x and x_keys"):
        pt.Scheme("cable", 16, 2, causal=True)(x_of(1, 1, 2, 8), x_of(1, 3, 1, 8), x_of(1, 3, 1, 8))
    with pytest.raises(ValueError, match="belongs to the Scheme"):
        pt.Attention(pt.Scheme("rope", 16, 2), 16, 2, causal=True)


def test_numbers_are_those_of_the_engine():
    q, k, v = (x_of(1, 7, 2, 8, seed=n) for n in range(3))
    built = pl.encodings["rerope:window=2"].build(heads=2, d_model=16)
    wanted = built.attend(*(t.numpy() for t in (q, k, v))).numpy()
    assert np.array_equal(pt.Scheme("rerope:window=2", 16, 2)(q, k, v).numpy(), wanted)


@pytest.mark.parametrize("shape", [(1, 0, 32), (0, 4, 32)])
def test_an_empty_input_is_named(shape):
    layer = pt.Attention("rope", 32, 4)
    for call in (layer, layer.logits, layer.weights):
        with pytest.raises(ValueError, match=r"poslab.torch: q is \(.*\), which is empty; give one sequence"):
            call(torch.zeros(shape))
