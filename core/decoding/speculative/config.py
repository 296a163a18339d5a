"""Settings of speculative decoding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeAlias

from ...language import N_, Message
from ..config import SEED, SHARE, MethodConfig, setting
from ..counting import listed
from ..errors import ConfigError
from ..shaping.config import Shaping
from ..validation import TEMPERATURE, Interval, brief
from .sources import SOURCES, Drafter, DraftSource
from .tree.shape import MAX_NODES, widths_of

Acceptance: TypeAlias = Literal["speculative", "exact", "typical", "block"]
Scoring: TypeAlias = Literal["multi_query", "batch_expansion"]
SCORINGS: tuple[Scoring, ...] = ("multi_query", "batch_expansion")
TreePicks: TypeAlias = Literal["top_k", "without_replacement", "with_replacement"]

# Upper bound of typical acceptance's two numbers.
MAX_POSTERIOR = 0.99
_POSTERIOR = Interval(0.0, MAX_POSTERIOR)
MAX_DRAFT_LENGTH = MAX_NODES
MAX_LAYERS = 512
# Columns of lookahead decoding's window.
MAX_WINDOW = 32
# Draft lengths that a draft-length sweep measures.
SWEPT_LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Speculative(MethodConfig):
    """Speculative decoding: a draft proposes tokens; the target scores them in one forward and
    accepts or rejects each.

    With temperature 0 in `shaping`, the same rules give greedy decoding.

    Args:
        draft_length: maximum number of tokens that are drafted in a round.
        acceptance: `speculative` accepts with probability min(1, target_prob / draft_prob)
            (Leviathan et al. 2023, Chen et al. 2023); `exact` accepts if the target's own sample is
            the drafted token; `typical` accepts if target_prob exceeds a threshold (Cai et al.
            2024), which changes the output distribution; `block` verifies the draft as a whole
            (Sun et al. 2024) and accepts at least as many tokens as `speculative` in expectation.
        scoring: `multi_query` feeds one sequence with a query for each position; `batch_expansion`
            feeds one sequence for each position.
        drafter: source of the drafted tokens; each is a row of `sources`.
        tree_widths: widths of a static tree of drafts, level by level: `3,2,1` drafts 3 tokens, 2
            after each of them, and 1 after each of these (as Medusa's trees); empty drafts a chain.
        tree_nodes: number of nodes of a dynamic tree: the paths with the highest joint draft
            probability, at most draft_length long (EAGLE-2); 0 is off.
        tree_picks: choice of a node's children: `top_k` takes the most probable tokens of the
            draft; `without_replacement` and `with_replacement` draw them from its distribution. At
            temperature 0 of the draft, all of them take the most probable tokens.
        draft_temperature: temperature of the draft; None uses that of `shaping`, whose filters and
            penalties act on both models.
        draft_threshold: drafting ends after a token whose draft probability (before temperature and
            filters) is lower; 0 is off. transformers' `assistant_confidence_threshold`.
        adaptive: whether the length changes, starting at draft_length: plus 2 after a round with
            all tokens accepted, otherwise minus 1 (transformers' "heuristic" schedule; at most 64).
        lookup_ngram: length of the longest n-gram that prompt lookup searches for.
        lookup_min: length of the shortest n-gram that prompt lookup searches for (vLLM's
            `prompt_lookup_min`).
        suffix_factor: suffix decoding drafts at most this many times the length of the matched
            suffix (vLLM's `suffix_decoding_max_spec_factor`).
        suffix_min_prob: suffix decoding ends before a token whose estimated probability is lower
            (vLLM's `suffix_decoding_min_token_prob`).
        lookahead_window: columns of lookahead decoding's window (W of Fu et al. 2024); its n-grams
            have draft_length + 1 tokens (N).
        lookahead_guesses: number of n-grams that lookahead decoding keeps after each token, and
            verifies at once (G).
        exit_layer: number of the target's layers that draft in an early exit.
        posterior_threshold: epsilon of typical acceptance, the upper bound of the threshold.
        posterior_alpha: delta of typical acceptance: the threshold is min(epsilon, delta *
            exp(-entropy)) (defaults as in vLLM).
        seed: seed of every draw in the run.

    Example:
        >>> model = load_model("embedded:target")
        >>> config = Speculative(draft_length=3, max_new_tokens=8)
        >>> trace = collect(model, "Once upon a time", config, draft=load_model("embedded:draft"))
        >>> [len(step.drafted) for step in trace.rounds]
        [3, 3, 2]
    """

    method: ClassVar[str] = "speculative"
    words: ClassVar[str] = N_("speculative decoding")
    can_contrast: ClassVar[bool] = False
    without_states: ClassVar[str] = N_(
        "a drafted token moves its state by the target's probability, which the draft doesn't know "
        "and a verification learns only for all drafted tokens at once"
    )

    draft_length: int = setting(
        4, "tokens that the draft proposes a round at most", Interval(1, MAX_DRAFT_LENGTH)
    )
    acceptance: Acceptance = setting(
        "speculative",
        "speculative sampling, the target's own sample, typical acceptance, or the whole block",
    )
    scoring: Scoring = setting("multi_query", "one sequence with many queries, or many sequences")
    drafter: Drafter = setting(
        "model",
        listed(
            (
                Message("{name}: {words}", name=row.name, words=Message(row.words))
                for row in SOURCES.values()
            ),
            N_("{one}; {other}"),
        ),
    )
    tree_widths: str = setting(
        "", "a tree of drafts with these widths by level, such as 3,2,1; empty is a chain"
    )
    tree_nodes: int = setting(
        0, "a tree of the likeliest drafts with so many nodes; 0 is a chain", Interval(0, MAX_NODES)
    )
    tree_picks: TreePicks = setting("top_k", "children of a node: likeliest tokens, or draws")
    draft_temperature: float | None = setting(
        None, "temperature of the draft; without it that of the target", TEMPERATURE
    )
    draft_threshold: float = setting(
        0.0, "drafting ends after a token with a lower draft probability; 0 is off", SHARE
    )
    adaptive: bool = setting(False, "lengthen drafts that are accepted, shorten the others")
    lookup_ngram: int = setting(
        2, "of prompt lookup: the longest run of last tokens to search for", Interval(1, 100)
    )
    lookup_min: int = setting(
        1, "of prompt lookup: the shortest run of last tokens to search for", Interval(1, 100)
    )
    suffix_factor: float = setting(
        1.0, "of suffixes: the draft's length over that of the matched suffix", Interval(0.1, 64.0)
    )
    suffix_min_prob: float = setting(
        0.1, "of suffixes: the draft ends before a token with a lower share of the matches", SHARE
    )
    lookahead_window: int = setting(
        7, "of lookahead: columns of the window of guesses", Interval(1, MAX_WINDOW)
    )
    lookahead_guesses: int = setting(
        7, "of lookahead: n-grams after a token that are verified at once", Interval(1, 32)
    )
    exit_layer: int = setting(
        2, "of early exit: the number of the target's layers that draft", Interval(1, MAX_LAYERS)
    )
    # With 1 for both, not even a token of probability 1 would exceed the threshold.
    posterior_threshold: float = setting(
        0.09, "of typical acceptance: highest threshold (epsilon)", _POSTERIOR
    )
    posterior_alpha: float = setting(
        0.3, "of typical acceptance: factor of exp(-entropy) in the threshold (delta)", _POSTERIOR
    )
    seed: int = setting(0, within=SEED)

    def __post_init__(self) -> None:
        # super() without arguments fails: a dataclass with slots is a rebuilt class.
        MethodConfig.__post_init__(self)
        if not isinstance(self.tree_widths, str):
            raise _refused(
                Message("must be a text, got {given}.", given=brief(self.tree_widths)),
                "tree_widths",
            )
        if self.tree_widths:
            try:
                widths_of(self.tree_widths)
            except ValueError as error:
                raise _refused(
                    Message("{fault}, got {given}.", fault=error, given=brief(self.tree_widths)),
                    "tree_widths",
                ) from None
        if self.drafts_tree:
            self._require_tree()
        if "lookup_min" in self.source.settings and self.lookup_min > self.lookup_ngram:
            # No n-gram would have a length to be searched for.
            raise _refused(
                Message(
                    "must be at most lookup_ngram ({longest}), got {given}.",
                    longest=self.lookup_ngram,
                    given=self.lookup_min,
                ),
                "lookup_min",
            )

    def _require_tree(self) -> None:
        """Raise ConfigError if a setting doesn't suit a draft that is a tree."""
        name = "tree_nodes" if self.tree_nodes else "tree_widths"
        if self.tree_widths and self.tree_nodes:
            raise _refused(N_("makes a dynamic tree and tree_widths a static one: give one."), name)
        if self.tree_nodes and self.tree_picks != "top_k":
            # Leaving out drawn tokens by their probability would change their distribution.
            raise _refused(N_("chooses among the likeliest tokens: set tree_picks to top_k."), name)
        if (self.tree_nodes or self.tree_widths) and not self.source.grows_trees:
            raise _refused(
                Message(
                    "is no setting of {source}: leave it out.", source=Message(self.source.label)
                ),
                name,
            )
        if self.tree_widths and not self.source.draws:
            raise _refused(
                N_("needs a draft with probabilities: set tree_nodes in its place."), name
            )
        if self.source.looks_ahead:
            name = "drafter"
            self._require_ngrams()
        if self.adaptive:
            raise _refused(N_("has a fixed shape: switch adaptive off."), name)
        if self.acceptance == "block":
            raise _refused(
                N_(
                    "can't be block verification with a tree (tree_widths, tree_nodes or "
                    "lookahead): it verifies a chain as a whole."
                ),
                "acceptance",
            )

    def _require_ngrams(self) -> None:
        """Raise ConfigError if the n-grams of lookahead are too short, or too many."""
        if self.draft_length < 2:
            raise _refused(
                Message(
                    "must be at least 2 with {source}, got {given}.",
                    source=Message(self.source.label),
                    given=self.draft_length,
                ),
                "draft_length",
            )
        if self.lookahead_guesses * self.draft_length > MAX_NODES:
            raise _refused(
                Message(
                    "times draft_length must be at most {most} tokens, got {guesses} × {length}: "
                    "lower one of both.",
                    most=MAX_NODES,
                    guesses=self.lookahead_guesses,
                    length=self.draft_length,
                ),
                "lookahead_guesses",
            )

    @property
    def widths(self) -> tuple[int, ...]:
        """Widths of a static tree; empty for any other draft."""
        return widths_of(self.tree_widths) if self.tree_widths else ()

    @property
    def drafts_tree(self) -> bool:
        """True if a position may have several candidates."""
        return bool(self.tree_widths or self.tree_nodes or self.source.looks_ahead)

    @property
    def depth(self) -> int:
        """Maximum number of positions that a round drafts."""
        return len(self.widths) or self.draft_length

    @property
    def idle(self) -> frozenset[str]:
        """Settings without effect: those of other sources, acceptance rules and shapes."""
        of_sources = frozenset[str]().union(*(row.settings for row in SOURCES.values()))
        idle = of_sources - self.source.settings
        if self.acceptance != "typical":
            idle |= {"posterior_threshold", "posterior_alpha"}
        # The widths of a static tree set its depth, and its children alone may be drawn.
        return idle | {"draft_length" if self.tree_widths else "tree_picks"}

    @property
    def source(self) -> DraftSource:
        """Row of the drafter."""
        return SOURCES[self.drafter]

    @property
    def draft_draws(self) -> bool:
        """True if a uniform number draws each drafted token."""
        picked = self.drafts_tree and self.tree_picks == "top_k"
        return self.source.draws and self.draft_shaping.temperature > 0 and not picked

    @property
    def lossless(self) -> bool:
        """True if the output has the target's distribution."""
        return self.acceptance != "typical" or self.shaping.temperature == 0

    @property
    def draft_shaping(self) -> Shaping:
        """Shaping of the draft's logits."""
        if self.draft_temperature is None:
            return self.shaping
        return replace(self.shaping, temperature=self.draft_temperature)


def _refused(words: str, name: str) -> ConfigError:
    return ConfigError(words, name, Speculative.__name__)
