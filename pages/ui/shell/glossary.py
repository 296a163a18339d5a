"""Glossary of the pages' terms: all of them behind a button, each one where a text names it."""

from __future__ import annotations

import re
from functools import cache

import streamlit as st

from core.figures.base.labels import WHITESPACE
from pages.ui.widgets.render_clock import drawn_at
from pages.ui.widgets.source import source

# A key names the terms that its sentence defines, with commas between.
TERMS = {
    "token": "The unit that a model reads and writes: a word, a part of a word, or a sign.",
    "vocabulary": "All tokens that a model knows, each with its number, the id.",
    "prompt": "The text that is given; the model continues it.",
    "greedy decoding": "The method that takes the most probable token at every step.",
    "sampling": "The method that draws each token at random, as often as its probability says.",
    "logit": "The number that a model gives a token at a step; a larger one is likelier. Only "
    "differences between logits count: softmax turns them into probabilities.",
    "softmax": "The function from logits to probabilities: e to the power of each logit, divided "
    "by the sum of these powers over the vocabulary.",
    "raw, final": "The model's own probabilities are raw; a token is drawn from the final ones, "
    "which temperature, filters and penalties have changed.",
    "temperature": "The number by which all logits are divided. Below 1 the likely tokens gain, "
    "above 1 the unlikely ones, and 0 means greedy decoding.",
    "filter": "A setting that removes unlikely tokens, such as top-k, top-p or min-p. Those that "
    "are left share the whole probability.",
    "top-k": "The filter that keeps the k most probable tokens.",
    "top-p": "The filter that keeps the most probable tokens until their probabilities add up "
    "to p.",
    "min-p": "The filter that keeps the tokens with at least the fraction min-p of the highest "
    "probability.",
    "penalty": "A setting that lowers the logits of tokens that the text already has.",
    "stage": "One of the distributions between raw and final, such as the one after top-p.",
    "rank": "The place of a token in the order of the raw probabilities; 1 is the most probable.",
    "entropy": "The uncertainty of a distribution before the draw: 0 if one token has the whole "
    "probability, and larger the more evenly tokens share it. Its unit is the nat.",
    "surprisal": "The negative logarithm of the probability of the token that came, −ln p: 0 for a "
    "token that was certain.",
    "nats": "The unit of surprisal and entropy with natural logarithms: 1 nat belongs to a "
    "probability of 1 in 2.72, and is 1.44 bits.",
    "ln p, log-probability": "The natural logarithm of a probability. The logarithms of a text's "
    "tokens add up, where their probabilities would be multiplied.",
    "perplexity": "e to the power of the mean surprisal: from so many equally likely tokens the "
    "model would have to choose at each step.",
    "KL divergence": "The distance of one distribution from another one, in nats. It is 0 for "
    "equal ones, and differs by direction.",
    "total variation": "Half the sum of the differences of two distributions: the share of draws "
    "that must differ, from 0 to 1.",
    "inverse CDF": "A way to draw: tokens lie end to end by falling probability, and a random "
    "number between 0 and 1 falls on one of them.",
    "Gumbel": "A way to draw: random Gumbel noise is added to each ln p, and the highest sum wins. "
    "Tokens win as often as their probabilities say.",
    "multinomial": "The way in which torch draws: each probability is divided by a random number, "
    "and the highest quotient wins.",
    "dice, roll, seed": "The random numbers of a run are its dice, those of one step a roll. The "
    "seed fixes them: with the same seed they are the same.",
    "prefill": "The first forward of a run, which reads the whole prompt.",
    "forward": "One computation of the model, for one token or for several at once. That of the "
    "prompt counts too, as it gives the first token.",
    "KV cache": "The keys and values of earlier tokens that the model keeps, so that a step "
    "computes only the new token.",
    " ".join(
        WHITESPACE
    ): "Signs for a space, a line break and a tab. Most tokens begin with the space before "
    "their word.",
    "end of text": "The special token with which a model ends its text. Each model has its own.",
    "layer, module": "A model is a stack of equal layers. Each has modules: attention, which reads "
    "the earlier tokens, an MLP, and norms.",
    "lens, decided here": "The lens ends the model after a layer, with its last norm and head. The "
    "token is decided at the layer from which on it stays the likeliest.",
    "attention": "The weights with which a token reads each token up to itself; they add up to 1.",
    "chat template": "The marks around the messages of a chat, with which the model was trained.",
    "beam search": "The method that extends several texts at once and keeps the likeliest ones at "
    "every step.",
    "beam, hypothesis": "The beam is the set of texts that a search extends at each step; each of "
    "its texts is a hypothesis.",
    "length penalty": "The exponent of the length by which a path's summed ln p is divided: above "
    "0 it favours long texts, below 0 short ones.",
    "backpointer": "The hypothesis that a token was added to, as the search stored it.",
    "speculative decoding": "The method in which a small model drafts several tokens and the "
    "target verifies all of them in one forward.",
    "draft, target": "The draft model proposes tokens; the target model verifies them, and the "
    "text is the target's.",
    "accepted, rejected": "An accepted token of the draft joins the text. A rejected one does not, "
    "and all drafted tokens behind it are dropped.",
    "recovered, bonus": "The token that the target draws in place of a rejected one is recovered; "
    "the one that it adds after a draft that was accepted whole is a bonus.",
    "residual": "The distribution of the recovered token: what the target's probabilities exceed "
    "the draft's by, scaled to 1.",
    "lossless": "A rule is lossless if the text has the target's distribution, whatever the draft "
    "proposes.",
    "thinking budget": "The greatest number of tokens that a model may spend on thinking before "
    "its answer.",
    "confidence interval, interval": "The range that holds the true share in 95 of 100 such "
    "experiments; it is wide for few questions.",
}
# Within a line of Markdown: a heading, code, and a link that is there are left as they are.
_LEFT = re.compile(r"^#.*$|`[^`]*`|\[[^\]]*\]\([^)]*\)", re.M)
_component = st.components.v2.component(
    "decoding_explorer.glossary", js=source("shell/glossary.js")
)


def draw() -> None:
    """Add the glossary's button and the key `?`; the browser keeps both from page to page."""
    terms = tuple((term, meaning, _slug(_names(term)[0])) for term, meaning in TERMS.items())
    with st.container(key="glossary"):
        _component(key="terms", data={"terms": terms, "drawn": drawn_at()})


def marked(text: str) -> str:
    """Return Markdown with a link to the glossary at the first mention of each entry.

    The text must be the app's own: a stranger's text is never drawn as Markdown.
    """
    seen: set[str] = set()

    def link(found: re.Match[str]) -> str:
        word = found[0]
        entry = _entries().get(word.lower()) or _entries()[word.lower().removesuffix("s")]
        if entry in seen:
            return word
        seen.add(entry)
        return f"[{word}](#word-{_slug(_names(entry)[0])})"

    parts, at = [], 0
    for left in _LEFT.finditer(text):
        parts += [_pattern().sub(link, text[at : left.start()]), left[0]]
        at = left.end()
    return "".join([*parts, _pattern().sub(link, text[at:])])


def _names(term: str) -> list[str]:
    return term.split(", ")


def _slug(name: str) -> str:
    return re.sub(r"\W+", "-", name.lower()).strip("-")


@cache
def _entries() -> dict[str, str]:
    """Return the entry of each name, in lower case."""
    return {name.lower(): term for term in TERMS for name in _names(term)}


@cache
def _pattern() -> re.Pattern[str]:
    """Return what finds a name or its plural, the longest one first."""
    names = sorted((name for name in _entries() if re.search(r"\w", name)), key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, names))})s?(?![\w-])", re.I)
