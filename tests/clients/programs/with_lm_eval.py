"""lm-eval over HTTP: log-probabilities of a prompt with the server's tokenizer, and chat."""

import json
import sys
import tempfile
from pathlib import Path

import lm_eval
from lm_eval.tasks import TaskManager

base, model = sys.argv[1:]
shared = """
dataset_path: json
dataset_kwargs: {data_files: {test: FOLDER/sums.jsonl}}
test_split: test
doc_to_text: "{{question}}"
metadata: {version: 1}
"""
choice = """
task: sums_choice
output_type: multiple_choice
doc_to_choice: ["The answer is 7.", "The answer is 8."]
doc_to_target: 0
metric_list: [{metric: acc}]
"""
written = """
task: sums_written
output_type: generate_until
doc_to_target: "The answer is 7."
generation_kwargs: {until: ["<|end|>"], max_gen_toks: 40, do_sample: false}
metric_list: [{metric: exact_match}]
"""
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    rows = [{"question": "What is 3 + 4?"}, {"question": "What is 2 + 5?"}]
    (folder / "sums.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for task, own_part in (("choice", choice), ("written", written)):
        text = own_part + shared.replace("FOLDER", name)
        (folder / f"{task}.yaml").write_text(text)
    tasks = TaskManager(include_path=name, include_defaults=False)
    for kind, path, task, more in (
        ("local-completions", "completions", "sums_choice", {"tokenizer_backend": "remote"}),
        ("local-chat-completions", "chat/completions", "sums_written", {}),
    ):
        args = {"model": model, "base_url": f"{base}/{path}", "num_concurrent": 1, **more}
        evaluated = lm_eval.simple_evaluate(
            kind,
            model_args=args,
            tasks=[task],
            task_manager=tasks,
            apply_chat_template="chat" in kind,
            bootstrap_iters=0,
        )
        scores = evaluated["results"][task]
        assert 1.0 in (scores.get("acc,none"), scores.get("exact_match,none")), scores
