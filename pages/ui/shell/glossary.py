"""Glossary of the pages' terms, one press away on every page; each is defined here once."""

from __future__ import annotations

import streamlit as st

from core.figures.base.labels import WHITESPACE
from pages.ui.widgets.render_clock import drawn_at
from pages.ui.widgets.source import source

TERMS = {
    "token": "What a model reads and writes one at a time: a word, a part of one, or a sign.",
    "logit": "The number that a model gives a token at a step; larger is likelier. Only the "
    "differences between logits count: softmax turns them into probabilities.",
    "softmax": "e to the power of each logit, divided by the sum of all of these: shares of one.",
    "raw, final": "The model's own probabilities, and those that a token is drawn from after "
    "temperature, filters and penalties.",
    "stage": "One distribution on the way from raw to final, such as the one that top-p leaves.",
    "rank": "A token's place by the model's own probability; 1 is the most probable.",
    "entropy": "How unsure the model is before it draws: 0 where one token has all probability, "
    "and larger the more tokens share it evenly. In nats.",
    "surprisal": "How unexpected the token that came is: −ln of its probability; 0 is certain.",
    "nats": "The unit of surprisal and entropy with natural logarithms: 1 nat is a probability of "
    "1 in 2.72, and 1.44 bits.",
    "KL divergence": "How far one distribution is from another one, in nats: what coding by the "
    "second costs more where the first is true. It differs by direction, and 0 is equal.",
    "total variation": "Half the sum of all differences of two distributions' probabilities: the "
    "share of draws that must differ, from 0 to 1.",
    "inverse CDF": "A draw: tokens are laid end to end by falling probability, and the token is "
    "taken on which a number between 0 and 1 falls.",
    "Gumbel": "A draw: every token's ln p gets random Gumbel noise, and the highest sum wins. "
    "Tokens win as often as their probabilities say.",
    "multinomial": "A draw, torch's way: every probability is divided by a random number, and the "
    "highest quotient wins.",
    "dice, throw, seed": "Random numbers that a seed fixes: the same seed gives the same numbers. "
    "A throw is those of one step.",
    "prefill": "Reading the prompt, all of its tokens in one forward, before the first new token.",
    "forward": "One pass through the model, for one token or for several. The prompt's counts too: "
    "it gives the first token of greedy and sampled runs.",
    "KV cache": "What the model keeps of earlier tokens, so that a step reads only the new one.",
    " ".join(
        WHITESPACE
    ): "Signs for a space, a line break and a tab. Most tokens begin with the space before "
    "their word.",
    "end of text": "The special token by which a model ends its text. Each model names its "
    "own; it adds no words.",
    "layer, module": "A model is a stack of equal layers, each made of modules: attention, which "
    "looks back at earlier tokens, an MLP, and norms.",
    "lens, decided here": "What a model would say if it ended after a layer: its last norm and "
    "head are put there. Decided: the layer from which on the token that came out stays the "
    "likeliest.",
    "attention": "How much a token looks at each token up to itself; the weights add up to one.",
    "chat template": "The marks around a user's message that a model was trained with.",
    "beam, hypothesis": "The texts that a beam search keeps alive; each is a hypothesis.",
    "backpointer": "Which hypothesis a token was added to, as the search stored it.",
    "draft, target": "The small model that proposes tokens, and the one that judges them and whose "
    "text it is.",
    "accepted, recovered, bonus": "A proposed token that stays; one drawn anew after a rejection; "
    "the target's own after everything was accepted.",
    "thinking budget": "So many tokens a model may think before its answer.",
}
_component = st.components.v2.component(
    "decoding_explorer.glossary", js=source("shell/glossary.js")
)


def draw() -> None:
    """Add the glossary's button and the key `?`; the browser keeps both from page to page."""
    with st.container(key="glossary"):
        _component(key="terms", data={"terms": tuple(TERMS.items()), "drawn": drawn_at()})
