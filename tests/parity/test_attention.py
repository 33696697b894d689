"""Attention, Transformer and Bilinear against PyTorch."""

import numpy as np
import pytest

from tests.parity.programs import assert_same
from tests.parity.same_call import assert_same_error
from tests.parity.test_rnn import array, assert_same_results, trained

torch = pytest.importorskip("torch")


def hidden(torch, *shape):
    return torch.from_numpy(np.random.default_rng([9, *shape]).random(shape) < 0.3)


# ---- scaled_dot_product_attention --------------------------------------------------------------------------

SHAPES = [
    ((2, 3, 4, 5),) * 3,
    ((2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 7)),
    ((3, 4, 5),) * 3,
    ((4, 5),) * 3,
    ((2, 4, 40, 16),) * 3,
    ((2, 3, 4, 5), (3, 4, 5), (2, 3, 4, 5)),
    ((2, 0, 4, 5),) * 3,
    ((2, 3, 4, 5), (2, 3, 0, 5), (2, 3, 0, 5)),
    ((5,),) * 3,
]
OPTIONS = [
    "{}",
    "{'is_causal': True}",
    "{'attn_mask': hidden(torch, L, S)}",
    "{'attn_mask': array(torch, L, S)}",
    "{'scale': 0.3}",
    "{'scale': -0.3}",
    "{'attn_mask': hidden(torch, 1, S)}",
    "{'dropout_p': 0.5}",
    "{'attn_mask': hidden(torch, L, S).long()}",
    "{'attn_mask': hidden(torch, L, S), 'is_causal': True}",
    "{'attn_mask': hidden(torch, L, S + 1)}",
    "{'attn_mask': torch.zeros(L, S, dtype=torch.bool)}",
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("shapes", SHAPES)
def test_attention(shapes, options):
    def program(torch):
        q, k, v = (array(torch, *shape, seed=i).requires_grad_() for i, shape in enumerate(shapes))
        lengths = {
            "L": shapes[0][0 if len(shapes[0]) == 1 else -2],
            "S": shapes[1][0 if len(shapes[1]) == 1 else -2],
        }
        names = {"torch": torch, "array": array, "hidden": hidden, **lengths}
        torch.manual_seed(0)
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, **eval(options, names))
        return [
            out,
            out.stride(),
            out.grad_fn.name().startswith("ScaledDot"),
            torch.autograd.grad(out.square().sum(), [q, k, v]),
        ]

    assert_same(torch, program, 1e-4)


@pytest.mark.parametrize("heads", [2, 3, 4])
def test_fewer_heads_of_keys(heads):
    def program(torch):
        q, k, v = array(torch, 2, 4, 3, 5), array(torch, 2, heads, 3, 5), array(torch, 2, heads, 3, 5, seed=1)
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)

    assert_same(torch, program)


def test_order_of_memory():
    def program(torch):
        q, k, v = (array(torch, 2, 6, 3, 5, seed=i).transpose(1, 2).requires_grad_() for i in range(3))
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        return [t.stride() for t in (out, *torch.autograd.grad(out.sum(), [q, k, v]))]

    assert_same(torch, program)


def test_features_must_agree():
    assert_same_error(
        torch, "torch.nn.functional.scaled_dot_product_attention(y[None], y[None, :, :, :3], y[None])"
    )


def test_dtypes_must_agree():
    def program(torch):
        q = array(torch, 2, 3, 4, 5)
        return torch.nn.functional.scaled_dot_product_attention(q, q.double(), q)

    assert_same(torch, program)


def test_second_derivative():
    def program(torch):
        q, k, v = (array(torch, 1, 2, 3, 4, seed=i, dtype="float64").requires_grad_() for i in range(3))
        mask = array(torch, 3, 3, dtype="float64").requires_grad_()
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, mask)
        first = torch.autograd.grad(out.square().sum(), [q, k, v, mask], create_graph=True)
        return torch.autograd.grad(sum(g.square().sum() for g in first), [q, k, v, mask])

    assert_same(torch, program, 1e-6)


# ---- MultiheadAttention ------------------------------------------------------------------------------------

MODULES = [
    {},
    {"bias": False},
    {"add_bias_kv": True},
    {"add_zero_attn": True},
    {"add_bias_kv": True, "add_zero_attn": True},
    {"dropout": 0.4},
]
CALLS = [
    "{}",
    "{'key_padding_mask': hidden(torch, 2, 5)}",
    "{'attn_mask': hidden(torch, 4, 5)}",
    "{'attn_mask': array(torch, 4, 5)}",
    "{'average_attn_weights': False}",
    "{'attn_mask': hidden(torch, 4, 4, 5), 'key_padding_mask': hidden(torch, 2, 5)}",
    "{'attn_mask': array(torch, 4, 5), 'key_padding_mask': hidden(torch, 2, 5)}",
    "{'attn_mask': hidden(torch, 3, 5)}",
    "{'key_padding_mask': hidden(torch, 2, 4)}",
    "{'attn_mask': hidden(torch, 4, 5).long()}",
    "{'is_causal': True}",
    "{'attn_mask': hidden(torch, 2, 4, 5)}",
    "{'attn_mask': torch.nn.Transformer.generate_square_subsequent_mask(5)[:4], 'is_causal': True}",
]


