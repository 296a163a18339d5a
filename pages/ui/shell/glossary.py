"""Glossary of the pages' terms: all of them behind a button, each one where a text names it."""

from __future__ import annotations

import re
from functools import cache

import streamlit as st

from core.figures.base.labels import WHITESPACE
from core.language import N_, current, tr, use
from pages.ui.widgets.component import component, source
from pages.ui.widgets.render_clock import drawn_at

# A key names the terms that its sentence defines, with commas between.
TERMS = {
    "token": N_("The unit that a model reads and writes: a word, a part of a word, or a sign."),
    "vocabulary": N_("All tokens that a model knows, each with its number, the id."),
    "prompt": N_("The text that is given; the model continues it."),
    "greedy decoding": N_("The method that takes the most probable token at every step."),
    "sampling": N_("The method that draws each token at random, as often as its probability says."),
    "logit": N_(
        "The number that a model gives a token at a step; a larger one is "
        "likelier. Only differences between logits count: softmax turns them "
        "into probabilities."
    ),
    "softmax": N_(
        "The function from logits to probabilities: e to the power of each "
        "logit, divided by the sum of these powers over the vocabulary."
    ),
    "raw, final": N_(
        "The model's own probabilities are raw; a token is drawn from the final "
        "ones, which temperature, filters and penalties have changed."
    ),
    "temperature": N_(
        "The number by which all logits are divided. Below 1 the likely tokens "
        "gain, above 1 the unlikely ones, and 0 means greedy decoding."
    ),
    "filter": N_(
        "A setting that removes unlikely tokens, such as top-k, top-p or min-p. "
        "Those that are left share the whole probability."
    ),
    "top-k": N_("The filter that keeps the k most probable tokens."),
    "top-p": N_(
        "The filter that keeps the most probable tokens until their probabilities add up to p."
    ),
    "min-p": N_(
        "The filter that keeps the tokens with at least the fraction min-p of "
        "the highest probability."
    ),
    "penalty": N_("A setting that lowers the logits of tokens that the text already has."),
    "stage": N_("One of the distributions between raw and final, such as the one after top-p."),
    "rank": N_(
        "The place of a token in the order of the raw probabilities; 1 is the most probable."
    ),
    "entropy": N_(
        "The uncertainty of a distribution before the draw: 0 if one token has "
        "the whole probability, and larger the more evenly tokens share it. Its "
        "unit is the nat."
    ),
    "surprisal": N_(
        "The negative logarithm of the probability of the token that came, −ln "
        "p: 0 for a token that was certain."
    ),
    "nats": N_(
        "The unit of surprisal and entropy with natural logarithms: 1 nat "
        "belongs to a probability of 1 in 2.72, and is 1.44 bits."
    ),
    "ln p, log-probability": N_(
        "The natural logarithm of a probability. The logarithms of a text's "
        "tokens add up, where their probabilities would be multiplied."
    ),
    "perplexity": N_(
        "e to the power of the mean surprisal: from so many equally likely "
        "tokens the model would have to choose at each step."
    ),
    "KL divergence": N_(
        "The distance of one distribution from another one, in nats. It is 0 for "
        "equal ones, and differs by direction."
    ),
    "total variation": N_(
        "Half the sum of the differences of two distributions: the share of "
        "draws that must differ, from 0 to 1."
    ),
    "inverse CDF": N_(
        "A way to draw: tokens lie end to end by falling probability, and a "
        "random number between 0 and 1 falls on one of them."
    ),
    "Gumbel": N_(
        "A way to draw: random Gumbel noise is added to each ln p, and the "
        "highest sum wins. Tokens win as often as their probabilities say."
    ),
    "multinomial": N_(
        "The way in which torch draws: each probability is divided by a random "
        "number, and the highest quotient wins."
    ),
    "dice, roll, seed": N_(
        "The random numbers of a run are its dice, those of one step a roll. The "
        "seed fixes them: with the same seed they are the same."
    ),
    "prefill": N_("The first forward of a run, which reads the whole prompt."),
    "forward": N_(
        "One computation of the model, for one token or for several at once. "
        "That of the prompt counts too, as it gives the first token."
    ),
    "KV cache": N_(
        "The keys and values of earlier tokens that the model keeps, so that a "
        "step computes only the new token."
    ),
    " ".join(WHITESPACE): N_(
        "Signs for a space, a line break and a tab. Most tokens begin with the "
        "space before their word."
    ),
    "end of text": N_(
        "The special token with which a model ends its text. Each model has its own."
    ),
    "layer, module": N_(
        "A model is a stack of equal layers. Each has modules: attention, which "
        "reads the earlier tokens, an MLP, and norms."
    ),
    "lens, decided here": N_(
        "The lens ends the model after a layer, with its last norm and head. The "
        "token is decided at the layer from which on it stays the likeliest."
    ),
    "attention": N_(
        "The weights with which a token reads each token up to itself; they add up to 1."
    ),
    "chat template": N_(
        "The marks around the messages of a chat, with which the model was trained."
    ),
    "beam search": N_(
        "The method that extends several texts at once and keeps the likeliest ones at every step."
    ),
    "beam, hypothesis": N_(
        "The beam is the set of texts that a search extends at each step; each "
        "of its texts is a hypothesis."
    ),
    "length penalty": N_(
        "The exponent of the length by which a path's summed ln p is divided: "
        "above 0 it favours long texts, below 0 short ones."
    ),
    "backpointer": N_("The hypothesis that a token was added to, as the search stored it."),
    "speculative decoding": N_(
        "The method in which a small model drafts several tokens and the target "
        "verifies all of them in one forward."
    ),
    "draft, target": N_(
        "The draft model proposes tokens; the target model verifies them, and "
        "the text is the target's."
    ),
    "accepted, rejected": N_(
        "An accepted token of the draft joins the text. A rejected one does not, "
        "and all drafted tokens behind it are dropped."
    ),
    "recovered, bonus": N_(
        "The token that the target draws in place of a rejected one is "
        "recovered; the one that it adds after a draft that was accepted whole "
        "is a bonus."
    ),
    "residual": N_(
        "The distribution of the recovered token: what the target's "
        "probabilities exceed the draft's by, scaled to 1."
    ),
    "lossless": N_(
        "A rule is lossless if the text has the target's distribution, whatever the draft proposes."
    ),
    "thinking budget": N_(
        "The greatest number of tokens that a model may spend on thinking before its answer."
    ),
    "confidence interval, interval": N_(
        "The range that holds the true share in 95 of 100 such experiments; it "
        "is wide for few questions."
    ),
}
# Words of the list itself.
_NAMES = (
    N_("Words"),
    N_("What the words mean. Key: ?"),
    N_("The keys ? and U act anywhere on a page."),
)
# Within a line of Markdown: a heading, code, and a link that is there are left as they are.
_LEFT = re.compile(r"^#.*$|`[^`]*`|\[[^\]]*\]\([^)]*\)", re.M)
_component = component("glossary", js=source("shell/glossary.js"))


