"""How many blocks a launch asks for: within what a GPU has, which the simulator does not look at."""

import pytest

from teachtorch.kernels.cuda.matmul import MOST_ALONG_Y, blocks_of


@pytest.mark.parametrize("sizes", [(1, 1, 1), (70_000, 16, 16), (3, 2_000_000, 5), (1, 17, 33)])
def test_blocks_of_a_product(sizes):
    batch, rows, columns = sizes
    along_x, along_y = blocks_of(batch, rows, columns, 16)
    assert along_x == -(-rows // 16) * -(-columns // 16) < 2**31
    assert 1 <= along_y <= MOST_ALONG_Y == 65535 and along_y == min(batch, 65535)
