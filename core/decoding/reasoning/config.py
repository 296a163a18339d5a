"""Settings of reasoning under a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...language import N_, Message
from ..autoregressive.config import Greedy, Sampling, as_single_tokens
from ..config import MAX_NEW_TOKENS, SEED, DrawMethod, MethodConfig, setting
from ..errors import ConfigError
from ..validation import Interval, brief, require_text

# Room for both thinking marks; written as ordinary text, a mark has several tokens.
MARK_TOKENS = 16
# Thinking budget of each reasoning level, in tokens.
LEVELS = {"low": 32, "medium": 64, "high": 128}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning(MethodConfig):
    """Reasoning: thinking between two marks up to a bound, then an answer up to another; greedy or
    drawn.

    Whatever the bounds, the run ends at `max_new_tokens`; a run that ends in its thinking has no
    answer. Stop strings act in the answer only.

    Args:
        max_thinking_tokens: thinking budget: the number of tokens between the marks, forced tokens
            (wait text, results) included. At the bound the closing mark is forced. 0 closes at
            once.
        max_answer_tokens: maximum number of tokens after the closing mark, the end-of-sequence
            token included.
        ignore_end: number of attempts to stop thinking that are replaced by `wait_text`, as long as
            the whole text fits into the budget (s1, Muennighoff et al. 2025). If the closing mark
            has several tokens, the last one is replaced: its first tokens stay in the text.
        wait_text: the text that is forced instead.
        think_start: mark that opens the thinking; forced unless the prompt ends with it. Empty for
            a model that is prompted to think.
        think_end: mark that closes the thinking. If both marks are empty, the run doesn't think:
            all of it is the answer.
        calculator: insert the result after every call that the model writes
            (`<call>4821*377<result>`, then `1817517</result>`).
        do_sample: draw every unforced token; temperature and filters then act. Temperature 0
            switches it off.
        seed: seed of the draws.
        draw: as in `Sampling`.

    Example:
        >>> model = load_model("embedded:target")
        >>> prompt = model.encode_chat([{"role": "user", "content": "What is 3 + 4?"}])
        >>> trace = collect(model, prompt, Reasoning(max_thinking_tokens=40))
        >>> trace.text
        '3 + 4 = 7.The answer is 7.'
    """

    method: ClassVar[str] = "reasoning"
    words: ClassVar[str] = "reasoning"
    has_own_bound: ClassVar[bool] = True
    forces: ClassVar[tuple[str, ...]] = ("think_start", "think_end", "wait", "result")

    max_new_tokens: int = setting(1024, within=Interval(1, MAX_NEW_TOKENS))
    max_thinking_tokens: int = setting(
        LEVELS["high"],
        "the thinking budget; at the bound the closing mark is forced; --max-new-tokens makes room "
        "for it unless it is given",
        Interval(0, MAX_NEW_TOKENS),
    )
    max_answer_tokens: int = setting(64, "the bound on the answer", Interval(1, MAX_NEW_TOKENS))
    ignore_end: int = setting(
        0, "replace so many attempts to stop thinking by the wait text", Interval(0, 100)
    )
    wait_text: str = setting(" Wait,", "what is forced instead")
    think_start: str = "<think>"
    think_end: str = "</think>"
    calculator: bool = setting(False, "put the result in after every call that the model writes")
    do_sample: bool = False
    seed: int = setting(0, within=SEED)
    draw: DrawMethod = "inverse_cdf"

    def __post_init__(self) -> None:
        MethodConfig.__post_init__(self)
        for name in ("wait_text", "think_end", "think_start"):
            require_text("Reasoning", name, getattr(self, name), may_be_empty=name != "wait_text")
        if self.think_start and not self.think_end:
            raise ConfigError(
                N_("must close what think_start opens; give both, or neither."),
                "think_end",
                "Reasoning",
            )
        if self.think_end and self.think_end in self.wait_text:
            raise ConfigError(
                Message(
                    "must not close the thinking, got {given}; leave the closing mark out of it.",
                    given=brief(self.wait_text),
                ),
                "wait_text",
                "Reasoning",
            )

    @property
    def room(self) -> int:
        """The smallest `max_new_tokens` at which thinking and answer can reach their own bounds."""
        needed = self.max_thinking_tokens + self.max_answer_tokens + MARK_TOKENS
        return min(needed, MAX_NEW_TOKENS)

    @property
    def draws(self) -> bool:
        """True if tokens are drawn."""
        return self.do_sample and self.shaping.temperature > 0

    @property
    def chooser(self) -> Greedy | Sampling:
        """Config of the method that chooses every unforced token."""
        return as_single_tokens(self, self.draws)

    @property
    def level(self) -> str | None:
        """Name of the thinking budget's level; None if it is no level."""
        return next((n for n, most in LEVELS.items() if most == self.max_thinking_tokens), None)