def draw() -> None:
    """Add the glossary's button and the key `?`; the browser keeps both from page to page."""
    terms = tuple(
        (tr(term), tr(meaning), _slug(_names(term)[0])) for term, meaning in TERMS.items()
    )
    names = tuple(map(tr, _NAMES))
    with st.container(key="glossary"):
        _component(key="terms", data={"terms": terms, "names": names, "drawn": drawn_at()})


def marked(text: str) -> str:
    """Return Markdown with a link to the glossary at the first mention of each entry.

    The text must be the app's own: a stranger's text is never drawn as Markdown.
    """
    seen: set[str] = set()
    entries, pattern = _entries(current()), _pattern(current())

    def link(found: re.Match[str]) -> str:
        word = found[0]
        entry = entries.get(word.lower()) or entries[word.lower().removesuffix("s")]
        if entry in seen:
            return word
        seen.add(entry)
        return f"[{word}](#word-{_slug(_names(entry)[0])})"

    parts, at = [], 0
    for left in _LEFT.finditer(text):
        parts += [pattern.sub(link, text[at : left.start()]), left[0]]
        at = left.end()
    return "".join([*parts, pattern.sub(link, text[at:])])


def _names(term: str) -> list[str]:
    return term.split(", ")


def _slug(name: str) -> str:
    return re.sub(r"\W+", "-", name.lower()).strip("-")


@cache
def _entries(language: str) -> dict[str, str]:
    """Return the English entry of each name in a language, in lower case."""
    with use(language):
        return {name.lower(): term for term in TERMS for name in _names(tr(term))}


@cache
def _pattern(language: str) -> re.Pattern[str]:
    """Return what finds a name or its plural, the longest one first.

    Between Japanese or Korean words there is no border, so names of one character are left out.
    """
    names = sorted((name for name in _entries(language) if re.search(r"\w", name)), key=len)[::-1]
    latin = "|".join(re.escape(name) for name in names if name.isascii())
    others = (re.escape(name) for name in names if not name.isascii() and len(name) > 1)
    return re.compile("|".join([rf"(?<![\w-])(?:{latin})s?(?![\w-])", *others]), re.I)
