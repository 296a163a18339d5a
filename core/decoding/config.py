"""One small frozen dataclass for each decoding method; field names follow GenerationConfig."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, TypeAlias

from core.decoding.errors import ConfigError

DrawMethod: TypeAlias = Literal["inverse_cdf", "gumbel", "multinomial"]
DRAW_METHODS: tuple[DrawMethod, ...] = ("inverse_cdf", "gumbel", "multinomial")
Acceptance: TypeAlias = Literal["speculative", "exact", "typical"]
ACCEPTANCES: tuple[Acceptance, ...] = ("speculative", "exact", "typical")
Scoring: TypeAlias = Literal["multi_query", "batch_expansion"]
SCORINGS: tuple[Scoring, ...] = ("multi_query", "batch_expansion")
Drafter: TypeAlias = Literal["model", "prompt_lookup"]
DRAFTERS: tuple[Drafter, ...] = ("model", "prompt_lookup")

MAX_NEW_TOKENS = 100_000
MAX_CANDIDATES = 200
MAX_SEED = 2**63 - 1
# Of typical acceptance.
MAX_POSTERIOR = 0.99
MIN_TEMPERATURE = 0.001
MAX_TEMPERATURE = 100.0
MAX_BEAMS = 64
MAX_DRAFT_LENGTH = 64
MAX_STOP_STRINGS = 64
MAX_STOP_LENGTH = 1_000
MAX_IGNORED_ENDS = 100
# Beyond it a length to this power leaves float32.
MAX_LENGTH_PENALTY = 5.0
# What a reasoning level is: a bound on the loop, in thinking tokens.
# Both marks of a thinking, with room to spare: written as ordinary text they are several tokens.
MARK_TOKENS = 16
LEVELS = {"low": 32, "medium": 64, "high": 128}

_SHOWN = 60


def brief(value: object) -> str:
    """A value as an error message shows it: at most about 60 characters, whatever it is."""
    if isinstance(value, str):
        return repr(value if len(value) <= _SHOWN else value[:_SHOWN] + "…")
    if isinstance(value, int) and value.bit_length() > 3 * _SHOWN:
        return f"a whole number of about {int(value.bit_length() * 0.30103) + 1} digits"
    if value is None or isinstance(value, int | float):
        return repr(value)
    return f"a value of type {type(value).__name__}"


def _require_number(owner: str, name: str, value: object, low: float, high: float) -> None:
    # Only NaN differs from itself; infinities lie outside every interval.
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise ConfigError(f"{owner}.{name} must be a finite number, got {brief(value)}.")
    if not low <= value <= high:
        raise ConfigError(f"{owner}.{name} must lie in [{low:g}, {high:g}], got {brief(value)}.")


def _require_whole(owner: str, name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ConfigError(f"{owner}.{name} must be a whole number, got {brief(value)}.")
    if not low <= value <= high:
        raise ConfigError(f"{owner}.{name} must lie in [{low}, {high}], got {brief(value)}.")


def _require_bool(owner: str, name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise ConfigError(f"{owner}.{name} must be True or False, got {brief(value)}.")


def _require_text(owner: str, name: str, value: object, *, may_be_empty: bool) -> None:
    """A text that a run may force: not long, and one that UTF-8 can write."""
    if not isinstance(value, str) or not (value or may_be_empty):
        kind = "a string" if may_be_empty else "a non-empty string"
        raise ConfigError(f"{owner}.{name} must be {kind}, got {brief(value)}.")
    if len(value) > MAX_STOP_LENGTH:
        raise ConfigError(
            f"{owner}.{name} must hold at most {MAX_STOP_LENGTH:,} characters, got {len(value):,}."
        )
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise ConfigError(f"{owner}.{name} must be text that UTF-8 can write, got {brief(value)}.")


def _require_temperature(owner: str, name: str, value: float) -> None:
    # Logits divided by less would leave float32.
    _require_number(owner, name, value, 0.0, MAX_TEMPERATURE)
    if 0 < value < MIN_TEMPERATURE:
        raise ConfigError(
            f"{owner}.{name} must lie in [{MIN_TEMPERATURE:g}, {MAX_TEMPERATURE:g}] or be 0 "
            f"(greedy), got {brief(value)}."
        )


def _require_choice(owner: str, name: str, value: object, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ConfigError(
            f"{owner}.{name} must be one of {', '.join(allowed)}, got {brief(value)}."
        )


def _required_stop_strings(owner: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ConfigError(
            f"{owner}.stop_strings must be a list or tuple of strings, got {brief(value)}."
        )
    if len(value) > MAX_STOP_STRINGS:
        raise ConfigError(
            f"{owner}.stop_strings must hold at most {MAX_STOP_STRINGS} strings, got {len(value)}."
        )
    for text in value:
        if not isinstance(text, str) or not text:
            raise ConfigError(
                f"{owner}.stop_strings must hold non-empty strings only, got {brief(text)}."
            )
        if len(text) > MAX_STOP_LENGTH:
            raise ConfigError(
                f"{owner}.stop_strings must hold strings of at most {MAX_STOP_LENGTH:,} "
                f"characters, got one of {len(text):,}."
            )
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise ConfigError(
                f"{owner}.stop_strings must hold text that UTF-8 can write, got {brief(text)}."
            )
    return tuple(value)


@dataclass(frozen=True, slots=True)
class Shaping:
    """From logits to the distribution drawn from; the defaults change nothing.

    The acts run in transformers' order: repetition_penalty, no_repeat_ngram_size,
    min_new_tokens (a field of the method's config), temperature, top_k, top_p, min_p,
    typical_p, epsilon_cutoff, eta_cutoff. `temperature=0` means greedy, else it is 0.001 or more.
    Unlike `generate`, an unset `top_k` filters nothing (transformers' implicit default is 50).

    Raises:
        ConfigError: a value outside its interval.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    typical_p: float = 1.0
    epsilon_cutoff: float = 0.0
    eta_cutoff: float = 0.0
    repetition_penalty: float = 1.0
    no_repeat_ngram_size: int = 0

    def __post_init__(self) -> None:
        _require_temperature("Shaping", "temperature", self.temperature)
        _require_whole("Shaping", "top_k", self.top_k, 0, 10_000_000)
        _require_number("Shaping", "top_p", self.top_p, 0.0, 1.0)
        _require_number("Shaping", "min_p", self.min_p, 0.0, 1.0)
        _require_number("Shaping", "typical_p", self.typical_p, 0.0, 1.0)
        if self.typical_p == 0:
            raise ConfigError("Shaping.typical_p must lie in (0, 1], got 0.")
        for name in ("epsilon_cutoff", "eta_cutoff"):
            value = getattr(self, name)
            _require_number("Shaping", name, value, 0.0, 1.0)
            if value == 1:
                raise ConfigError(f"Shaping.{name} must lie in [0, 1), got {brief(value)}.")
        _require_number("Shaping", "repetition_penalty", self.repetition_penalty, 0.01, 100.0)
        _require_whole("Shaping", "no_repeat_ngram_size", self.no_repeat_ngram_size, 0, 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodConfig:
    """What every method shares.

    Args:
        max_new_tokens: the bound on the loop, in tokens.
        min_new_tokens: end-of-sequence tokens are held back until so many tokens are out.
        stop_strings: the run ends with the token that completes one of them in the new text.
        shaping: penalties act in every method, temperature and filters where something is drawn.
        top_candidates: how many candidates a step keeps (the chosen token is always kept too).
        use_cache: False runs the whole sequence through the model at every step.
    """

    method: ClassVar[str] = ""

    max_new_tokens: int = 40
    min_new_tokens: int = 0
    stop_strings: tuple[str, ...] = ()
    shaping: Shaping = field(default_factory=Shaping)
    top_candidates: int = 20
    use_cache: bool = True

    def __post_init__(self) -> None:
        owner = type(self).__name__
        _require_whole(owner, "max_new_tokens", self.max_new_tokens, 1, MAX_NEW_TOKENS)
        _require_whole(owner, "min_new_tokens", self.min_new_tokens, 0, self.max_new_tokens)
        _require_whole(owner, "top_candidates", self.top_candidates, 1, MAX_CANDIDATES)
        stop_strings = _required_stop_strings(owner, self.stop_strings)
        object.__setattr__(self, "stop_strings", stop_strings)
        if not isinstance(self.shaping, Shaping):
            raise ConfigError(f"{owner}.shaping must be a Shaping, got {brief(self.shaping)}.")
        _require_bool(owner, "use_cache", self.use_cache)


@dataclass(frozen=True, slots=True, kw_only=True)
class Greedy(MethodConfig):
    """The most probable token at every step; temperature and filters don't act, penalties do."""

    method: ClassVar[str] = "greedy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling(MethodConfig):
    """A token drawn from the shaped distribution at every step.

    Args:
        seed: of the run's own generator; the same seed gives the same run.
        draw: `inverse_cdf` records the uniform number, `gumbel` adds noise to the
            log-probabilities, `multinomial` uses torch's generator exactly as transformers does.
    """

    method: ClassVar[str] = "sampling"

    seed: int = 0
    draw: DrawMethod = "inverse_cdf"

    def __post_init__(self) -> None:
        # Not super(): a dataclass with slots is rebuilt, which breaks the zero-argument form.
        MethodConfig.__post_init__(self)
        _require_whole("Sampling", "seed", self.seed, 0, MAX_SEED)
        _require_choice("Sampling", "draw", self.draw, DRAW_METHODS)


@dataclass(frozen=True, slots=True, kw_only=True)
class BeamSearch(MethodConfig):
    """The `num_beams` best paths at once, as transformers searches; candidates K a step are
    max(2, 1 + end-of-sequence tokens) * num_beams, whatever `top_candidates` says.

    Args:
        num_beams: rows of the beam; 1 is greedy decoding that may look past an early end.
        length_penalty: a hypothesis' score is its summed log-probability over its length to this
            power: above 0 favours long ones, below 0 short ones.
        early_stopping: True ends with num_beams hypotheses; False once the best row, at its present
            length, can't beat the worst of them; "never" asks that at the longest length possible.
        num_return_sequences: how many of the best hypotheses are asked for.
        do_sample: draw the K candidates instead of taking the best ("beam sample"); temperature and
            filters act then. Temperature 0 switches it off.
        num_beam_groups: diverse beam search (Vijayakumar et al. 2016): so many groups of
            num_beams / num_beam_groups rows, each searched for itself.
        diversity_penalty: what a token's log-probability loses in a group for each path of an
            earlier group that has just taken it (Hamming diversity; the end never costs).
        seed: of the draws.
    """

    method: ClassVar[str] = "beam"

    num_beams: int = 4
    length_penalty: float = 1.0
    early_stopping: bool | Literal["never"] = False
    num_return_sequences: int = 1
    do_sample: bool = False
    num_beam_groups: int = 1
    diversity_penalty: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        MethodConfig.__post_init__(self)
        owner, most = "BeamSearch", MAX_LENGTH_PENALTY
        _require_whole(owner, "num_beams", self.num_beams, 1, MAX_BEAMS)
        _require_number(owner, "length_penalty", self.length_penalty, -most, most)
        _require_whole(owner, "num_return_sequences", self.num_return_sequences, 1, self.num_beams)
        _require_whole(owner, "num_beam_groups", self.num_beam_groups, 1, self.num_beams)
        _require_number(owner, "diversity_penalty", self.diversity_penalty, 0.0, 100.0)
        _require_whole(owner, "seed", self.seed, 0, MAX_SEED)
        stopping = self.early_stopping
        if not isinstance(stopping, bool) and stopping != "never":
            raise ConfigError(
                f"BeamSearch.early_stopping must be True, False or 'never', got {brief(stopping)}."
            )
        _require_bool(owner, "do_sample", self.do_sample)
        self._require_groups_that_work()

    def _require_groups_that_work(self) -> None:
        beams, groups = self.num_beams, self.num_beam_groups
        if beams % groups:
            raise ConfigError(
                f"BeamSearch.num_beam_groups must divide num_beams ({beams}), got {groups}."
            )
        if groups > 1 and self.do_sample:
            raise ConfigError(
                "BeamSearch.do_sample and num_beam_groups exclude each other: diverse beam search "
                "takes the best candidates; switch one of them off."
            )
        if groups == 1 and self.diversity_penalty:
            raise ConfigError(
                "BeamSearch.diversity_penalty acts between groups; set num_beam_groups to 2 or "
                f"more, or the penalty to 0, got {brief(self.diversity_penalty)}."
            )

    @property
    def draws(self) -> bool:
        """Whether candidates are drawn."""
        return self.do_sample and self.shaping.temperature > 0


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

    draft_length: int = 4
    acceptance: Acceptance = "speculative"
    scoring: Scoring = "multi_query"
    drafter: Drafter = "model"
    draft_temperature: float | None = None
    draft_threshold: float = 0.0
    adaptive: bool = False
    lookup_ngram: int = 2
    posterior_threshold: float = 0.09
    posterior_alpha: float = 0.3
    seed: int = 0

    def __post_init__(self) -> None:
        MethodConfig.__post_init__(self)
        owner = "Speculative"
        _require_whole(owner, "draft_length", self.draft_length, 1, MAX_DRAFT_LENGTH)
        _require_choice(owner, "acceptance", self.acceptance, ACCEPTANCES)
        _require_choice(owner, "scoring", self.scoring, SCORINGS)
        _require_choice(owner, "drafter", self.drafter, DRAFTERS)
        if self.draft_temperature is not None:
            _require_temperature(owner, "draft_temperature", self.draft_temperature)
        _require_number(owner, "draft_threshold", self.draft_threshold, 0.0, 1.0)
        _require_bool(owner, "adaptive", self.adaptive)
        _require_whole(owner, "lookup_ngram", self.lookup_ngram, 1, 100)
        # With 1 for both not even a certain token would lie above the threshold.
        _require_number(owner, "posterior_threshold", self.posterior_threshold, 0.0, MAX_POSTERIOR)
        _require_number(owner, "posterior_alpha", self.posterior_alpha, 0.0, MAX_POSTERIOR)
        _require_whole(owner, "seed", self.seed, 0, MAX_SEED)

    @property
    def lossless(self) -> bool:
        """Whether the output's distribution is the target's own."""
        return self.acceptance != "typical" or self.shaping.temperature == 0

    @property
    def draft_shaping(self) -> Shaping:
        """What makes the draft's distribution of its logits."""
        if self.draft_temperature is None:
            return self.shaping
        return replace(self.shaping, temperature=self.draft_temperature)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning(MethodConfig):
    """Thinking between two marks up to a bound, then the answer up to another; greedy or drawn.

    Whatever the bounds, the run ends with `max_new_tokens`, as a plain loop would: one that ends
    while it thinks has no answer. Stop strings act in the answer only.

    Args:
        max_thinking_tokens: the thinking budget: tokens between the marks, the forced ones (wait,
            results) included. At the bound the closing mark is forced. 0 closes at once.
        max_answer_tokens: tokens after the closing mark, the end of sequence included.
        ignore_end: so many attempts to stop thinking are replaced by `wait_text`, as long as all of
            it fits into the budget (s1, Muennighoff et al. 2025). Of a closing mark of several
            tokens the last one is replaced: what came before it stays in the text.
        wait_text: what is forced instead.
        think_start: the mark that opens the thinking; forced unless the prompt ends with it.
            Empty for a model that is told by its prompt to think.
        think_end: the mark that closes it. With both marks empty the run doesn't think: it is an
            answer from its first token on.
        calculator: put the result in after every call that the model writes
            (`<call>4821*377<result>`, then `1817517</result>`).
        do_sample: draw every token that isn't forced; temperature and filters act then.
            Temperature 0 switches it off.
        seed: of the draws.
        draw: as in `Sampling`.
    """

    method: ClassVar[str] = "reasoning"

    max_new_tokens: int = 1024
    max_thinking_tokens: int = LEVELS["high"]
    max_answer_tokens: int = 64
    ignore_end: int = 0
    wait_text: str = " Wait,"
    think_start: str = "<think>"
    think_end: str = "</think>"
    calculator: bool = False
    do_sample: bool = False
    seed: int = 0
    draw: DrawMethod = "inverse_cdf"

    def __post_init__(self) -> None:
        MethodConfig.__post_init__(self)
        owner = "Reasoning"
        _require_whole(owner, "max_thinking_tokens", self.max_thinking_tokens, 0, MAX_NEW_TOKENS)
        _require_whole(owner, "max_answer_tokens", self.max_answer_tokens, 1, MAX_NEW_TOKENS)
        _require_whole(owner, "ignore_end", self.ignore_end, 0, MAX_IGNORED_ENDS)
        _require_whole(owner, "seed", self.seed, 0, MAX_SEED)
        _require_choice(owner, "draw", self.draw, DRAW_METHODS)
        for name in ("calculator", "do_sample"):
            _require_bool(owner, name, getattr(self, name))
        for name in ("wait_text", "think_end", "think_start"):
            _require_text(owner, name, getattr(self, name), may_be_empty=name != "wait_text")
        if self.think_start and not self.think_end:
            raise ConfigError(
                "Reasoning.think_end must close what think_start opens; give both, or neither."
            )
        if self.think_end and self.think_end in self.wait_text:
            raise ConfigError(
                f"Reasoning.wait_text must not close the thinking, got {brief(self.wait_text)}; "
                "leave the closing mark out of it."
            )

    @property
    def room(self) -> int:
        """The least `max_new_tokens` with which thinking and answer come to their own bounds."""
        needed = self.max_thinking_tokens + self.max_answer_tokens + MARK_TOKENS
        return min(needed, MAX_NEW_TOKENS)

    @property
    def draws(self) -> bool:
        """Whether tokens are drawn."""
        return self.do_sample and self.shaping.temperature > 0

    @property
    def chooser(self) -> Greedy | Sampling:
        """The method that chooses every token that isn't forced."""
        shared: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(MethodConfig)}
        if self.draws:
            return Sampling(seed=self.seed, draw=self.draw, **shared)
        return Greedy(**shared)

    @property
    def level(self) -> str | None:
        """The name of the thinking budget, None where it has none."""
        return next((n for n, most in LEVELS.items() if most == self.max_thinking_tokens), None)


METHODS: dict[str, type[MethodConfig]] = {
    config.method: config for config in (Greedy, Sampling, BeamSearch, Speculative, Reasoning)
}


def chooser_of(config: MethodConfig) -> MethodConfig:
    """The method that chooses a run's tokens: itself, but for reasoning, which is built on one."""
    return config.chooser if isinstance(config, Reasoning) else config


def config_to_dict(config: MethodConfig) -> dict[str, Any]:
    """A plain dict with the method's name, ready for JSON."""
    values = {name: getattr(config, name) for name in config.__dataclass_fields__}
    shaping = {name: getattr(config.shaping, name) for name in Shaping.__dataclass_fields__}
    stop_strings = list(config.stop_strings)
    return {"method": config.method, **values, "shaping": shaping, "stop_strings": stop_strings}


def config_from_dict(data: dict[str, Any]) -> MethodConfig:
    """The inverse of `config_to_dict`.

    Raises:
        ConfigError: an unknown method or field, or a value outside its interval.
    """
    values = _settings_of("The config", data)
    method = values.pop("method", None)
    if not isinstance(method, str) or method not in METHODS:
        raise ConfigError(f"method must be one of {', '.join(METHODS)}, got {brief(method)}.")
    kind = METHODS[method]
    shaping = _settings_of(f"{kind.__name__}.shaping", values.pop("shaping", {}))
    _require_known(kind, values)
    _require_known(Shaping, shaping)
    return kind(shaping=Shaping(**shaping), **values)


def _settings_of(name: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"{name} must be an object with settings by name, got {brief(value)}.")
    return dict(value)


def _require_known(kind: type[MethodConfig | Shaping], values: dict[str, Any]) -> None:
    unknown = next((name for name in values if name not in kind.__dataclass_fields__), None)
    if unknown is not None:
        raise ConfigError(f"{kind.__name__} has no setting {brief(unknown)}.")
