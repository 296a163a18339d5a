"""What one browser session looks at on the Decode page: a run and a step of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from core.decoding.trace import Trace
from pages.ui.run.view import Source, View


@dataclass(eq=False)
class DecodeView(View):
    """One session's view of one run; `first` is the first step of the heatmap.

    Args:
        prompt_first: where the window of the prompt begins.
        compared: the same run with the KV cache the other way, once it was measured.
    """

    key: ClassVar[str] = "view"
    example: ClassVar[str] = "decode.json"
    measurements: ClassVar[dict[str, str]] = {"compare": "compared"}
    of_trace: ClassVar[tuple[str, ...]] = ("check", "logits", "compare")

    prompt_first: int = 0
    compared: Trace | None = None

    @classmethod
    def initial(cls) -> Self:
        """The example, at the step with most to look at."""
        found = super().initial()
        if found.trace is not None:
            found.select(_most_open_step(found.trace))
        return found

    def show(self, trace: Trace, source: Source) -> None:
        """Look at another run."""
        super().show(trace, source)
        self.prompt_first = 0

    @property
    def untouched(self) -> bool:
        """Whether this is the example still, at the step that it opened with."""
        return (
            self.source == "example"
            and self.trace is not None
            and self.selected == _most_open_step(self.trace)
        )


def _most_open_step(trace: Trace) -> int:
    """Where the model was least sure."""
    steps = trace.token_steps
    return max(range(len(steps)), key=lambda at: steps[at].entropy, default=0)
