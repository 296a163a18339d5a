"""Background jobs of the page Read: the model's own text, and the comparison of two models."""

from __future__ import annotations

from core.decoding.config import MethodConfig
from core.decoding.reading.types import FollowedWord, ModelDivergence
from core.decoding.record.trace import Trace
from core.language import N_
from pages.ui.read.controls import NUMBER_TYPES
from pages.ui.run import jobs
from pages.ui.run.jobs import Job


def write_own(job: Job, trace: Trace, opening: int, config: MethodConfig) -> Trace:
    """Return the reading of the model's own text after the opening."""
    from core.decoding.reading.read import own_text

    model = jobs.load_for(job, trace)
    written: Trace = job.compute(
        N_("Writing its own text"), own_text, model, trace, opening, config
    )
    return written


def follow(job: Job, trace: Trace, word: str) -> FollowedWord | None:
    """Return the probability of a word before each token of the text."""
    from core.decoding.reading.word import follow_word

    model = jobs.load_for(job, trace)
    followed: FollowedWord | None = job.compute(
        N_("Following the word"), follow_word, model, trace, word
    )
    return followed


def compare(job: Job, trace: Trace, other: str) -> ModelDivergence:
    """Compare the model with another one, or with itself in another number type."""
    from core.decoding.reading.measure import diverging

    model = jobs.load_for(job, trace)
    second = other if other in NUMBER_TYPES else jobs.load(job, other)
    divergence: ModelDivergence = job.compute(
        N_("Comparing the models"), diverging, model, second, [*trace.prompt_ids, *trace.token_ids]
    )
    return divergence
