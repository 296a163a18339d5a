"""Products shared out to threads are those of the whole matrix."""

from __future__ import annotations

import pytest
import torch

from core.models.fused import body as products
from core.models.fused.body import add_product, product
from tests.depth import mostly_slow
from tests.models.builders import random_language_model
from tests.models.test_fused import FUSED, IDS, KINDS


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """All matrices are shared out to three threads; takes in how many parts each product had."""
    monkeypatch.setattr(products, "_LEAST_ELEMENTS", 0)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    counted: list[int] = []
    honest = products._product_by_parts

    def counting(rows: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor | None:
        by_parts = honest(rows, matrix)
        if by_parts is not None:
            counted.append(products._parts_for(len(rows), len(matrix), 3))
        return by_parts

    monkeypatch.setattr(products, "_product_by_parts", counting)
    return counted


@pytest.mark.parametrize(
    ("rows", "width", "parts"),
    [(1, 96, 3), (1, 64, 2), (2, 24, 3), (4, 32, 2), (9, 64, 1), (1, 97, 1)],
)
def test_a_product_of_parts_is_the_whole_one(
    threads: list[int], rows: int, width: int, parts: int
) -> None:
    torch.manual_seed(0)
    row, matrix, bias = torch.randn(rows, width), torch.randn(width, 40), torch.randn(40)
    whole = (row.double() @ matrix.double()).float()
    start, first, second = torch.randn(rows, 40), torch.empty(rows, 40), torch.empty(rows, 40)
    for result, expected in (
        (product(row, matrix), whole),
        (product(row, matrix, bias), whole + bias),
        (add_product(start, row, matrix, alpha=0.5), start + 0.5 * whole),
        (add_product(first, row, matrix, beta=0, alpha=0.5, out=first), 0.5 * whole),
        (add_product(bias, row, matrix, out=second), whole + bias),
    ):
        torch.testing.assert_close(result, expected, rtol=0, atol=2e-5)
    assert threads == ([parts] * 5 if parts > 1 else [])
    assert add_product(start, row, matrix, out=start) is start


def test_a_small_matrix_and_columns_of_another_order_stay_whole(
    threads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    row, matrix = torch.randn(1, 96), torch.randn(40, 96).t()
    torch.testing.assert_close(product(row, matrix), torch.mm(row, matrix), rtol=0, atol=0)
    monkeypatch.setattr(products, "_LEAST_ELEMENTS", 96 * 40 + 1)
    matrix = matrix.contiguous()
    torch.testing.assert_close(product(row, matrix), torch.mm(row, matrix), rtol=0, atol=0)
    assert threads == []


@pytest.mark.parametrize("kind", mostly_slow(FUSED, KINDS))
def test_a_fused_step_by_several_threads_gives_transformers_logits(
    kind: str, threads: list[int]
) -> None:
    model = random_language_model(kind.split()[0], **FUSED[kind])
    threads.clear()
    context = model.start(IDS[:2])
    single = context.extend([IDS[2]])
    assert threads
    several = context.extend(IDS[3:6])
    with torch.inference_mode():
        expected = model.hf_model(input_ids=torch.tensor([IDS[:6]])).logits[:, 2:]
    logits = torch.cat((single, several), dim=1)
    torch.testing.assert_close(logits, expected, rtol=0, atol=2e-5)
