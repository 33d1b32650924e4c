"""Trained models from Python: the engine's bits, and activations that are kept, replaced, or put into another run."""

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from built import PROGRAM

import poslab as pl

TINY = {"preset": "tiny", "task": "reverse_string", "encoding": "rope", "steps": 12, "eval_lengths": "1:4",
        "eval_samples": 8, "progress": False}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return [pl.train(out=folder / f"seed{seed}", seed=seed, **TINY) for seed in (1, 2)]


@pytest.fixture
def model(runs):
    return pl.load(runs[0])


BATCH = pl.tasks.reverse_string.batch(3, length=4)
TOKENS = BATCH["tokens"]


def test_a_device_that_is_not_there_is_refused(runs, tmp_path):
    for use in (lambda device: pl.load(runs[0], device), lambda device: pl.load(CHECKPOINTS / "qwen2", device=device),
                lambda device: pl.inspect(runs[0], tmp_path / "inside", device=device),
                lambda device: pl.evaluate(runs[0], device=device, progress=False),
                lambda device: pl.train(out=tmp_path / "run", device=device, **TINY)):
        with pytest.raises(ValueError, match='unknown device "gpu"'):
            use("gpu")
        if "no CUDA" in pl.about()["cuda"]:
            with pytest.raises(ValueError, match="device cuda: this build of poslab has no CUDA"):
                use("cuda")
    assert (pl.load(runs[0], device="")(TOKENS).numpy() == pl.load(runs[0])(TOKENS).numpy()).all()      # its device


def test_a_name_that_no_activation_has_is_refused(model):
    for nothing in ("block9.out", "block0.atention.*"):
        for what in (None, lambda name, x: x):
            with pytest.raises(ValueError, match=f'no activation is called "{re.escape(nothing)}"; names'):
                model(TOKENS, trace={nothing: what, "embedding": None})


def test_a_model_says_what_poslab_ask_says(runs, model):
    text = "0110"
    told = json.loads(subprocess.run([PROGRAM, "ask", runs[0].path, text, "--json"], check=True, capture_output=True,
                                     text=True).stdout)
    logits = model([[0, 1, 1, 0, 2, 2, 2, 2]], 4).numpy()[0]
    odds = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    assert np.allclose(odds, told["probabilities"], atol=1e-5)


def test_what_is_seen_changes_no_bit(model):
    plain = model(TOKENS, 4).numpy()
    again = model(TOKENS, 4, trace={"*": None}).numpy()
    assert (plain == again).all() and (model.seen["logits"].numpy() == plain).all()
    copied = model(TOKENS, 4, trace={"*.out": lambda name, x: x.numpy().copy(), "*": lambda name, x: None}).numpy()
    assert (plain == copied).all() and model.seen == {}
    assert np.allclose(model(TOKENS).numpy()[:, -4:], plain, atol=1e-6)


def test_names(model):
    names = model.names()
    assert names[:2] == ["embedding", "block0.attention.query"] and names[-1] == "logits"
    model(TOKENS, trace={"*": None})
    assert set(model.seen) == set(names)
    model(TOKENS, trace={"block0.attention.*": None, "*.logits": None})
    assert model.seen["block0.attention.weights"].shape == model.seen["block0.attention.logits"].shape


