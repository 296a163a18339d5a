"""The byte-level BPE tokenizer of the embedded models."""

import itertools
import random
from collections.abc import Iterable, Iterator

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from training.corpus.mix import FAMILIES, draw_document
from training.corpus.tokens import (
    ASSISTANT,
    CHAT_TOKENS,
    END_OF_TEXT,
    END_OF_TURN,
    MARK_TOKENS,
    SPECIAL_TOKENS,
    SYSTEM,
    USER,
)

VOCABULARY = 4096
_RICH = ("lists", "facts")
LONGEST = 1024  # tokens in the model's context
CHAT_TEMPLATE = (
    "{%- for message in messages -%}"
    f"{{%- if message['role'] == 'system' -%}}{SYSTEM}"
    f"{{%- elif message['role'] == 'assistant' -%}}{ASSISTANT}"
    f"{{%- else -%}}{USER}"
    "{%- endif -%}"
    f"{{{{- message['content'] -}}}}{END_OF_TURN}"
    "{%- endfor -%}"
    f"{{%- if add_generation_prompt -%}}{ASSISTANT}{{%- endif -%}}"
)


def tokenizer_texts(seed: int, count: int) -> Iterator[str]:
    """Yield so many documents, the families in turn, those of many different words more often."""
    rng = random.Random(seed)
    turns = (*FAMILIES, *_RICH, *_RICH)
    for name in itertools.islice(itertools.cycle(turns), count):
        yield "".join(part.text for part in draw_document(rng, name))


def train_tokenizer(texts: Iterable[str], vocab_size: int = VOCABULARY) -> PreTrainedTokenizerFast:
    """Learn a tokenizer that keeps every digit apart and gives back any text byte for byte."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(SPECIAL_TOKENS))
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=END_OF_TEXT,
        eos_token=END_OF_TEXT,
        pad_token=END_OF_TEXT,
        additional_special_tokens=[*CHAT_TOKENS, *MARK_TOKENS],
        clean_up_tokenization_spaces=False,
        model_max_length=LONGEST,
        chat_template=CHAT_TEMPLATE,
    )
