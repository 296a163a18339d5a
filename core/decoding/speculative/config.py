"""The settings of speculative decoding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeAlias

from core.decoding.config import SEED, SHARE, MethodConfig, setting
from core.decoding.shaping.config import Shaping
from core.decoding.validation import TEMPERATURE, Interval

Acceptance: TypeAlias = Literal["speculative", "exact", "typical"]
Scoring: TypeAlias = Literal["multi_query", "batch_expansion"]
SCORINGS: tuple[Scoring, ...] = ("multi_query", "batch_expansion")
Drafter: TypeAlias = Literal["model", "prompt_lookup"]

# Of typical acceptance.
MAX_POSTERIOR = 0.99
_POSTERIOR = Interval(0.0, MAX_POSTERIOR)
MAX_DRAFT_LENGTH = 64
# That a draft-length sweep measures.
SWEPT_LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Speculative(MethodConfig):
    """A draft proposes tokens, the target scores them in one forward and accepts or rejects each.

    Temperature 0 in `shaping` is greedy decoding by the same rules.

    Args:
        draft_length: how many tokens are drafted a round at most.
        acceptance: `speculative` accepts with probability min(1, target_prob / draft_prob)
            (Leviathan et al. 2023, Chen et al. 2023); `exact` if the target's own sample is the
            drafted token; `typical` if target_prob is above a threshold (Cai et al. 2024), which
            changes the output distribution.
        scoring: `multi_query` is one sequence with a query for each position, `batch_expansion` one
            sequence for each position.
        drafter: `model` is a second model, `prompt_lookup` repeats what followed the last tokens
            earlier in the text.
        draft_temperature: the draft's own; None takes that of `shaping`, whose filters and
            penalties act on both models.
        draft_threshold: drafting ends behind a token with a lower probability in the draft (before
            temperature and filters); 0 is off. transformers' `assistant_confidence_threshold`.
        adaptive: draft_length is where the length starts; two more after a round that had so many
            tokens accepted, else one less (transformers' "heuristic" schedule; at most 64).
        lookup_ngram: the longest run of last tokens that prompt lookup searches for.
        posterior_threshold: of typical acceptance, epsilon: what target_prob never has to exceed.
        posterior_alpha: of typical acceptance, delta: the threshold is
            min(epsilon, delta * exp(-entropy)) (defaults as in vLLM).
        seed: of every draw in the run.
    """

    method: ClassVar[str] = "speculative"
    words: ClassVar[str] = "speculative decoding"

    draft_length: int = setting(
        4, "tokens that the draft proposes a round at most", Interval(1, MAX_DRAFT_LENGTH)
    )
    acceptance: Acceptance = setting(
        "speculative", "speculative sampling, the target's own sample, or typical acceptance"
    )
    scoring: Scoring = setting("multi_query", "one sequence with many queries, or many sequences")
    drafter: Drafter = setting("model", "a second model, or what followed the last tokens before")
    draft_temperature: float | None = setting(None, "the draft's own", TEMPERATURE)
    draft_threshold: float = setting(
        0.0, "the draft stops behind a token that it is less sure of", SHARE
    )
    adaptive: bool = setting(False, "lengthen drafts that are accepted, shorten the others")
    lookup_ngram: int = setting(
        2, "of prompt lookup: the longest run of last tokens to search for", Interval(1, 100)
    )
    # With 1 for both not even a certain token would lie above the threshold.
    posterior_threshold: float = setting(0.09, "of typical acceptance: epsilon", _POSTERIOR)
    posterior_alpha: float = setting(0.3, "of typical acceptance: delta", _POSTERIOR)
    seed: int = setting(0, within=SEED)

    @property
    def lossless(self) -> bool:
        """Return whether the output has the target's distribution."""
        return self.acceptance != "typical" or self.shaping.temperature == 0

    @property
    def draft_shaping(self) -> Shaping:
        """Shaping of the draft's logits."""
        if self.draft_temperature is None:
            return self.shaping
        return replace(self.shaping, temperature=self.draft_temperature)
