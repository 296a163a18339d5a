"""Read and write a plan as a YAML file; a list of settings is expanded to several ways.

questions: own:mixed           # an own set, or a file beside the plan
count: 40                      # number of questions; all by default
metrics: [exact, number, contains]
reward: embedded:reward        # scores every reply; none by default
ways:
  - name: greedy
    use_chat_template: [true, false]       # a list gives a way for each value
    system: ["", "Answer with one word."]
    config: {method: greedy, max_new_tokens: 40}
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any, get_args, get_type_hints

import yaml

from ...decoding.config import MethodConfig
from ...decoding.errors import ConfigError, DecodingError, EvaluationError
from ...decoding.methods import BY_NAME, config_from_dict, config_to_dict
from ...decoding.validation import brief, shortened
from ...language import N_, Message
from ...traces.bounded_file import bytes_of
from ...traces.bounded_yaml import read_yaml
from ..questions.own import OWN_PREFIX, own_questions
from ..questions.read import read_questions
from ..questions.types import QuestionSet
from ..scoring.metrics import DEFAULT_METRICS
from .types import (
    DEFAULT_MODEL,
    MAX_NAME,
    MAX_SYSTEM,
    MAX_WAYS,
    EvaluationPlan,
    Way,
)

MAX_BYTES = 200_000
_WHAT = Message("plan")
_FIELDS = ("questions", "count", "metrics", "reward", "ways")
_WAY_FIELDS = get_type_hints(Way)
_MULTIPLIED = ("model", "draft", "use_chat_template", "draft_use_chat_template", "system")
_SHORT: dict[str, dict[bool | None, str]] = {
    "use_chat_template": {True: N_("template"), False: N_("no template")},
    "draft_use_chat_template": {
        True: N_("draft: template"),
        False: N_("draft: no template"),
        None: N_("draft: as target"),
    },
}


def read_plan(
    source: bytes | str | Path,
    questions: QuestionSet | None = None,
    model: str = DEFAULT_MODEL,
) -> EvaluationPlan:
    """Return a plan from a YAML file.

    Args:
        source: the file's bytes, or its path; a file of questions is searched beside it.
        questions: replaces the file's questions; needed if bytes name a question file.
        model: model of the ways that name none.

    Raises:
        EvaluationError: the first fault; for a YAML fault, with its line.
        ProblemError: the questions can't be read.
    """
    data = bytes_of(source, MAX_BYTES, _WHAT, EvaluationError)
    settings = read_yaml(data, _WHAT, EvaluationError, MAX_SYSTEM)
    if not isinstance(settings, dict):
        raise EvaluationError(N_("A plan must be an object with questions and ways."))
    unknown = next((name for name in settings if name not in _FIELDS), None)
    if unknown is not None:
        raise EvaluationError(
            Message(
                "A plan has no setting {given}; {fields}.",
                given=brief(unknown),
                fields=", ".join(_FIELDS),
            )
        )
    ways, metrics = settings.get("ways"), settings.get("metrics", list(DEFAULT_METRICS))
    if not isinstance(ways, list) or not ways:
        raise EvaluationError(N_("A plan needs ways: a list with a name and a config in each."))
    if not isinstance(metrics, list) or not all(isinstance(name, str) for name in metrics):
        raise EvaluationError(N_("metrics must be a list of names."))
    reward = settings.get("reward", "")
    if not isinstance(reward, str):
        raise EvaluationError(
            Message("reward must be the name of a reward model, got {given}.", given=brief(reward))
        )
    folder = None if isinstance(source, bytes) else Path(source).parent
    question_set = questions or _questions(settings.get("questions"), folder)
    try:
        return EvaluationPlan(
            questions=_first(question_set, settings.get("count")),
            ways=_every(ways, model),
            metrics=tuple(metrics),
            reward=reward,
        )
    except EvaluationError:
        raise
    except DecodingError as error:
        raise EvaluationError(error.args[0]) from None


def _questions(named: Any, folder: Path | None) -> QuestionSet:
    if not isinstance(named, str) or not named:
        raise EvaluationError(N_("A plan needs questions: own:mixed, or the name of a file."))
    if named.startswith(OWN_PREFIX):
        return own_questions(named)
    if folder is None:
        raise EvaluationError(
            Message(
                "The plan names the file {given}, which it does not hold; give it as well.",
                given=brief(named),
            )
        )
    return read_questions(folder / named)


def _first(questions: QuestionSet, count: Any) -> QuestionSet:
    if count is None:
        return questions
    if type(count) is not int or count < 1:
        raise EvaluationError(
            Message("count must be a whole number of 1 or more, got {given}.", given=brief(count))
        )
    return take(questions, count)


def take(questions: QuestionSet, count: int) -> QuestionSet:
    """Return `count` questions, evenly spread over the set; the set's name states the count."""
    held = len(questions.questions)
    if count >= held:
        return questions
    chosen = tuple(questions.questions[at * held // count] for at in range(count))
    return QuestionSet(f"{questions.name}, {count} of {held}", chosen, questions.left_out)


def _every(items: list[Any], model: str) -> tuple[Way, ...]:
    """Expand each item to a way for each combination of its lists; `model` is the default."""
    ways: list[Way] = []
    for item in items:
        if not isinstance(item, dict):
            raise EvaluationError(
                Message("A way must be an object with settings, got {given}.", given=brief(item))
            )
        lists = {name: item[name] for name in _MULTIPLIED if isinstance(item.get(name), list)}
        for values in product(*lists.values()):
            if len(ways) == MAX_WAYS:
                raise EvaluationError(
                    Message(
                        "A plan has at most {max_ways} ways; take fewer values.", max_ways=MAX_WAYS
                    )
                )
            chosen = dict(zip(lists, values, strict=True))
            parts = [str(item.get("name", "")), *(_named(*value) for value in chosen.items())]
            name = shortened(" · ".join(parts), MAX_NAME - 1) if chosen else item.get("name", "")
            ways.append(_way({"model": model, **item, **chosen, "name": name}))
    return tuple(ways)


def _way(data: dict[Any, Any]) -> Way:
    """Return a way; omitted settings have their defaults.

    Raises:
        EvaluationError: an unknown or wrong setting.
    """
    unknown = next((name for name in data if name not in _WAY_FIELDS), None)
    if unknown is not None:
        names = ", ".join(_WAY_FIELDS)
        raise EvaluationError(
            Message(
                "A way has no setting {given}; there are {names}.",
                given=brief(unknown),
                names=names,
            )
        )
    for name, hint in _WAY_FIELDS.items():
        kinds = get_args(hint) or (hint,)
        if name != "config" and name in data and type(data[name]) not in kinds:
            names = " or ".join(kind.__name__ for kind in kinds).replace("NoneType", "null")
            raise EvaluationError(
                Message(
                    "A way's {name} must be {names}, got {given}.",
                    name=name,
                    names=names,
                    given=brief(data[name]),
                )
            )
    try:
        config = config_from_dict(data.get("config", {"method": "greedy"}))
        return Way(**{**data, "config": config})
    except ConfigError as error:
        raise EvaluationError(error.args[0]) from None


def _named(name: str, value: Any) -> str:
    if name == "system" and isinstance(value, str):
        return shortened(value, 40) if value else "no system prompt"
    words: dict[bool | None, str] = _SHORT.get(name, {})
    return words[value] if isinstance(value, bool | None) and value in words else brief(value)


def write_plan(plan: EvaluationPlan, questions: str) -> str:
    """Return YAML text that `read_plan` reads as the same ways.

    Args:
        questions: an own set with its prefix, or the name of the question file.
    """
    shown: dict[str, Any] = {"questions": questions}
    count = len(plan.questions.questions)
    if questions.startswith(OWN_PREFIX) and count < len(own_questions(questions).questions):
        shown["count"] = count
    shown["metrics"] = list(plan.metrics)
    if plan.reward:
        shown["reward"] = plan.reward
    shown["ways"] = [_brief_way(way) for way in plan.ways]
    return str(yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, width=100))


def _brief_way(way: Way) -> dict[str, Any]:
    """Return a way's non-default settings, plus name, model and use_chat_template."""
    plain = Way(name=way.name, config=BY_NAME["greedy"].config())
    values = {
        name: getattr(way, name)
        for name in _WAY_FIELDS
        if name in ("name", "model", "use_chat_template")
        or (name != "config" and getattr(way, name) != getattr(plain, name))
    }
    return {**values, "config": _brief_config(way.config)}


def _brief_config(config: MethodConfig) -> dict[str, Any]:
    plain, values = config_to_dict(type(config)()), config_to_dict(config)
    shaping = {
        name: value for name, value in values["shaping"].items() if value != plain["shaping"][name]
    }
    changed = {
        name: value for name, value in values.items() if name != "shaping" and value != plain[name]
    }
    return {"method": config.method, **changed, **({"shaping": shaping} if shaping else {})}
