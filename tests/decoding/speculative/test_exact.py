"""The output's distribution, enumerated exactly: the engine itself runs once for every path of its
random choices, and each path weighs as much as the intervals that its uniform numbers fell into."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product

import pytest
import torch

from core import DraftRound, DraftToken, Sampling, Shaping, Speculative, Trace, collect
from core.decoding.shaping.draws import place_by_uniform
from core.decoding.speculative.acceptance import acceptance_table, typical_threshold
from core.decoding.speculative.engine import Rounds
from core.decoding.speculative.sources import SOURCES, Drafter
from core.models.scripted import ScriptedModel
from tests.decoding.speculative.speculations import scripted

TARGET = ([0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5])
DRAFT = ([0.2, 0.2, 0.6], [0.4, 0.4, 0.2], [0.7, 0.3, 0.0])
# Where three tokens would make thousands of paths.
TARGET_OF_TWO = ([0.7, 0.3], [0.15, 0.85])
DRAFT_OF_TWO = ([0.4, 0.6], [0.5, 0.5])
TOKENS = 3


def _numbers(trace: Trace) -> Iterator[tuple[float, float]]:
    """(start, end) of the interval that each uniform number of the run fell into, in order."""
    config = trace.config
    for step in trace.rounds:
        yield from [t.draft_interval for t in step.drafted if t.draft_interval is not None]
        if config.acceptance in ("speculative", "block"):
            for token in step.drafted:
                yield (0.0, token.accept_prob) if token.passed else (token.accept_prob, 1.0)
        elif config.acceptance == "exact":
            yield from _samples(step)
        extra = step.extra
        if extra and (step.bonus or config.acceptance != "exact") and extra.interval:
            yield extra.interval


def _samples(step: DraftRound) -> Iterator[tuple[float, float]]:
    """Yield the intervals of exact match: a number that isn't reached may have any value."""
    for token in step.drafted:
        if token.outcome == "not_reached":
            yield 0.0, 1.0
        elif token.outcome == "accepted":
            yield token.interval
        else:
            yield _sampled(token)


def _sampled(token: DraftToken) -> tuple[float, float]:
    """The interval of the target's sample, which is another token than the drafted one."""
    probs = torch.zeros(len(token.candidates))
    for candidate in token.candidates:
        probs[candidate.token_id] = candidate.target_prob
    return place_by_uniform(probs, token.uniform)[1]


def enumerate_runs(
    monkeypatch: pytest.MonkeyPatch,
    target: ScriptedModel,
    draft: ScriptedModel | None,
    config: Speculative,
    on_path: Callable[[Trace, float], None] = lambda *_: None,
    prompt_ids: Sequence[int] = (0,),
) -> dict[tuple[int, ...], float]:
    """The exact probability of every output, by running every path once.

    A path is followed with the smallest numbers that lead to it; its last number that can still
    grow is then moved to where its interval ends, which is the next path.
    """
    numbers: list[float] = []
    used = 0

    def noise(_: Rounds, n: int) -> list[float]:
        nonlocal used
        numbers.extend([0.0] * max(0, used + n - len(numbers)))
        used += n
        return numbers[used - n : used]

    monkeypatch.setattr(Rounds, "_noise", noise)
    weights: Counter[tuple[int, ...]] = Counter()
    total, paths = 0.0, 0
    while True:
        used = 0
        trace = collect(target, prompt_ids, config, draft=draft)
        intervals = list(_numbers(trace))
        assert len(intervals) == used
        weight = math.prod(high - low for low, high in intervals)
        weights[trace.token_ids] += weight
        on_path(trace, weight)
        total, paths = total + weight, paths + 1
        assert paths < 20_000
        del numbers[used:]
        while numbers and intervals[len(numbers) - 1][1] > 1 - 1e-6:
            numbers.pop()
        if not numbers:
            assert total == pytest.approx(1, abs=1e-5)
            return dict(weights)
        # Intervals end where float32 sums do: a hair behind the end is in the next one for sure.
        numbers[-1] = intervals[len(numbers) - 1][1] + 1e-7


