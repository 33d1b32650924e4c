"""Hugging Face's transformers: https://github.com/huggingface/transformers"""

import torch
from cases import FLOAT32, case, products
from transformers import (
    BertConfig,
    DebertaConfig,
    DebertaV2Config,
    GPTNeoXConfig,
    Llama4TextConfig,
    LlamaConfig,
    MistralConfig,
    SwinConfig,
    T5Config,
    VitsConfig,
    Wav2Vec2BertConfig,
    XLNetConfig,
)
from transformers.masking_utils import create_sliding_window_causal_mask
from transformers.models.bert.modeling_bert import BertSelfAttention
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.deberta import modeling_deberta
from transformers.models.deberta_v2 import modeling_deberta_v2
from transformers.models.gpt_neox import modeling_gpt_neox
from transformers.models.gptj import modeling_gptj
from transformers.models.llama import modeling_llama
from transformers.models.llama4 import modeling_llama4
from transformers.models.mistral import modeling_mistral
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor
from transformers.models.roformer.modeling_roformer import RoFormerSelfAttention, RoFormerSinusoidalPositionalEmbedding
from transformers.models.swin.modeling_swin import SwinSelfAttention
from transformers.models.t5.modeling_t5 import T5Attention
from transformers.models.vits.modeling_vits import VitsAttention
from transformers.models.wav2vec2_bert.modeling_wav2vec2_bert import Wav2Vec2BertSelfAttention
from transformers.models.xlnet.modeling_xlnet import XLNetModel, XLNetRelativeAttention

APART = [0, 1, 2, 5, 6, 11, 17, 18, 30, 45]  # positions that are not slot numbers


class Given(torch.nn.Module):
    """Stands in for a projection, and returns a tensor that we have drawn."""

    def __init__(self, result):
        super().__init__()
        self.result = result

    def forward(self, _):
        return self.result


def given(d, attention, *names):
    """The attention module, with its projections replaced by our q, k and v."""
    for name, t in zip(names, (d.q, d.k, d.v)):
        setattr(attention, name, Given(t.reshape(1, d.T, d.C)))
    return attention.eval()


# Rotations


def llama(d, **more):
    """The logits with Llama's rotary embedding; more: other keys of its configuration."""
    config = LlamaConfig(
        hidden_size=d.C, num_attention_heads=d.H, head_dim=d.D, **({"max_position_embeddings": 2048} | more)
    )
    rotary = modeling_llama.LlamaRotaryEmbedding(config)
    cos, sin = rotary(d.x, d.p[None].long())
    return products(*modeling_llama.apply_rotary_pos_emb(d.qh, d.kh, cos, sin))


ROTARY = {"tolerance": 2e-6, "why": FLOAT32, "head_dim": 8, "heads": 2}


@case("llama", "rope:pairing=half", "transformers", "LlamaRotaryEmbedding", positions=APART, **ROTARY)
def _(d):
    return llama(d)


@case("llama_base", "rope:pairing=half,base=500000", "transformers", "LlamaRotaryEmbedding, rope_theta",
      positions=APART, **ROTARY)  # fmt: skip
def _(d):
    return llama(d, rope_theta=500000.0)


@case("llama_abf", "abf:pairing=half", "transformers", "LlamaRotaryEmbedding, rope_theta as in Llama 3",
      positions=APART, **ROTARY)  # fmt: skip
def _(d):
    return llama(d, rope_theta=500000.0)


@case("llama_linear", "pi:factor=8,pairing=half", "transformers", "rope_type linear", positions=APART, **ROTARY)
def _(d):
    return llama(d, rope_scaling={"rope_type": "linear", "factor": 8.0})


# 10 slots, but trained on 4. transformers computes the number of slots as the largest position + 1.
@case("llama_dynamic", "dynamic_ntk:factor=2,length=4,pairing=half", "transformers", "rope_type dynamic", **ROTARY)
def _(d):
    return llama(d, rope_scaling={"rope_type": "dynamic", "factor": 2.0}, max_position_embeddings=4)


@case("llama_dynamic_short", "dynamic_ntk:factor=2,length=40,pairing=half", "transformers",
      "rope_type dynamic, shorter than in training", **ROTARY)  # fmt: skip
def _(d):
    return llama(d, rope_scaling={"rope_type": "dynamic", "factor": 2.0}, max_position_embeddings=40)