def test_a_silenced_head_is_one_without_rows_of_the_output_projection(model):
    def silence(name, x):
        return x * (np.arange(x.shape[2]) > 0)[:, None]

    silenced = model(TOKENS, trace={"block1.attention.heads": silence}).numpy()
    output = model.parameters["block1.attention.output"].numpy()
    assert not (silenced == model(TOKENS).numpy()).all()
    output[: len(output) // 8] = 0                                                       # the first of 8 heads
    assert (silenced == model(TOKENS).numpy()).all()


def test_gradients_of_activations_are_differences(model):
    def loss(trace, gradient):
        logits = model(TOKENS, 4, trace=trace, gradient=gradient)
        return pl.cross_entropy(logits, BATCH["targets"])

    loss({"block0.out": None}, True).backward()
    slope = model.seen["block0.out"].grad.numpy()
    assert slope.shape == model.seen["block0.out"].shape and model.parameters["head.w"].grad.shape[1] == 2
    way = np.sign(slope).astype("float32")
    step = 1e-2
    up, down = (loss({"block0.out": lambda name, x: x + by * way}, False).item() for by in (step, -step))
    assert np.isclose((up - down) / (2 * step), abs(slope).sum(), rtol=2e-2)
    assert pl.tape_length() == 0


def test_one_runs_activations_in_another(runs, model):
    other = pl.load(runs[1])
    expected = other(TOKENS, trace={"block*.out": None}).numpy()
    states = other.seen
    last = max(states)
    for name in ("head.w", "head.b"):
        model.parameters[name].numpy()[:] = other.parameters[name].numpy()
    assert not (model(TOKENS).numpy() == expected).all()
    assert (model(TOKENS, trace={last: lambda name, x: states[name]}).numpy() == expected).all()


def test_positions_of_your_own(model):
    assert (model(TOKENS, positions=range(8)).numpy() == model(TOKENS).numpy()).all()     # the run's positions
    moved = model(TOKENS, positions=[0, 1, 2, 9, 4, 5, 6, 7]).numpy()
    assert not (moved == model(TOKENS).numpy()).all()


def poslab(*words):
    return subprocess.run([PROGRAM, *words], check=True, capture_output=True).stdout.decode(errors="replace")


LM = {"command": "lm train", "preset": "tiny", "steps": 3, "eval_times": 1, "progress": False}
T5 = {"command": "t5 train", "tasks": "passkey:digits=1/line", "layers": 1, "decoder_layers": 1, "heads": 2,
      "d_model": 16, "d_ff": 24, "steps": 3, "train_length": 48, "eval_lengths": "48", "eval_samples": 4, "tokens": 64,
      "progress": False}


def test_a_language_model(tmp_path):
    (tmp_path / "text").mkdir()
    for name in "abcdefgh":
        (tmp_path / "text" / name).write_text(f"A small text, {name}, for a small model. " * 99)
    run = pl.train(text=tmp_path / "text", out=tmp_path / "lm", **LM)
    assert run.result["steps"] == 3 and "eval_times" in list(pl.options("lm train")["name"])
    other = pl.evaluate(run, times=2, encoding="rerope:window=64", name="far", progress=False)
    assert list(run.tests) == ["far"] and set(other.result["test"]) == {"encoding", "eval_times"}
    with pytest.raises(ValueError, match="encoding makes a model other than the run's; give a name"):
        pl.evaluate(run, encoding="rerope:window=64", progress=False)
    with pytest.raises(ValueError, match="unknown option \"lengths\""):
        pl.evaluate(run, lengths="1:4", progress=False)
    with pytest.raises(ValueError, match="unknown command \"ml train\""):
        pl.train(out=tmp_path / "no", **{**LM, "command": "ml train"})
    model = pl.load(run)
    tokens = [model.tokens("A small")]
    plain = model(tokens)
    assert (model(tokens, trace={"*": None}).numpy() == plain.numpy()).all()
    assert "block0.ffn.added" in model.names() and model.start is None
    how = {"temperature": 0.7, "top_k": 9, "seed": 3}
    words = [w for name, value in how.items() for w in (f"--{name}".replace("_", "-"), str(value))]
    said = poslab("lm", "generate", tmp_path / "lm", "--prompt", "A small", "--count", "12", *words)
    assert said == "A small" + model.write("A small", 12, **how) + "\n"
    assert model.write("A small", 12, **how) != model.write("A small", 12, **{**how, "seed": 4})
    for useless in ({"top_k": 3}, {"top_p": 0.2}, {"seed": 0}):
        why = f"^{[*useless][0]} changes nothing at temperature 0, .* give a temperature"
        with pytest.raises(ValueError, match=why):
            model.write("A small", 2, temperature=0, **useless)
    assert model.write(count=3) == model.write("#include <", 3)                 # the command line's default prompt
    first = model.write("A small", 1, temperature=0)
    assert model.tokens("A small" + first)[-1] == plain.numpy()[0, -1].argmax() or len(first) > 1
    for wrong, words in (({"count": 0}, "count is 0"), ({"top_p": 2.0}, "2"), ({"prompt": ""}, "empty"),
                         ({"temperature": -1.0}, "-1")):
        with pytest.raises(ValueError, match=words):
            model.write(**{"prompt": "A", "count": 3, **wrong})
    with pytest.raises(ValueError, match="is not a T5"):
        model.answer("A")
    with pytest.raises(ValueError, match="leave out read"):
        model(tokens, read=[[0]])


def test_a_decoder_of_a_task(tmp_path):
    poslab("decoder", "train", "--task", "reverse_string", "--preset", "tiny", "--steps", "5", "--eval-lengths", "1:4",
           "--encoding", "rope", "--out", tmp_path / "decoder")
    model = pl.load(tmp_path / "decoder")
    separator = 2                                                                 # the symbols are 0 and 1
    tokens = np.array([[0, 1, 1, separator], [1, 0, 1, separator]], dtype=np.int32)
    logits = model(tokens).numpy()
    assert logits.shape == (2, 4, separator + 1) and model.start is None
    assert (model(tokens, trace={"*": None}).numpy() == logits).all() and "block0.ffn.added" in model.names()
    assert (model(tokens, 1).numpy() == logits[:, 3:]).all()
    assert np.abs(model(tokens[:, :2]).numpy() - logits[:, :2]).max() < 1e-5      # later tokens change nothing
    far = model(tokens, positions=[0, 1, 2, 30]).numpy()
    assert np.abs(far[:, :3] - logits[:, :3]).max() < 1e-5 and np.abs(far[:, 3] - logits[:, 3]).max() > 1e-4
    with pytest.raises(ValueError, match="leave out read"):
        model(tokens, read=[[0]])
    with pytest.raises(ValueError, match="pl.tasks"):
        model.tokens("01")


def test_a_t5(tmp_path):
    pl.train(out=tmp_path / "t5", **T5)
    model = pl.load(tmp_path / "t5")
    prompt = "passkey a4 . . . . ask passkey"
    for how in ({"count": 4}, {"count": 4, "beams": 3, "length_penalty": 0.6, "early_stopping": "on"}):
        words = [w for name, value in how.items() for w in (f"--{name}".replace("_", "-"), str(value))]
        said = poslab("t5", "generate", tmp_path / "t5", "--prompt", prompt, *words)
        assert said == model.answer(prompt, **how) + "\n"
    tokens, read = [model.tokens(prompt)], [[model.start]]
    logits = model(tokens, read=read).numpy()
    assert logits.shape[:2] == (1, 1) and (model(tokens, read=read, trace={"*": None}).numpy() == logits).all()
    assert {"encoder.embedding", "decoder.block0.cross.heads", "logits"} <= set(model.names())
    answer = []
    for _ in range(4):                                          # greedy decoding by hand
        answer.append(int(model(tokens, read=[[model.start, *answer]]).numpy()[0, -1].argmax()))
    said = model.answer(prompt, 4)
    assert said == "" or model.tokens(said) == answer[:len(said.split())]
    pl.sum_all(model(tokens, read=read, gradient=True)).backward()
    assert model.parameters["embedding"].grad.shape == model.parameters["embedding"].shape
    for how, words in (({}, "give read"), ({"read": [0]}, "read have shape"), ({"read": [[0]] * 2}, "2 sequences"),
                       ({"read": [[-1]]}, "token -1"), ({"read": read, "outputs": 1}, "leave out outputs")):
        with pytest.raises(ValueError, match=words):
            model(tokens, **how)
    for wrong, words in (({"beams": 0}, "beams"), ({"early_stopping": "of"}, 'mean "off"'), ({"prompt": ""}, "empty"),
                         ({"prompt": "hello"}, "hello"), ({"count": 0}, "0"),
                         ({"length_penalty": 5.0}, "^length_penalty changes nothing with one beam; give beams, or"),
                         ({"early_stopping": "never"}, "^early_stopping changes nothing with one beam")):
        with pytest.raises(ValueError, match=words):
            model.answer(**{"prompt": prompt, **wrong})
    with pytest.raises(ValueError, match="is not a language model"):
        model.write("a4")


def test_positions_are_read_in_float64(model):
    apart = np.arange(TOKENS.shape[1]) / 4
    near, far = (model(TOKENS, 1, positions=first + apart).numpy() for first in (0, 2**22))     # RoPE reads distances
    assert np.abs(near - far).max() < 1e-5
    with pytest.raises(ValueError, match="positions have no gradient"):
        model(TOKENS, positions=pl.Tensor(apart, True), gradient=True)
    assert model(TOKENS, positions=pl.Tensor(apart, True)).shape == model(TOKENS).shape


def test_a_model_of_a_task_reads_no_text(model):
    with pytest.raises(ValueError, match="is a run of a task"):
        model.tokens("0110")


@pytest.mark.parametrize("trace, words", [
    ({"block0.out": lambda name, x: x.numpy()[:, 1:]}, "block0.out has shape"),
    ({"block0.attention.statistics": lambda name, x: x * 2}, "only to be shown"),
    ({"embedding": lambda name, x: "text"}, "numbers"),
])
def test_replacements_that_do_not_fit(model, trace, words):
    with pytest.raises((ValueError, TypeError), match=words):
        model(TOKENS, trace=trace)


@pytest.mark.parametrize("tokens, how", [
    ([0, 1], {}), ([[0, 3]], {}), ([[0, -1]], {}), ([[0, 1]], {"outputs": 3}), ([[0, 1]], {"outputs": 0}),
    ([[0, 1]], {"positions": [0, 1, 2]}), ([[0, 1]], {"positions": [[0, 1]] * 3}),
])
def test_input_that_does_not_fit(model, tokens, how):
    with pytest.raises(ValueError):
        model(tokens, **how)


def test_errors_of_a_function_come_out(model):
    def broken(name, x):
        raise KeyError(name)

    with pytest.raises(KeyError, match="embedding"):
        model(TOKENS, trace={"*": broken})
    with pytest.raises(ValueError, match="no run folder"):
        pl.load("nowhere")


CHECKPOINTS = Path(__file__).parents[1] / "data/huggingface"


def test_a_checkpoint_of_others_is_a_model_too(tmp_path):
    case = next(c for c in json.loads((CHECKPOINTS / "cases.json").read_text()) if c["name"] == "qwen2")
    model = pl.load(CHECKPOINTS / "qwen2")
    logits = model([case["tokens"]], trace={"block0.attention.weights": None}).numpy()[0]
    assert np.abs(logits[case["slots"]] - np.array(case["logits"])).max() < 1e-4 * np.abs(case["logits"]).max()
    T = len(case["tokens"])
    assert model.seen["block0.attention.weights"].shape == (1, 4, T, T)
    assert len(model.tokens("the end of the")) > 0 and "block1.out" in model.names()
    typed = [PROGRAM, "lm", "generate", "--hf", CHECKPOINTS / "qwen2", "--prompt", "the end", "--count", "20",
             "--temperature", "0"]
    told = subprocess.run(typed, check=True, capture_output=True).stdout.decode(errors="replace")
    assert told == "the end" + model.write("the end", 20, temperature=0) + "\n"
    with pytest.raises(ValueError, match="stay in its files"):
        model.parameters
    page = pl.inspect(CHECKPOINTS / "qwen2", tmp_path / "inside", lengths=[8, 16], samples=2, text="the end of the")
    assert "an external checkpoint" in page.text


def test_an_empty_prompt_is_the_beginning_of_a_text(tmp_path):
    gemma = pl.load(CHECKPOINTS / "gemma3")
    assert gemma.tokens("") == gemma.tokens("the")[:1] == [2] and len(gemma.write("", 5, temperature=0)) > 0
    with pytest.raises(ValueError, match="no token that begins a text"):
        pl.load(CHECKPOINTS / "qwen2").write("")
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (tmp_path / name).write_bytes((CHECKPOINTS / "qwen2" / name).read_bytes())
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"bos_token_id": 7}))
    model = pl.load(tmp_path)
    assert model.tokens("") == [7] and 7 not in model.tokens("the end")
    typed = [PROGRAM, "lm", "generate", "--hf", tmp_path, "--prompt", "", "--count", "9", "--temperature", "0"]
    told = subprocess.run(typed, check=True, capture_output=True).stdout.decode(errors="replace")
    assert told == model.write("", 9, temperature=0) + "\n"
    (tmp_path / "generation_config.json").write_text('{"bos_token_id": 9}')      # this file comes first
    assert pl.load(tmp_path).tokens("") == [9]