def exact_distribution(
    rows: Sequence[Sequence[float]], tokens: int, end: int | None = None
) -> dict[tuple[int, ...], float]:
    """The target's own: what each sequence after token 0 has."""
    probs: Counter[tuple[int, ...]] = Counter()
    for ids in product(range(len(rows[0])), repeat=tokens):
        prob, last, out = 1.0, 0, []
        for token in ids:
            if end is None or end not in out:
                prob *= rows[last][token]
                out.append(token)
            last = token
        # Sequences that differ behind the end are one.
        if (
            end is None
            or end not in ids
            or ids[ids.index(end) + 1 :] == (0,) * (tokens - ids.index(end) - 1)
        ):
            probs[tuple(out)] += prob
    return {ids: prob for ids, prob in probs.items() if prob > 0}


def distance(found: dict[tuple[int, ...], float], exact: dict[tuple[int, ...], float]) -> float:
    return sum(abs(found.get(ids, 0) - exact.get(ids, 0)) for ids in found.keys() | exact) / 2


LOSSLESS = {
    "speculative": Speculative(draft_length=2, max_new_tokens=TOKENS),
    "batch expansion": Speculative(
        draft_length=2, max_new_tokens=TOKENS, scoring="batch_expansion"
    ),
    "draft of one token": Speculative(draft_length=1, max_new_tokens=TOKENS),
    "adaptive": Speculative(draft_length=1, max_new_tokens=TOKENS, adaptive=True),
    "threshold": Speculative(draft_length=2, max_new_tokens=TOKENS, draft_threshold=0.45),
    "greedy draft": Speculative(draft_length=2, max_new_tokens=TOKENS, draft_temperature=0.0),
    "hot draft": Speculative(draft_length=2, max_new_tokens=TOKENS, draft_temperature=3.0),
    "exact match": Speculative(draft_length=2, max_new_tokens=TOKENS, acceptance="exact"),
    "exact match, greedy draft": Speculative(
        draft_length=2, max_new_tokens=TOKENS, acceptance="exact", draft_temperature=0.0
    ),
}


