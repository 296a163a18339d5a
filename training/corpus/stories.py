"""Stories for children: a plot, a hero who stays the same, and an ending; alone or as a chat."""

import random
import re
from typing import NamedTuple

from training.corpus import orders
from training.corpus.document import Document, Message, Part
from training.corpus.grammar import capitalize, expand, roughen
from training.corpus.story import (
    cast,
    frame,
    plots_days,
    plots_feelings,
    plots_things,
    plots_world,
    requests,
)
from training.corpus.story.scene import Plot, Scene

PLOTS = (*plots_things.PLOTS, *plots_feelings.PLOTS, *plots_world.PLOTS, *plots_days.PLOTS)
SENTENCES = range(6, 16)
_CAPITALS = 0.1  # of the chats: one sentence in capital letters
_TRAITS = dict(line.split(": ") for line in cast.TRAITS)


class Story(NamedTuple):
    """One story: its text, its plot, and the scene that knows its characters."""

    text: str
    plot: Plot
    scene: Scene


def plain(rng: random.Random) -> Document:
    """Tell one story."""
    return (Part(make_story(rng).text),)


def chat(rng: random.Random) -> list[Message]:
    """Ask for a story and tell one that does what was asked."""
    messages: list[Message] = []
    large = rng.random() < _CAPITALS
    brief = large or rng.random() < 0.2
    if large:
        messages.append(orders.order(rng, "capitals"))
    elif brief or rng.random() < 0.5:
        system = rng.choice(requests.BRIEF_SYSTEMS if brief else requests.SYSTEMS)
        messages.append(Message("system", (Part(system),)))
    story = make_story(rng)
    text = story.text
    if brief:
        story.scene.used.clear()
        text = _tidy(story.scene.fill(rng.choice(story.plot.brief.splitlines())))
    request = _request(story)
    messages.append(Message("user", (Part(request),)))
    messages.append(Message("assistant", (Part(orders.capitals(text) if large else text),)))
    return messages


def make_story(rng: random.Random, plot: Plot | None = None) -> Story:
    """Tell one story, of the given plot or of any, of 6 to 15 sentences that name its hero."""
    chosen = plot or rng.choice(PLOTS)
    while True:
        scene = Scene(rng)
        text = _tell(scene, chosen)
        if count_sentences(text) in SENTENCES and text.count(scene.slots["N"]) >= 3:
            return Story(text, chosen, scene)


def count_sentences(text: str) -> int:
    """Count sentences; what one says and the "said Tom." that follows are one sentence."""
    return len(re.findall(r'[.!?]"?(?= [A-Z"]|$)', text))


def _tell(scene: Scene, plot: Plot) -> str:
    rng = scene.rng
    for table in plot.tables:
        scene.draw(table)
    _cast(scene, plot)
    by_day = "{Day}" in plot.beats  # not in the night
    sentences = _opening(scene, by_day)
    pace = rng.choice((0.4, 0.8, 1.1))
    *beats, ending = [beat.strip().splitlines() for beat in plot.beats.strip().split("\n\n")]
    for beat in beats:
        if beat[0][0] == "?":
            if rng.random() * 100 >= int(beat[0][1:]) * pace:
                continue
            beat = beat[1:]
        sentences.append(scene.fill(rng.choice(beat)))
    if rng.random() < 0.85 or not by_day:
        sentences.append(scene.fill(rng.choice(ending)))
    else:
        sentences.append(scene.fill(rng.choice(frame.ENDINGS)))
    if rng.random() < 0.1:
        sentences.append(rng.choice(frame.CLOSINGS))
    return _tidy(" ".join(sentences))


def _tidy(text: str) -> str:
    """Put the full stop of a quotation inside it, and never two of them."""
    return re.sub(r'([a-z])"\.', r'\1."', re.sub(r'([.!?])"\.', r'\1"', text))


