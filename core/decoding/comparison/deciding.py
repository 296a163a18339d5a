"""A step of a run, recomputed by its model under other settings."""

from __future__ import annotations

from collections.abc import Sequence

from ..autoregressive.reshape import logits_at, reshape_step
from ..config import MethodConfig
from ..errors import ConfigError, DecodingError
from ..protocol import LanguageModel
from ..record.trace import Trace
from .parting import compare
from .readings import of_run
from .types import Parting


def explained(
    model: LanguageModel, left: Trace, right: Trace, read: Sequence[Trace] = ()
) -> Parting:
    """Compare two runs, with the left run's model to exchange one setting at a time.

    Args:
        read: both runs as single steps.
    """
    return compare(left, right, lambda at: ModelStep(of_run(model, left), left, at), read=read)


class ModelStep:
    """Step `at` of a run; its logits come from one forward over the prompt and earlier tokens."""

    def __init__(self, model: LanguageModel, trace: Trace, at: int) -> None:
        self._model, self._at = model, at
        self._logits = logits_at(model, trace, at)
        self._before = [*trace.prompt_ids, *trace.token_ids[:at]]
        self._states = trace.token_steps[at].states if at < len(trace.token_steps) else {}

    def token_under(self, config: MethodConfig) -> int | None:
        """Return the token that the step emits under other settings; None if they remove every
        token.

        Raises:
            ConfigError: they contrast the model with a draft, which is not given.
        """
        try:
            step = reshape_step(
                self._model, self._logits, self._before, config, self._at, self._states
            )
        except ConfigError:
            raise
        except DecodingError:
            return None
        return step.token_id

    def gap(self, one: int, other: int) -> float:
        """Return the distance of two tokens' raw log-probabilities, in nats."""
        return abs(float(self._logits[one] - self._logits[other]))