WIDE = ROTARY | {"head_dim": 64, "positions": [0, 1, 2, 5, 6, 11, 17, 30]}  # a ramp only shows with many channels
LONGER = {"max_position_embeddings": 4096}
YARN = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 512}


@case("llama_yarn", "yarn:factor=8,length=512,pairing=half", "transformers", "rope_type yarn", **WIDE)
def _(d):
    return llama(d, **LONGER, rope_scaling=YARN)


@case("llama_yarn_not_truncated", "yarn:factor=8,length=512,truncate=off,pairing=half", "transformers",
      "rope_type yarn, truncate = False", **WIDE)  # fmt: skip
def _(d):
    return llama(d, **LONGER, rope_scaling=YARN | {"truncate": False})


@case("llama_yarn_betas", "yarn:factor=8,length=512,beta_fast=16,beta_slow=2,pairing=half", "transformers",
      "rope_type yarn, beta_fast, beta_slow", **WIDE)  # fmt: skip
def _(d):
    return llama(d, **LONGER, rope_scaling=YARN | {"beta_fast": 16.0, "beta_slow": 2.0})


@case("deepseek_yarn", "yarn:factor=8,length=512,mscale=1,mscale_all_dim=0.5,pairing=half", "transformers",
      "rope_type yarn, mscale and mscale_all_dim as in DeepSeek", **WIDE)  # fmt: skip
def _(d):
    return llama(d, **LONGER, rope_scaling=YARN | {"mscale": 1.0, "mscale_all_dim": 0.5})


LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}


@case("llama3", "llama3:length=512,base=500000,pairing=half", "transformers", "rope_type llama3", **WIDE)
def _(d):
    return llama(d, rope_theta=500000.0, rope_scaling=LLAMA3 | {"original_max_position_embeddings": 512})


@case("gpt_neox", "partial_rope:fraction=0.25,pairing=half", "transformers", "GPTNeoXRotaryEmbedding, rotary_pct",
      positions=APART, **ROTARY | {"head_dim": 16})  # fmt: skip
def _(d):
    config = GPTNeoXConfig(hidden_size=d.C, num_attention_heads=d.H, rotary_pct=0.25)
    cos, sin = modeling_gpt_neox.GPTNeoXRotaryEmbedding(config)(d.x, d.p[None].long())
    return products(*modeling_gpt_neox.apply_rotary_pos_emb(d.qh, d.kh, cos, sin))


SHORT, LONG = [1.0, 1.25, 1.5, 2.0], [1.0, 2.0, 4.0, 8.0]
LONGROPE = {"rope_type": "longrope", "short_factor": SHORT, "long_factor": LONG}


def longrope(d, trained):
    return llama(d, rope_scaling=LONGROPE | {"factor": 8.0}, original_max_position_embeddings=trained,
                 max_position_embeddings=8 * trained)  # fmt: skip


@case("longrope", "longrope:long=1/2/4/8,short=1/1.25/1.5/2,length=4,pairing=half", "transformers",
      "rope_type longrope", **ROTARY)  # fmt: skip
def _(d):
    return longrope(d, 4)


@case("longrope_short", "longrope:long=1/2/4/8,short=1/1.25/1.5/2,length=40,pairing=half", "transformers",
      "rope_type longrope, shorter than in training", **ROTARY)  # fmt: skip
def _(d):
    return longrope(d, 40)


@case("gptj", "rope", "transformers", "GPT-J's apply_rotary_pos_emb", positions=APART, **ROTARY)
def _(d):
    table = modeling_gptj.create_sinusoidal_positions(64, d.D)[d.p.long()][None]
    sin, cos = table.chunk(2, dim=-1)
    return products(
        *(modeling_gptj.apply_rotary_pos_emb(t, sin, cos).transpose(1, 2) for t in (d.q, d.k)),
    )


@case("roformer", "rope", "transformers", "RoFormerSelfAttention, of RoPE's authors", positions=APART, **ROTARY)
def _(d):
    table = RoFormerSinusoidalPositionalEmbedding(64, d.D)
    table._init_weight()
    turned = RoFormerSelfAttention.apply_rotary_position_embeddings(table.weight[d.p.long()][None, None], d.qh, d.kh)
    return products(*turned)


# Biases


