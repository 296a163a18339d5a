"""Rows hold whole documents from their beginning, and labels where something is learned."""

import copy

from transformers import PreTrainedTokenizerFast

from tests.training.reading import whole
from training.corpus.document import Part
from training.rows import IGNORED, LONG, SHORT, Rows, encode


def test_labels_stand_where_parts_are_learned(tokenizer: PreTrainedTokenizerFast) -> None:
    document = (Part("What is "), Part("12", learned=False), Part("?\n"), Part("It is 12."))
    ids, labels = encode(tokenizer, document)
    assert tokenizer.decode(ids[:-1]) == whole(document)
    assert ids[-1] == labels[-1] == tokenizer.eos_token_id
    silent = [token for token, label in zip(ids, labels, strict=True) if label == IGNORED]
    assert tokenizer.convert_ids_to_tokens(silent) == ["1", "2"]
    assert all(label in (token, IGNORED) for token, label in zip(ids, labels, strict=True))


def test_a_seed_fixes_the_rows_and_the_state_keeps_the_place(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    first, second = Rows(tokenizer, 5), Rows(tokenizer, 5)
    first.take(3, apart=True)
    second.restore(copy.deepcopy(first.state))
    for apart, length in ((True, SHORT), (False, LONG)):
        (ids, labels), (again, _) = first.take(2, apart), second.take(2, apart)
        assert ids.shape == labels.shape == (2, length)
        assert ids.tolist() == again.tolist()


def test_a_short_row_holds_whole_documents_and_is_nearly_full(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    ids, labels = Rows(tokenizer, 6).take(200, apart=True)
    padded = (ids == tokenizer.eos_token_id) & (labels == IGNORED)
    assert (ids[:, -1] == tokenizer.eos_token_id).all()
    assert padded.float().mean() < 0.06
    assert (padded.long().diff(dim=1) >= 0).all()
