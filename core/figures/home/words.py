"""Runs of one prompt by several methods in words: names, the shared caption, and their costs."""

from __future__ import annotations

from ...decoding.counting import counted, sentences
from ...decoding.many.methods import Cost, cost_of
from ...decoding.many.types import ManyRuns
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.figure import TableRows, table
from ..base.labels import config_caption, nats, plain_name, table_text, with_prompt
from ..base.paper import SCREEN, Paper

_NAMES = {"greedy": N_("Greedy"), "beam": N_("Beam search"), "speculative": N_("Speculative")}
# Settings that the caption says once, or that the names say.
_UNSAID = ("max_new_tokens", "num_return_sequences")


def run_name(trace: Trace, *, short: bool = False) -> str:
    """Return the name of a run: its method, with the seed of a sampled one; plain text.

    Args:
        short: name a sampled run by its seed alone.
    """
    if trace.config.method == "sampling":
        seed = tr("seed {seed}", seed=_seed(trace))
        return seed.capitalize() if short else tr("Sampling, {seed}", seed=seed)
    name = _NAMES.get(trace.config.method)
    return tr(name) if name else plain_name(trace.config.method)


def _seed(trace: Trace) -> int:
    seed: int = getattr(trace.config, "seed", 0)
    return seed


def methods_caption(many: ManyRuns, paper: Paper = SCREEN) -> str:
    """Return the model and the settings of each method, each once; plain text."""
    first = many.traces[0]
    settings = dict.fromkeys(_settings(trace) for trace in many.traces)
    drawn = [trace for trace in many.traces if trace.config.method == "sampling"]
    seeds = tr(", ").join(str(_seed(trace)) for trace in drawn)
    parts = [
        plain_name(first.model_id, 80),
        tr("at most {tokens}", tokens=counted(first.config.max_new_tokens, "token")),
        *settings,
        tr("seeds {seeds}", seeds=seeds) if seeds else "",
    ]
    return with_prompt(" · ".join(filter(None, parts)), first.prompt, paper)


def _settings(trace: Trace) -> str:
    unsaid = {*_UNSAID, "seed"}
    words = config_caption(trace.model_id, trace.config, unsaid, draft_id=trace.draft_id)
    return words.partition(" · ")[2].replace(" · ", tr(", "))


def forwards_words(cost: Cost) -> str:
    """Return the forward passes of a run, with their rows and those of a draft model."""
    words = f"{cost.forwards}"
    if cost.rows > cost.forwards:
        words = tr("{forwards} ({rows} rows)", forwards=words, rows=cost.rows)
    if cost.draft_forwards:
        words = tr("{forwards} + {draft} of the draft", forwards=words, draft=cost.draft_forwards)
    return words


def methods_verdict(many: ManyRuns) -> str:
    """Return in up to three sentences how many texts there are, which is the likeliest, and what
    speculative decoding saved; plain text."""
    if many.count > 1 and not any(trace.text for trace in many.traces):
        return tr("All {runs} runs ended at once, without a character of text.", runs=many.count)
    costs = [cost_of(trace) for trace in many.traces]
    best = max(range(many.count), key=lambda place: costs[place].logprob)
    words = [tr("All {runs} runs of one prompt gave the same text.", runs=many.count)]
    if len(many.texts) > 1 or many.count == 1:
        words = [
            tr(
                "{runs} of one prompt gave {texts}.",
                runs=counted(many.count, "run"),
                texts=counted(len(many.texts), "different text"),
            ),
            tr(
                "The likeliest is that of {method} (log-probability {logprob}).",
                method=_in_sentence(many.traces[best]),
                logprob=nats(costs[best].logprob, 1),
            ),
        ]
    runs = {trace.config.method: at for at, trace in enumerate(many.traces)}
    greedy, drafted = runs.get("greedy"), runs.get("speculative")
    if (
        greedy is not None
        and drafted is not None
        and many.text_of(greedy) == many.text_of(drafted)
        and costs[drafted].forwards < costs[greedy].forwards
    ):
        words.append(
            tr(
                "Speculative decoding wrote the text of greedy decoding with {forwards} "
                "forward passes of the model in place of {greedy}.",
                forwards=costs[drafted].forwards,
                greedy=costs[greedy].forwards,
            )
        )
    return tr(sentences(*words))


def _in_sentence(trace: Trace) -> str:
    if trace.config.method == "sampling":
        return tr("sampling with seed {seed}", seed=_seed(trace))
    return tr(trace.config.words)


@table("run text tokens logprob forwards rows draft_forwards seconds generated")
def methods_data(many: ManyRuns) -> TableRows:
    """A row for each run: which of the texts it gave, its totals, and the text."""
    for place, trace in enumerate(many.traces):
        cost = cost_of(trace)
        yield (
            run_name(trace),
            many.text_of(place) + 1,
            cost.tokens,
            cost.logprob,
            cost.forwards,
            cost.rows,
            cost.draft_forwards,
            cost.seconds,
            table_text(trace.text),
        )