@case("bloom", "alibi", "transformers", "Bloom's build_alibi_tensor", causal=True, expects="logits but for a row's")
def _(d):
    return products(d.qh, d.kh) + build_alibi_tensor(torch.ones(1, d.T), d.H, d.q.dtype).reshape(1, d.H, 1, d.T)


@case("bloom_6_heads", "alibi", "transformers", "Bloom's build_alibi_tensor", causal=True, heads=6,
      expects="logits but for a row's", tolerance=1e-6, why="the library computes its slopes in float32")  # fmt: skip
def _(d):
    return products(d.qh, d.kh) + build_alibi_tensor(torch.ones(1, d.T), d.H, d.q.dtype).reshape(1, d.H, 1, d.T)


@case("mpt", "alibi", "transformers", "build_mpt_alibi_tensor", causal=True, heads=6, expects="logits but for a row's")
def _(d):
    return products(d.qh, d.kh) + build_mpt_alibi_tensor(d.H, d.T)[None]


FAR = [0, 1, 2, 5, 9, 17, 33, 70, 100, 150]


def t5(d, causal, **config):
    """The logits of T5's attention, without 1 / sqrt(D). It computes slots 0, 1, 2, ...; some of these are compared."""
    config = T5Config(d_model=d.C, d_kv=d.D, num_heads=d.H, is_decoder=causal, **config)
    layer = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    layer.relative_attention_bias.weight.data = d.param("table", config.relative_attention_num_buckets, d.H)
    at, slots = d.p.long(), int(d.p[-1]) + 1
    return d.qh @ d.kh.transpose(-1, -2) + layer.compute_bias(slots, slots)[:, :, at][..., at]


@case("t5", "t5:unscaled", "transformers", "compute_bias of T5Attention, an encoder's", positions=FAR)
def _(d):
    return t5(d, False)


@case("t5_decoder", "t5:unscaled", "transformers", "compute_bias of T5Attention, a decoder's", positions=FAR,
      causal=True)  # fmt: skip
def _(d):
    return t5(d, True)


@case("t5_buckets", "t5:unscaled,buckets=8,max_distance=12", "transformers", "compute_bias of T5Attention, few buckets",
      heads=2, positions=FAR)  # fmt: skip
def _(d):
    return t5(d, False, relative_attention_num_buckets=8, relative_attention_max_distance=12)


@case("swin", "relative_bias:clip=9", "transformers", "SwinSelfAttention, a window of one row", expects="weights")
def _(d):
    attention = SwinSelfAttention(SwinConfig(), d.C, d.H, (1, d.T))
    attention.relative_position_bias_table.data = d.param("layer0.table", 2 * d.T - 1, d.H).flip(0)  # its i - j
    return given(d, attention, "query", "key", "value")(d.x, output_attentions=True)[1]


# Relative keys


def bert(d, kind, rows):
    """BERT's attention with a table of 2 * rows - 1 rows, one for each distance i - j, beginning with 1 - rows."""
    config = BertConfig(hidden_size=d.C, num_attention_heads=d.H, max_position_embeddings=rows)
    attention = BertSelfAttention(config, position_embedding_type=kind)
    attention.distance_embedding.weight.data = d.param("layer0.keys", 2 * rows - 1, 1, d.D)[:, 0]
    return given(d, attention, "query", "key", "value")(d.x, output_attentions=True)[1]


@case("bert_query", "bert_relative", "transformers", "BertSelfAttention, relative_key",
      expects="weights", max_position=12)  # fmt: skip
def _(d):
    return bert(d, "relative_key", 12)


@case("bert_both", "bert_relative:meets=both", "transformers", "BertSelfAttention, relative_key_query",
      expects="weights", max_position=12)  # fmt: skip
def _(d):
    return bert(d, "relative_key_query", 12)


@case("wav2vec2_bert", "shaw:clip=3,values=off", "transformers", "Wav2Vec2BertSelfAttention, relative_key",
      expects="weights")  # fmt: skip
def _(d):
    config = Wav2Vec2BertConfig(
        hidden_size=d.C, num_attention_heads=d.H, position_embeddings_type="relative_key",
        left_max_position_embeddings=3, right_max_position_embeddings=3,
    )  # fmt: skip
    attention = Wav2Vec2BertSelfAttention(config)
    attention.distance_embedding.weight.data = d.param("layer0.keys", 7, 1, d.D)[:, 0]
    return given(d, attention, "linear_q", "linear_k", "linear_v")(d.x, output_attentions=True)[1]