@pytest.mark.parametrize("name", LOSSLESS)
def test_the_output_is_distributed_as_the_targets_own(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = LOSSLESS[name]
    assert config.lossless
    target, draft = (TARGET, DRAFT) if name == "speculative" else (TARGET_OF_TWO, DRAFT_OF_TWO)
    emitted = enumerate_runs(monkeypatch, scripted(*target), scripted(*draft), config)
    exact = exact_distribution(target, TOKENS)
    assert emitted.keys() == exact.keys()
    assert distance(emitted, exact) < 1e-5


def test_the_end_of_sequence_inside_a_round_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    models = scripted(*TARGET, eos=True), scripted(*DRAFT, eos=True)
    emitted = enumerate_runs(
        monkeypatch, *models, Speculative(draft_length=2, max_new_tokens=TOKENS)
    )
    exact = exact_distribution(TARGET, TOKENS, end=0)
    assert emitted.keys() == exact.keys()
    assert distance(emitted, exact) < 1e-5


@pytest.mark.parametrize("drafter", [row.name for row in SOURCES.values() if row.from_text])
def test_a_draft_from_the_text_loses_nothing(
    drafter: Drafter, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Speculative(draft_length=2, max_new_tokens=4, drafter=drafter)
    emitted = enumerate_runs(monkeypatch, scripted(*TARGET), None, config)
    assert distance(emitted, exact_distribution(TARGET, 4)) < 1e-5


@pytest.mark.parametrize("acceptance", ["speculative", "exact"])
def test_filters_and_penalties_act_at_every_drafted_position(
    acceptance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repetition penalty makes the distribution depend on the whole history, drafted tokens
    included: the exact one comes from the target's own sampling steps."""
    shaping = Shaping(repetition_penalty=1.7, top_k=2, temperature=0.8)
    config = Speculative(
        draft_length=2, max_new_tokens=TOKENS, shaping=shaping, acceptance=acceptance
    )
    target = ScriptedModel(
        lambda ids: [[0.4, 1.0], [1.3, 0.9]][ids[-1]],
        tokens=["a", "b"],
        given="logits",
        eos=None,
    )
    emitted = enumerate_runs(monkeypatch, target, scripted(*DRAFT_OF_TWO), config)
    assert distance(emitted, _by_sampling_steps(target, shaping)) < 1e-5


def _by_sampling_steps(target: ScriptedModel, shaping: Shaping) -> dict[tuple[int, ...], float]:
    """The product of the final probabilities of plain sampling's steps."""
    probs: dict[tuple[int, ...], float] = {(): 1.0}
    for _ in range(TOKENS):
        longer = {}
        for ids, prob in probs.items():
            config = Sampling(max_new_tokens=1, shaping=shaping)
            for candidate in collect(target, [0, *ids], config).token_steps[0].candidates:
                if candidate.prob > 0:
                    longer[*ids, candidate.token_id] = prob * candidate.prob
        probs = longer
    return probs


def test_typical_acceptance_loses_something_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    config = Speculative(draft_length=2, max_new_tokens=TOKENS, acceptance="typical")
    assert not config.lossless
    emitted = enumerate_runs(monkeypatch, scripted(*TARGET), scripted(*DRAFT), config)
    assert distance(emitted, exact_distribution(TARGET, TOKENS)) > 0.1
    trace = collect(scripted(*TARGET), [0], config, draft=scripted(*DRAFT))
    assert any("Typical acceptance changes the output" in note.words for note in trace.notes)
    assert Speculative(acceptance="typical", shaping=Shaping(temperature=0.0)).lossless


@pytest.mark.parametrize("acceptance", ["speculative", "exact", "typical"])
def test_the_table_of_one_trial_is_what_the_engine_does(
    acceptance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One drafted token, one emitted: the engine's first token against the table's last column."""
    table = acceptance_table(TARGET[0], DRAFT[0], acceptance)
    config = Speculative(draft_length=1, max_new_tokens=2, acceptance=acceptance)
    first: Counter[int] = Counter()
    for ids, prob in enumerate_runs(
        monkeypatch, scripted(*TARGET), scripted(*DRAFT), config
    ).items():
        first[ids[0]] += prob
    assert [first[token] for token in range(3)] == pytest.approx(
        [row.emitted for row in table.rows], abs=1e-5
    )


def test_the_table_by_hand() -> None:
    table = acceptance_table([0.5, 0.3, 0.2], [0.2, 0.2, 0.6])
    assert [row.accept_prob for row in table.rows] == pytest.approx([1, 1, 1 / 3])
    assert [row.accepted for row in table.rows] == pytest.approx([0.2, 0.2, 0.2])
    assert table.rejected == pytest.approx(0.4)
    assert [row.residual for row in table.rows] == pytest.approx([0.75, 0.25, 0])
    assert [row.emitted for row in table.rows] == pytest.approx([0.5, 0.3, 0.2])
    assert table.total_variation == pytest.approx(0, abs=1e-12)
    exact = acceptance_table([0.5, 0.3, 0.2], [0.2, 0.2, 0.6], "exact")
    assert exact.rejected == pytest.approx(1 - (0.1 + 0.06 + 0.12))
    assert exact.total_variation == pytest.approx(0, abs=1e-12)
    typical = acceptance_table([0.5, 0.3, 0.2], [0.2, 0.2, 0.6], "typical")
    assert [row.emitted for row in typical.rows] == pytest.approx([0.2, 0.2, 0.6])
    assert typical.total_variation == pytest.approx(0.4)


def test_the_threshold_of_typical_acceptance_by_hand() -> None:
    """exp(-ln 4) is a quarter: delta decides for an unsure target, epsilon for a sure one."""
    assert typical_threshold(math.log(4), 0.09, 0.3) == pytest.approx(0.075)
    assert typical_threshold(math.log(4), 0.05, 0.3) == 0.05
    assert typical_threshold(0.0, 0.09, 0.3) == 0.09
    assert typical_threshold(0.0, 0.5, 0.3) == 0.3
    # Four even tokens have 0.25 each, above 0.9 of a quarter. Of three uneven ones (1.03 nats) the
    # threshold is 0.32.
    even = [0.25] * 4
    assert [row.accept_prob for row in acceptance_table(even, even, "typical", 0.9, 0.9).rows] == [
        1.0
    ] * 4
    assert acceptance_table([0.2, 0.3, 0.5], [1.0, 0.0, 0.0], "typical", 0.9, 0.9).rejected == 1.0


@pytest.mark.parametrize(
    ("target", "draft"), [([1.0], [0.5, 0.5]), ([0.5, 0.4], [1.0, 0.0]), ([1.5, -0.5], [1.0, 0.0])]
)
def test_a_table_of_no_distributions_is_refused(target, draft) -> None:
    with pytest.raises(ValueError, match="distribution"):
        acceptance_table(target, draft)