def _cast(scene: Scene, plot: Plot) -> None:
    """Choose the hero, a grown-up of the family and a friend of another kind."""
    rng, slots = scene.rng, scene.slots
    sex = rng.choice(("girl", "boy"))
    # A kind that the plot speaks of is not the hero's own: no goat asks the goat for milk.
    taken = set(re.findall(r"[a-z]+", " ".join(slots.values())))
    animals = [animal for animal in cast.ANIMALS if animal not in taken]
    human = rng.random() < 0.4
    slots.update(cast.PRONOUNS[sex])
    slots["N"] = rng.choice(cast.GIRLS if sex == "girl" else cast.BOYS)
    slots["kind"] = sex if human else rng.choice(animals)
    slots["kinds"] = cast.plural(slots["kind"])
    slots["hero"] = "{a kind} named {N}" if human else "{N} the {kind}"
    slots["size"] = rng.choice(cast.SIZES)
    slots["home"] = rng.choice(cast.HOMES)
    slots["trait"] = rng.choice(plot.traits.split() or list(_TRAITS))
    slots["habit"] = rng.choice(_TRAITS[slots["trait"]].split(" / "))
    elder = rng.choice(("girl", "boy"))
    slots["elder"] = rng.choice(cast.GROWN_UPS[elder])
    slots.update({f"e{key}": word for key, word in cast.PRONOUNS[elder].items()})
    other = sex if rng.random() < 0.35 else {"girl": "boy", "boy": "girl"}[sex]
    names = cast.GIRLS if other == "girl" else cast.BOYS
    slots["F"] = rng.choice([name for name in names if name != slots["N"]])
    kinds = [animal for animal in animals if animal != slots["kind"]]
    friend_human = human and rng.random() < 0.7
    slots["fkind"] = other if friend_human else rng.choice(kinds)
    slots.update({f"f{key}": word for key, word in cast.PRONOUNS[other].items()})
    slots["fintro"] = "{F}" if friend_human else "{F} the {fkind}"
    slots["fnew"] = "{a fkind} named {F}"


def _opening(scene: Scene, by_day: bool) -> list[str]:
    """Introduce the hero, and most of the time what the hero is like."""
    rng, share = scene.rng, scene.rng.random()
    if share < (0.33 if by_day else 0.5):
        pattern = rng.choice(frame.ONCE)
    elif share < 0.5:
        scene.slots["day"], pattern = rng.choice(frame.ONE_DAY).split(": ", 1)
    else:
        pattern = rng.choice(frame.OTHER)
    sentences = [scene.fill(pattern)]
    if (rng.random() < 0.6 and share >= 0.5) or rng.random() < 0.3:
        habits = frame.HABITS_ONLY if "trait" in scene.used else frame.HABITS
        sentences.append(scene.fill(rng.choice(habits)))
    return sentences


def _request(story: Story) -> str:
    """Ask for what the told story has: its plot, its hero, or nothing in particular."""
    rng, scene, share = story.scene.rng, story.scene, story.scene.rng.random()
    if share < 0.06:
        return rng.choice(requests.ANY)
    if share < 0.2 and (wholes := _told(scene, requests.OF_HERO)):
        text = capitalize(scene.fill(rng.choice(wholes)))
        return roughen(rng, text) if rng.random() < 0.4 else text
    lines = requests.HEROES if share < 0.65 else story.plot.asks.splitlines()
    about = scene.fill(rng.choice(_told(scene, lines) or requests.HEROES[:2]))
    if about[:2] in ("A ", "An"):
        about = about[0].lower() + about[1:]
    more = rng.random()
    if 0.12 <= more < 0.28 and (extra := _extra(story)):
        pair = expand(rng, rng.choice(requests.PAIRS))
        return capitalize(pair.replace("@", about).replace("+", extra))
    if more < 0.55:
        about = _with_more(story, about, alone=more < 0.12)
    asks = requests.COMPOSED if ". " not in about and rng.random() < 0.6 else requests.ASKS
    text = capitalize(expand(rng, rng.choice(asks)).replace("@", about))
    return roughen(rng, text) if rng.random() < 0.4 else text


def _told(scene: Scene, lines: list[str]) -> list[str]:
    """Those that ask for nothing but what the scene has told."""
    told = {*scene.used, "a", "A", "N", "hero", "he", "him", "his"}
    if "kind" in told:
        told |= {"kinds", "Kinds"}
    return [line for line in lines if set(re.findall(r"\w+(?=[^{}]*})", line)) <= told]


def _extra(story: Story) -> str:
    """One more thing that the story has; nothing where it has none."""
    scene = story.scene
    extras = [text for slot, text in requests.EXTRAS.items() if slot in scene.used]
    if not extras:
        return ""
    extra = scene.fill(scene.rng.choice(extras))
    if extra[:2] in ("A ", "An") or extra.lower() in story.text:
        return extra[0].lower() + extra[1:]
    return extra


def _with_more(story: Story, about: str, alone: bool = False) -> str:
    """Ask for one more thing that the story has, or for that alone, unless it has none."""
    extra = _extra(story)
    if alone or not extra:
        return extra or about
    joint = story.scene.rng.choice(requests.JOINTS)
    if joint[1] == ".":
        return about + joint[1:].replace("+", extra)
    return joint.replace("@", about).replace("+", extra)