# As many rows as there are distances: outside its window VITS has zeros, where Shaw et al. clip
@case("vits", "shaw:clip=9", "transformers", "VitsAttention, vectors for keys and for values", expects="output")
def _(d):
    config = VitsConfig(hidden_size=d.C, num_attention_heads=d.H, window_size=9)
    attention = VitsAttention(config)
    attention.emb_rel_k.data = d.param("layer0.keys", 19, 1, d.D).transpose(0, 1)
    attention.emb_rel_v.data = d.param("layer0.values", 19, 1, d.D).transpose(0, 1)
    attention.out_proj = torch.nn.Identity()
    return given(d, attention, "q_proj", "k_proj", "v_proj")(d.x)[0].reshape(1, d.T, d.H, d.D)


def deberta(d, module, config, names, terms, reversed_rows=False, **more):
    """16 rows, as with clip=8. In the term p2c the code looks up p_i - p_j where the paper has p_j - p_i: that is
    p2c_rows=released. With reversed_rows it is the paper's term, except for one row."""
    config = config(
        hidden_size=d.C, num_attention_heads=d.H, relative_attention=True, pos_att_type=terms, hidden_dropout_prob=0,
        attention_probs_dropout_prob=0, **more,
    )  # fmt: skip
    attention = module.DisentangledSelfAttention(config).eval()
    rows = d.param("layer0.rows", 16, d.C)
    if reversed_rows:
        rows = torch.cat([rows[:1], rows[1:].flip(0)])
    for term, name in names.items():
        if term in terms:
            projection = getattr(attention, name)
            projection.weight.data = d.param("layer0.keys" if term == "c2p" else "layer0.queries", d.C, d.C).T
            if projection.bias is not None:
                projection.bias.data.zero_()
    return attention, rows


def deberta_v1(d, *terms, **more):
    names = {"c2p": "pos_proj", "p2c": "pos_q_proj"}
    attention, rows = deberta(d, modeling_deberta, DebertaConfig, names, terms, max_relative_positions=8, **more)
    # one projection for q, k and v, and a bias of the values that is zero
    attention.in_proj = Given(torch.cat([d.q, d.k, d.v], -1).reshape(1, d.T, 3 * d.C))
    place = modeling_deberta.build_relative_position(d.qh, d.kh)
    return attention(d.x, torch.ones(1, 1, d.T, d.T), True, relative_pos=place, rel_embeddings=rows)[1]


def deberta_v2(d, *terms, **more):
    names = {"c2p": "pos_key_proj", "p2c": "pos_query_proj"}
    attention, rows = deberta(
        d, modeling_deberta_v2, DebertaV2Config, names, terms, max_relative_positions=16, position_buckets=8,
        share_att_key=False, **more,
    )  # fmt: skip
    given(d, attention, "query_proj", "key_proj", "value_proj")
    return attention(d.x, torch.ones(1, 1, d.T, d.T), True, rel_embeddings=rows)[1]


SCALE = {"expects": "weights", "tolerance": 1e-7, "why": "the library computes sqrt(3 D) in float32", "heads": 2}


@case("deberta_c2p", "deberta:clip=8,p2c=off", "transformers", "DeBERTa's DisentangledSelfAttention, c2p", **SCALE)
def _(d):
    return deberta_v1(d, "c2p")


# Eight slots, because only the row of distance 8 has no mirror image among the 16 rows
@case("deberta_p2c", "deberta:clip=8,c2p=off", "transformers",
      "DeBERTa's DisentangledSelfAttention, p2c, rows reversed", positions=list(range(8)), **SCALE)  # fmt: skip
def _(d):
    return deberta_v1(d, "p2c", reversed_rows=True)


@case("deberta", "deberta:clip=8,p2c_rows=released", "transformers", "DeBERTa's DisentangledSelfAttention", **SCALE)
def _(d):
    return deberta_v1(d, "c2p", "p2c")


@case("deberta_v2", "deberta:clip=8,log,p2c_rows=released", "transformers", "DeBERTa-v2's DisentangledSelfAttention",
      positions=list(range(16)), **SCALE)  # fmt: skip
def _(d):
    return deberta_v2(d, "c2p", "p2c")


