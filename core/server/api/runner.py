"""Runs a request in a thread of its own: the model, its turn, one run after the other."""

from __future__ import annotations

import hashlib
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from core.decoding.beam.config import BeamSearch
from core.decoding.config import MethodConfig
from core.decoding.decode import collect, decode, encode_prompt
from core.decoding.errors import ConfigError, DecodingError, LoadingStoppedError, LostModelError
from core.decoding.protocol import LanguageModel
from core.models.stopping import stoppable
from core.server.api.config import NO_WINDOW
from core.server.api.errors import ApiError, as_api_error, stopped
from core.server.api.history import Record
from core.server.api.logprobs import MAX_ENTRIES, Wanted
from core.server.api.parts import AllEnded, AnswerPart, Failed, Started
from core.server.api.plan import Chat, Plan, encode
from core.server.api.writer import RequestRun, Writer
from core.server.queue import FairQueue, Turn
from core.traces.data_path.recorder import record as data_path

# Of one request's data path; a token of the embedded model takes about 140.
MOST_CALLS = 20_000


class Load(Protocol):
    """Gives a model by its name.

    Raises ModelError, or LoadingStoppedError where `should_stop` said so.
    """

    def __call__(self, where: str, should_stop: Callable[[], bool]) -> Any: ...


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs one request.

    Args:
        put: takes the parts of the answer; called from the runner's thread.
    """

    plan: Plan
    record: Record
    load: Load
    queue: FairQueue
    put: Callable[[AnswerPart], None]

    def run(self) -> None:
        """Make the whole answer; whatever goes wrong becomes a part of it."""
        record = self.record
        try:
            # A chat template that loops asks too.
            with stoppable(self._should_stop):
                self._run_all()
            if record.stopping.is_set():
                raise LoadingStoppedError
            record.end("finished")
            self.put(AllEnded())
        except LoadingStoppedError:
            record.end("stopped")
            self.put(Failed(stopped()))
        except DecodingError as error:
            self._fail(as_api_error(error, self.plan.blamed(error)))
        except Exception as error:
            refusal = as_api_error(error)
            if refusal.status == 500:
                traceback.print_exc(file=sys.stderr)
            self._fail(refusal)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Records the data path, where it was asked for."""
        if not self.record.watched:
            yield
            return
        with data_path(MOST_CALLS) as recorder:
            yield
        before = self.record.path
        self.record.path = before.then(recorder.path) if before else recorder.path

    def _fail(self, error: ApiError) -> None:
        self.record.end("failed", str(error))
        self.put(Failed(error))

    def _run_all(self) -> None:
        model, *second = (self.load(name, self._should_stop) for name in self.plan.models)
        _leave_a_processor()
        # Where models lie is their operator's matter.
        with self._watched():
            self._run_loaded(model, second[0] if second else None)

    def _run_loaded(self, model: LanguageModel, draft: LanguageModel | None) -> None:
        plan, record = self.plan, self.record
        runs = list(self._prepare(model))
        record.configs = tuple(run.config for run in runs)
        self._require_bounds(model, runs)
        for run in runs:
            # Says what is wrong before the answer begins, and starts nothing.
            decode(model, run.prompt_ids, run.config, draft=draft)
        firsts = [run for run in runs if run.choices[0] % plan.n == 0]
        prompts = tuple(tuple(run.prompt_ids) for run in firsts)
        started = Started(model.vocabulary, record.configs, prompts, _fingerprint(model))
        record.prompt_tokens, record.state = started.prompt_tokens, "waiting"
        self.put(started)
        with self.queue.turn(self._should_stop, ("api", record.owner)) as turn:
            for run in runs:
                if not turn.held or record.stopping.is_set():
                    return
                record.begin_run()
                self._decode(model, draft, run, turn)

    def _should_stop(self) -> bool:
        return self.record.stopping.is_set()

    def _prepare(self, model: LanguageModel) -> Iterator[RequestRun]:
        """The runs of the request, in order of their choices.

        Raises:
            ApiError, PromptError, ConfigError: what the model can't be asked for.
        """
        plan = self.plan
        for at, prompt in enumerate(plan.prompts):
            ids = encode_prompt(model, encode(model, prompt, plan.asked.effort))
            room = NO_WINDOW if model.context_window is None else model.context_window - len(ids)
            said = plan.prompt_text if isinstance(prompt, Chat) else None
            config = plan.asked.config(model, room)
            choices = tuple(range(at * plan.n, (at + 1) * plan.n))
            for own, one in _split(config, choices):
                yield RequestRun(own, ids, said, one)

    def _require_bounds(self, model: LanguageModel, runs: Sequence[RequestRun]) -> None:
        """Raises ApiError for more log-probabilities than an answer may hold, or a server names."""
        plan = self.plan
        name = "logprobs" if plan.endpoint == "completions" else "top_logprobs"
        if plan.logprobs:
            tokens = [run.config.max_new_tokens + plan.echo * len(run.prompt_ids) for run in runs]
            _require_bound(model, plan.logprobs, sum(tokens), name)
        if plan.prompt_logprobs is not None:
            tokens = [len(run.prompt_ids) for run in runs]
            _require_bound(model, Wanted(plan.prompt_logprobs), sum(tokens), "prompt_logprobs")

    def _decode(
        self, model: LanguageModel, draft: LanguageModel | None, run: RequestRun, turn: Turn
    ) -> None:
        """One run; its parts go out as they come, and its trace is kept."""
        writer = Writer(self.plan, self.record, model, run, self.put)

        def should_stop() -> bool:
            # Asked before the first step too, and the prompt is one.
            return turn.should_stop() or (self.plan.only_prompt and bool(self.record.steps))

        trace = collect(
            writer.model,
            run.prompt_ids,
            run.config,
            draft=draft,
            on_step=writer.on_step,
            should_stop=should_stop,
            prompt_text=run.prompt_text,
        )
        self.record.traces.append(trace)
        self.record.steps = []
        writer.finish(trace)
        if trace.finish_reason == "cancelled" and not should_stop() and trace.notes:
            # Its model's server broke off, or draws what it doesn't name.
            raise LostModelError(trace.notes[-1])


