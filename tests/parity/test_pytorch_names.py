"""The list of names that `teachtorch coverage` takes for PyTorch's is PyTorch's."""
import pytest

from teachtorch.cli.names import LIST
from tests.parity.pytorch_names import SPACES, public_names, same_names

torch = pytest.importorskip("torch")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("space", SPACES)
def test_the_list_is_pytorchs(space):
    """Names of the platform's or of a test's making may come and go in a few modules; the bulk must agree."""
    listed, there = set(same_names(LIST.read_text(encoding="utf-8"))[space]), set(public_names(torch, space))
    assert len(listed ^ there) <= max(4, len(there) // 50), sorted(listed ^ there)