@case("deberta_v2_c2p", "deberta:clip=8,p2c=off,log", "transformers", "DeBERTa-v2's DisentangledSelfAttention, c2p",
      positions=list(range(16)), **SCALE)  # fmt: skip
def _(d):
    return deberta_v2(d, "c2p")


@case("xlnet", "relative", "transformers", "XLNetRelativeAttention, of Transformer-XL's authors", expects="weights",
      tolerance=1e-6, why=FLOAT32)  # fmt: skip
def _(d):
    config = XLNetConfig(d_model=d.C, n_head=d.H, n_layer=1, d_inner=8, vocab_size=8, dropout=0)
    layer = XLNetRelativeAttention(config).eval()
    w = d.param("layer0.w", d.C, d.C)
    # the library has sinusoid(i - j), poslab sinusoid(j - i): the sine's rows change sign
    sign = torch.where(torch.arange(d.C) < d.C // 2, -1.0, 1.0)
    layer.r_w_bias.data = d.param("layer0.u", d.H, d.D)
    layer.r_r_bias.data = d.param("layer0.v", d.H, d.D)
    table = XLNetModel(config).relative_positional_encoding(d.T, d.T, 1)
    r = torch.einsum("ibh,hnd->ibnd", table.double(), (sign[:, None] * w).reshape(d.C, d.H, d.D))
    q, k, v = (t.transpose(0, 1) for t in (d.q, d.k, d.v))
    return layer.rel_attn_core(q, k, v, r, output_attentions=True)[1].permute(2, 3, 0, 1)


# Windows and layers of several kinds


def attend(d, attention, *position, **more):
    given(d, attention, "q_proj", "k_proj", "v_proj")
    return attention(d.x, *position, cache_position=torch.arange(d.T), **more)[1]


def causal_mask(d):
    return torch.zeros(d.T, d.T).masked_fill(torch.ones(d.T, d.T).triu(1).bool(), -torch.inf)[None, None]


SHAPE = {"attn_implementation": "eager", "max_position_embeddings": 64}
CAUSAL_WEIGHTS = ROTARY | {"causal": True, "expects": "weights", "why": "angles and softmax are computed in float32"}


@case("mistral", "window:window=4,pairing=half", "transformers", "MistralAttention, sliding_window", **CAUSAL_WEIGHTS)
def _(d):
    config = MistralConfig(hidden_size=d.C, num_attention_heads=d.H, num_key_value_heads=d.H, sliding_window=4, **SHAPE)
    turns = modeling_mistral.MistralRotaryEmbedding(config)(d.x, d.p[None].long())
    mask = create_sliding_window_causal_mask(config, d.x, None, torch.arange(d.T), None)
    return attend(d, modeling_mistral.MistralAttention(config, 0), turns, mask)


def llama4(d, layer):
    """The last of four layers has no positions; its temperature rises with every third key."""
    config = Llama4TextConfig(
        hidden_size=d.C, num_attention_heads=d.H, num_key_value_heads=d.H, head_dim=d.D, floor_scale=3, attn_scale=0.5,
        use_qk_norm=False, num_hidden_layers=4, rope_theta=10000.0, **SHAPE,
    )  # fmt: skip
    turns = modeling_llama4.Llama4TextRotaryEmbedding(config)(d.x, d.p[None].long())
    return attend(d, modeling_llama4.Llama4TextAttention(config, layer), turns, causal_mask(d))


@case("llama4", "irope:length=3,scale=0.5", "transformers", "Llama4TextAttention, layer 3", layer=2, **CAUSAL_WEIGHTS)
def _(d):
    return llama4(d, 2)


@case("llama4_without_positions", "irope:length=3,scale=0.5", "transformers", "Llama4TextAttention, layer 4", layer=3,
      **CAUSAL_WEIGHTS)  # fmt: skip
def _(d):
    return llama4(d, 3)


# Added to the embedding


@case("roformer_sinusoid", "sincos", "transformers", "RoFormerSinusoidalPositionalEmbedding", positions=APART,
      expects="embedding", tolerance=1e-6, why="the library keeps its table in float32")  # fmt: skip
def _(d):
    table = RoFormerSinusoidalPositionalEmbedding(64, d.C)
    table._init_weight()
    return d.x + table.weight[d.p.long()][None]
