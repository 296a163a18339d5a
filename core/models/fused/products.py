"""Products of a few rows with a matrix, by all of torch's threads.

Such a product takes as long as reading its matrix from memory. `torch.mm` of so few rows may read
it with one thread only; the matrix's parts, multiplied as a batch, are read by all of them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import torch
from torch import Tensor

# A smaller matrix stays in a processor's cache, where one thread is as quick.
_LEAST_ELEMENTS = 300_000
# The parts' products, which are added up, take at most the matrix's numbers divided by this.
_LEAST_SHARE = 4


def product(rows: Tensor, matrix: Tensor, bias: Tensor | None = None) -> Tensor:
    """rows @ matrix + bias, `[n, out]` of `[n, in]` and `[in, out]`."""
    if bias is not None:
        return add_product(bias, rows, matrix)
    parts = _parts(rows, matrix)
    return torch.mm(rows, matrix) if parts == 1 else _product_of_parts(rows, matrix, parts)


def add_product(
    start: Tensor,
    rows: Tensor,
    matrix: Tensor,
    *,
    beta: Literal[0, 1] = 1,
    alpha: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """start + alpha * rows @ matrix, as `torch.addmm`; with `beta` 0 without what start holds."""
    parts = _parts(rows, matrix)
    if parts == 1:
        return torch.addmm(start, rows, matrix, beta=beta, alpha=alpha, out=out)
    summed = _product_of_parts(rows, matrix, parts)
    if beta == 0:
        return torch.mul(summed, alpha, out=out)
    return torch.add(start, summed, alpha=alpha, out=out)


def _parts(rows: Tensor, matrix: Tensor) -> int:
    if matrix.numel() < _LEAST_ELEMENTS or matrix.device.type != "cpu":
        return 1
    if not (rows.is_contiguous() and matrix.is_contiguous()):
        return 1
    return _parts_for(len(rows), len(matrix), torch.get_num_threads())


@lru_cache(maxsize=1024)
def _parts_for(rows: int, width: int, threads: int) -> int:
    most = min(threads, width // (_LEAST_SHARE * rows))
    return next((parts for parts in range(most, 1, -1) if width % parts == 0), 1)


def _product_of_parts(rows: Tensor, matrix: Tensor, parts: int) -> Tensor:
    count, width = rows.shape
    split = rows.view(count, parts, -1).transpose(0, 1)
    return torch.bmm(split, matrix.view(parts, width // parts, -1)).sum(0)
