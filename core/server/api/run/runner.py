"""Work of a request's job: load the models, wait for the turn, run one choice after the other."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ....decoding.beam.config import BeamSearch
from ....decoding.decode import decode
from ....decoding.diffusion.config import Diffusion
from ....decoding.errors import ConfigError, DecodingError, LoadingStoppedError, LostModelError
from ....decoding.protocol import LanguageModel
from ....decoding.requirements import encode_prompt
from ....models.threads import leave_a_processor
from ....traces.data_path.recorder import record as data_path
from ...job import StoppedError
from ...queue import FairQueue
from ...worker.workers import IN_PROCESS, Workers
from ..answer.logprobs import MAX_ENTRIES
from ..answer.parts import AnswerPart, Started
from ..errors import ApiError, as_api_error
from ..history import Record
from ..request.calls import CallSyntax, syntax_of
from ..request.config import NO_WINDOW
from ..request.plan import Chat, LogprobsOptions, Plan, encode
from .emitter import Emitter, RequestRun
from .scored import collect_scored

# Limit on calls in a request's data path; a token of the embedded model takes about 140.
MOST_CALLS = 20_000


# Loads a model by name; raises LoadingStoppedError if the function returns True.
Load: TypeAlias = Callable[[str, Callable[[], bool]], Any]


@dataclass(frozen=True, slots=True)
class Runner:
    """Makes the answer of one request, as the work of its job.

    Args:
        put: receives the parts of the answer, in the job's thread.
        syntax: syntax of the calls of tools; None for an answer without calls.
    """

    plan: Plan
    record: Record
    load: Load
    queue: FairQueue
    workers: Workers
    put: Callable[[AnswerPart], None]
    syntax: CallSyntax | None = None

    def run(self) -> None:
        """Make the whole answer.

        Raises:
            ApiError: the request can't be answered.
            StoppedError, LoadingStoppedError: the job was stopped.
        """
        try:
            models = [self.load(name, self.record.should_stop) for name in self.plan.models]
            leave_a_processor()
            # The data path must not show where models are stored.
            with self._watched():
                self._with_tools(models[0])._run_loaded(*models)
        except LoadingStoppedError:
            raise
        except DecodingError as error:
            raise as_api_error(error, self.plan.blamed(error)) from error

    def _with_tools(self, model: LanguageModel) -> Runner:
        """Return the runner with the syntax in which this model calls the request's tools.

        Raises:
            ApiError: the model can't choose whether it calls, or the request has a constraint too.
        """
        tools, settings = self.plan.tools, self.plan.settings
        if tools is None:
            return self
        if tools.must and (stop := settings.stop):
            raise ApiError(
                f"{stop} acts on the text of an answer, and this tool_choice asks for a call; "
                f"leave {stop} out.",
                param=stop.partition(".")[0],
                code="unsupported_parameter",
            )
        limit = settings.limit_in(model.context_window or NO_WINDOW)
        syntax = syntax_of(model, tools, thinks=settings.separates_thinking, limit=limit)
        plan = replace(self.plan, settings=settings.constrained(syntax.constraint))
        return replace(self, plan=plan, syntax=syntax)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Record the data path, if requested."""
        if not self.record.watched:
            yield
            return
        with data_path(MOST_CALLS) as recorder:
            yield
        before = self.record.path
        self.record.path = before.then(recorder.path) if before else recorder.path

    def _run_loaded(self, model: LanguageModel, draft: LanguageModel | None = None) -> None:
        plan, record = self.plan, self.record
        runs = list(self._prepare(model))
        record.configs = tuple(run.config for run in runs)
        self._require_bounds(model, runs)
        for run in runs:
            # Raises errors before the answer begins, and starts nothing.
            decode(model, run.prompt_ids, run.config, draft=draft)
        firsts = [run for run in runs if run.choices[0] % plan.n == 0]
        prompts = tuple(tuple(run.prompt_ids) for run in firsts)
        version = f"{model.model_id} {model.revision} {model.dtype}"
        fingerprint = f"fp_{hashlib.sha256(version.encode()).hexdigest()[:12]}"
        started = Started(model.vocabulary, record.configs, prompts, fingerprint)
        record.prompt_tokens = started.prompt_tokens
        self.put(started)
        for run in runs:
            record.begin_run()
            self._decode(model, draft, run)
            if record.should_stop():
                raise StoppedError

    def _prepare(self, model: LanguageModel) -> Iterator[RequestRun]:
        """Yield the runs of the request, in order of their choices.

        Raises:
            ApiError, PromptError, ConfigError: the request is invalid for the model.
        """
        plan = self.plan
        for at, prompt in enumerate(plan.prompts):
            ids = encode_prompt(model, encode(model, prompt, plan))
            room = NO_WINDOW if model.context_window is None else model.context_window - len(ids)
            # The checks look for the text in front of the answer.
            asked = isinstance(prompt, Chat) and prompt.messages[-1]["role"] != "tool"
            text = plan.prompt_text if asked else None
            config = plan.settings.config(model, room)
            choices = tuple(range(at * plan.n, (at + 1) * plan.n))
            if isinstance(config, BeamSearch):
                # One beam search returns all choices.
                yield RequestRun(choices, ids, text, _with_paths(config, plan.n))
                continue
            for n, choice in enumerate(choices):
                seeded = {"seed": config.seed + n} if hasattr(config, "seed") else {}
                yield RequestRun((choice,), ids, text, replace(config, **seeded))

    def _require_bounds(self, model: LanguageModel, runs: Sequence[RequestRun]) -> None:
        """Raise ApiError if more log-probabilities are requested than an answer may hold or the
        model's server returns.
        """
        plan = self.plan
        name = "logprobs" if plan.endpoint == "completions" else "top_logprobs"
        if any(isinstance(run.config, Diffusion) for run in runs):
            _refuse_for_canvases(plan, "logprobs" if plan.endpoint == "chat" else name)
        if plan.logprobs:
            tokens = [run.config.max_new_tokens + plan.echo * len(run.prompt_ids) for run in runs]
            _require_bound(model, plan.logprobs, sum(tokens), name)
        if plan.prompt_logprobs is not None:
            tokens = [len(run.prompt_ids) for run in runs]
            _require_bound(
                model, LogprobsOptions(plan.prompt_logprobs), sum(tokens), "prompt_logprobs"
            )

    def _decode(self, model: LanguageModel, draft: LanguageModel | None, run: RequestRun) -> None:
        """Make one run; send its parts as they arrive, and store its trace."""
        plan, record = self.plan, self.record
        emitter = Emitter(plan, record, model, run, self.put, self.syntax)

        # The data path can only be recorded in this process.
        workers = IN_PROCESS if record.watched else self.workers
        scored = workers.compute(
            record,
            self.queue,
            collect_scored,
            model,
            run.prompt_ids,
            run.config,
            emitter.scoring,
            draft=draft,
            on_step=emitter.on_step,
            prompt_text=run.prompt_text,
            only_prompt=plan.only_prompt,
        )
        trace = scored.trace
        self.record.traces.append(trace)
        self.record.steps = []
        emitter.finish(scored)
        stopped = record.should_stop() or plan.only_prompt
        if trace.finish_reason == "cancelled" and not stopped and trace.notes:
            # The model's server broke off, or drew a token that it doesn't name.
            raise LostModelError(trace.notes[-1].words)


def _refuse_for_canvases(plan: Plan, name: str) -> None:
    """Raise ApiError for parameters that need a next token."""
    needs = {name: plan.logprobs, "prompt_logprobs": plan.prompt_logprobs}
    given = [param for param, value in needs.items() if value is not None]
    if given or plan.only_prompt:
        raise ApiError(
            "A diffusion model fills a canvas in an order of its own: a token has no "
            "log-probability given only those before it, and a run has no prompt step; leave "
            f"{given[0] if given else 'max_tokens 0'} out.",
            param=given[0] if given else "max_tokens",
            code="unsupported_parameter",
        )


def _require_bound(
    model: LanguageModel, options: LogprobsOptions, positions: int, param: str
) -> None:
    known, count = getattr(model, "known", None), options.count(model.vocab_size)
    if known is not None and not 0 <= options.top <= known:
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


def _with_paths(config: BeamSearch, count: int) -> BeamSearch:
    """Return the config of a beam search that returns at least `count` paths."""
    try:
        return replace(config, num_return_sequences=max(count, config.num_return_sequences))
    except ConfigError as error:
        raise ApiError(error.sentence("n"), param="n", code="invalid_value") from None