def attended(torch, options, shapes, call="{}", need_weights=True, is_self=False):
    torch.manual_seed(0)
    module = torch.nn.MultiheadAttention(8, 2, **options)
    kwargs = {"need_weights": need_weights, **eval(call, {"torch": torch, "array": array, "hidden": hidden})}
    inputs = tuple(array(torch, *shape, seed=i) for i, shape in enumerate(shapes))

    def forward(query, key=None, value=None):
        return module(query, query if is_self else key, query if is_self else value, **kwargs)

    return trained(torch, module, inputs[:1] if is_self else inputs, forward)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("options", MODULES)
def test_multihead_attention(options, call, need_weights):
    shapes = (4, 2, 8), (5, 2, 8), (5, 2, 8)
    assert_same(torch, lambda torch: attended(torch, options, shapes, call, need_weights), 1e-4)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize(
    ("options", "shapes"),
    [
        ({"batch_first": True}, ((2, 4, 8), (2, 5, 8), (2, 5, 8))),
        ({"kdim": 3, "vdim": 6}, ((4, 2, 8), (5, 2, 3), (5, 2, 6))),
        ({}, ((4, 8), (5, 8), (5, 8))),
        ({}, ((4, 8), (5, 2, 8), (5, 8))),
        ({}, ((4, 2, 6), (5, 2, 8), (5, 2, 8))),
        ({}, ((4, 2, 8), (5, 2, 8), (6, 2, 8))),
        ({}, ((8,), (5, 2, 8), (5, 2, 8))),
    ],
)
def test_shapes(options, shapes, need_weights):
    assert_same(torch, lambda torch: attended(torch, options, shapes, need_weights=need_weights), 1e-4)


@pytest.mark.parametrize("options", [{}, {"batch_first": True}])
def test_self_attention(options):
    assert_same(torch, lambda torch: attended(torch, options, ((4, 2, 8),), is_self=True), 1e-4)


@pytest.mark.parametrize(
    "call",
    [
        "torch.nn.MultiheadAttention(5, 2)",
        "torch.nn.MultiheadAttention(0, 2)",
        "torch.nn.Bilinear(0, 4, 5)",
        "torch.nn.TransformerEncoderLayer(8, 2, activation='x')",
    ],
)
def test_constructor_refuses(call):
    assert_same(torch, lambda torch: eval(call, {"torch": torch}))


# ---- Transformer -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
def test_transformer(name, activation, norm_first, batch_first):
    def program(torch):
        torch.manual_seed(0)
        sizes = (8, 2, 1, 1, 12) if name == "Transformer" else (8, 2, 12)
        module = getattr(torch.nn, name)(
            *sizes, activation=activation, norm_first=norm_first, batch_first=batch_first
        )
        inputs = (array(torch, 2, 5, 8), array(torch, 2, 5, 8, seed=1))
        return trained(torch, module, inputs[:1] if name == "TransformerEncoderLayer" else inputs)

    assert_same(torch, program, 1e-4)


@pytest.mark.parametrize("padding", [[0, 0, 0, 1, 1], [1, 0, 0, 0, 1]])
@pytest.mark.parametrize("is_training", [False, True])
def test_encoder_leaves_padding_out(is_training, padding):
    def program(torch):
        torch.manual_seed(0)
        layer = torch.nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0, batch_first=True)
        module = torch.nn.TransformerEncoder(layer, 2, torch.nn.LayerNorm(8)).train(is_training)
        mask = torch.tensor([[0, 0, 0, 0, 0], padding]).bool()
        with torch.no_grad():
            out = module(array(torch, 2, 5, 8), src_key_padding_mask=mask)
        return out

    assert_same_results(program)


def test_masks_of_the_transformer():
    def program(torch):
        torch.manual_seed(0)
        module = torch.nn.Transformer(8, 2, 1, 1, 12, dropout=0.0)
        masks = [module.generate_square_subsequent_mask(n) for n in (5, 4)]
        return [module(array(torch, 5, 2, 8), array(torch, 4, 2, 8), *masks), masks]

    assert_same(torch, program, 1e-4)


@pytest.mark.parametrize("shape", [(2, 4, 8), (2, 5, 7)])
def test_transformer_refuses(shape):
    assert_same(
        torch, lambda torch: torch.nn.Transformer(8, 2, 1, 1, 12)(array(torch, 2, 5, 8), array(torch, *shape))
    )


def test_bilinear():
    def program(torch):
        torch.manual_seed(0)
        return trained(torch, torch.nn.Bilinear(3, 4, 5), (array(torch, 2, 3), array(torch, 2, 4)))

    assert_same(torch, program, 1e-4)