def _require_bound(model: LanguageModel, wanted: Wanted, positions: int, param: str) -> None:
    known, count = getattr(model, "known", None), wanted.count(model.vocab_size)
    if known is not None and not 0 <= wanted.top <= known:
        raise ApiError(
            f"The server of {model.model_id} names {known} tokens of each step: ask for the "
            f"log-probabilities of at most {known}.",
            param=param,
        )
    if positions * (1 + count) > MAX_ENTRIES:
        raise ApiError(
            f"{positions:,} tokens with {count:,} log-probabilities each are more than the "
            f"{MAX_ENTRIES:,} of one answer; ask for fewer tokens, or for fewer of each.",
            param=param,
        )


def _leave_a_processor() -> None:
    from core.models.threads import leave_a_processor

    leave_a_processor()


def _split(
    config: MethodConfig, choices: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], MethodConfig]]:
    """The runs that give some choices: a search finds all of them, others differ by their seeds."""
    if isinstance(config, BeamSearch):
        most = max(len(choices), config.num_return_sequences)
        try:
            yield choices, replace(config, num_return_sequences=most)
        except ConfigError as error:
            said = error.plain.replace("num_return_sequences", "n")
            raise ApiError(said, param="n", code="invalid_value") from None
        return
    for n, choice in enumerate(choices):
        seeded = {"seed": config.seed + n} if hasattr(config, "seed") else {}
        yield (choice,), replace(config, **seeded)


def _fingerprint(model: LanguageModel) -> str:
    said = f"{model.model_id} {model.revision} {model.dtype}"
    return f"fp_{hashlib.sha256(said.encode()).hexdigest()[:12]}"
