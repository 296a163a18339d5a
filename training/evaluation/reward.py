"""What the reward model is worth: on held-out attempts, and as the one that chooses among N."""

from itertools import groupby
from pathlib import Path

from core.evaluation.scoring.intervals import wilson_of_groups
from core.evaluation.votes.best_of import Sample, Sampled, by_samples, mistakes
from core.models.registry import load_model
from core.models.rewards.verifier import load_verifier
from training.evaluation.measure import Measure, percent
from training.reward.attempts import EACH, TEMPERATURES, Labelled, draw_attempts

SEED = 2024
_RULES = {"best_of_n": "likeliest", "majority": "vote", "reward": "reward model"}


def measure_reward(folder: Path, problems: int) -> list[Measure]:
    """Accuracy of its verdicts on attempts at problems that it never saw, and of its choices."""
    target = folder / "target"
    model, rewards = load_model(target), load_verifier(folder / "reward", target, "The head")
    drawn = list(draw_attempts(model, SEED, problems, held_out=True))
    size = EACH * len(TEMPERATURES)
    sampled = []
    for question, group in groupby(drawn, key=lambda one: one.question):
        own = list(group)[:size]
        sampled.append(_sampled(question, own, rewards.score(question, [x.reply for x in own])))
    return [_verdicts(sampled), _order(sampled), _choices(sampled)]


def _sampled(question: str, own: list[Labelled], scores: list[float | None]) -> Sampled:
    samples = [
        Sample(one.reply, one.answer, one.right, one.mean_logprob, score)
        for one, score in zip(own, scores, strict=True)
    ]
    return Sampled(question, "", tuple(samples))


def _verdicts(sampled: list[Sampled]) -> Measure:
    """A score above 0 says right."""
    groups, right, found = [], 0, {True: [0, 0], False: [0, 0]}
    for each in sampled:
        verdicts = [(one.right, (one.reward or 0.0) > 0) for one in each.samples]
        groups.append((sum(a == b for a, b in verdicts), len(verdicts)))
        right += sum(a for a, _ in verdicts)
        for truth, said in verdicts:
            found[truth][0] += truth == said
            found[truth][1] += 1
    share = wilson_of_groups(groups)
    words = ", ".join(
        f"{name} {hits} of {total}"
        for name, (hits, total) in (("right", found[True]), ("wrong", found[False]))
    )
    return Measure(
        f"reward model: {share.total} held-out attempts, told right from wrong",
        f"reported (all called right: {percent(right / max(1, share.total))})",
        f"{percent(share.value)} (95 % interval {100 * share.low:.1f} to {100 * share.high:.1f}): "
        f"{words}",
        None,
    )


def _order(sampled: list[Sampled]) -> Measure:
    """Of a right and a wrong attempt at one question, whether the right one scores higher."""
    pairs = [
        (a.reward or 0.0) > (b.reward or 0.0)
        for each in sampled
        for a in each.samples
        for b in each.samples
        if a.right and not b.right
    ]
    found = f"{percent(sum(pairs) / len(pairs))} of {len(pairs)}" if pairs else "no such pair"
    title = "reward model: pairs of a right and a wrong attempt at one question, in order"
    return Measure(title, "reported (chance: 50 %)", found, None)


def _choices(sampled: list[Sampled]) -> Measure:
    """The answer of each rule at the same attempts."""
    points = by_samples(sampled)
    most = max((point.samples for point in points), default=0)
    words = [
        f"{_RULES[point.rule]} {percent(point.correct.value)}"
        for point in points
        if point.samples == most and point.rule in _RULES
    ]
    single = next((percent(p.correct.value) for p in points if p.samples == 1), "none")
    errs = len(mistakes(sampled))
    return Measure(
        f"reward model: one answer out of {most} held-out attempts ({len(sampled)} questions)",
        "reported",
        f"one attempt {single}, {', '.join(words)}; it takes a wrong one beside a right one in "
        f"{errs} questions",
        None,
    )
