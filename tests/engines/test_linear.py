"""Products by oneDNN equal torch's own, forward and backward, whatever is trained."""

import pytest
import torch
from torch import nn

from code_a1.engines.local import linear
from code_a1.engines.local.linear import OneDnnLinear, use_onednn

pytestmark = pytest.mark.skipif(linear._LINEAR is None, reason="no oneDNN for x86 in this build of torch")


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("trained", [True, False])
@pytest.mark.parametrize("shape", [(5, 24), (1, 7, 24), (2, 1, 24)])
def test_values_and_gradients_equal_float64(bias, trained, shape):
    torch.manual_seed(0)
    layer = nn.Linear(24, 40, bias=bias).requires_grad_(trained)
    exact = nn.Linear(24, 40, bias=bias).double()
    exact.load_state_dict({name: value.double() for name, value in layer.state_dict().items()})
    use_onednn(layer, above=0)
    assert type(layer) is OneDnnLinear
    x = torch.randn(*shape, requires_grad=True)
    wide = x.detach().double().requires_grad_()
    slope = torch.randn(*shape[:-1], 40)
    out, expected = layer(x), exact(wide)
    out.backward(slope)
    expected.backward(slope.double())
    assert torch.allclose(out.double(), expected, atol=1e-5)
    assert torch.allclose(x.grad.double(), wide.grad, atol=1e-5)
    for got, right in zip(layer.parameters(), exact.parameters(), strict=True):
        assert (got.grad is not None) is trained
        assert not trained or torch.allclose(got.grad.double(), right.grad, atol=1e-5)


def test_other_types_and_empty_inputs_go_torchs_way():
    layer = nn.Linear(4, 3)
    use_onednn(layer, above=0)
    assert layer(torch.zeros(0, 4)).shape == (0, 3)
    wide = layer.double()(torch.ones(2, 4, dtype=torch.float64))
    assert wide.dtype is torch.float64
    plain = nn.Linear(4, 3).double()
    use_onednn(plain, above=0)
    assert type(plain) is nn.Linear


def test_transposed_inputs_are_read_in_order():
    layer = nn.Linear(6, 3, bias=False)
    use_onednn(layer, above=0)
    x = torch.randn(6, 5).T
    assert torch.allclose(layer(x), x @ layer.weight.T, atol=1e-6)


def test_a_model_that_stays_in_the_cache_is_left_as_it_is():
    small, large = (
        nn.Sequential(nn.Linear(64, 64)),
        nn.Sequential(nn.Linear(4096, 2048), nn.Linear(2048, 4097, bias=False)),
    )
    for model in (small, large):  # 16 KB; 32 MiB and a little more than that
        use_onednn(model)
    assert type(small[0]) is nn.Linear
    assert [type(layer) for layer in large] == [OneDnnLinear, OneDnnLinear]
