# %% [markdown]
# # Evaluation: is one way of decoding better than another?
#
# A plan asks the same questions in several ways. Rows go to a file that a stopped evaluation is
# resumed from; accuracies have Wilson's intervals, and two ways are compared on the same questions
# by McNemar's exact test.

# %%
from pathlib import Path
from tempfile import mkdtemp

from core import figures, load_model
from core.evaluation.plan.files import read_evaluation
from core.evaluation.plan.plan_file import read_plan
from core.evaluation.plan.run import evaluate_to_file, loaded
from core.evaluation.plan.statistics import all_paired, frame_of, results
from core.evaluation.scoring.intervals import wilson
from core.installation import ASSETS

# %% [markdown]
# ## A plan
#
# Questions come from the embedded set of sums, chains and words, or from a file of one's own. A way
# is a name, a config and a number of samples.

# %%
plan = read_plan(
    b"""
questions: own:mixed
count: 8
ways:
  - name: greedy
    config: {method: greedy, max_new_tokens: 40}
  - name: temperature 1
    samples: 2
    config: {method: sampling, max_new_tokens: 40}
  - name: temperature 1, min-p 0.1
    samples: 2
    config: {method: sampling, max_new_tokens: 40, shaping: {min_p: 0.1}}
"""
)
file = Path(mkdtemp()) / "rows.jsonl"
small = evaluate_to_file(loaded(plan, load_model), plan, file)
assert len(small.rows) == plan.total
figures.evaluate_accuracy(small)

# %% [markdown]
# The rows as a DataFrame: one for each run, with the question, the reply and what it cost.

# %%
rows = frame_of(small)
print(rows[["way", "expected", "reply", "right", "tokens"]].head(6).to_string(index=False))

# %% [markdown]
# ## Eight questions prove nothing
#
# The intervals of these ways overlap widely, and no test tells them apart. How many questions would
# tell 60 % from 70 %? The width of an interval falls with the root of the number.

# %%
for pair in all_paired(small):
    print(f"{pair.one} against {pair.other}: p = {pair.p_value:.2f}")
for count in (8, 24, 100, 400):
    share = wilson(round(0.65 * count), count)
    print(f"{count:>4} questions: 65 % lies between {share.low:.0%} and {share.high:.0%}")

# %% [markdown]
# ## Nine samplers, a stored evaluation
#
# 24 questions, three samples each, temperature 1. A file of rows holds its plan, so that it can be
# read without running anything.

# %%
stored = read_evaluation(ASSETS / "evaluation/samplers.jsonl")
figures.evaluate_accuracy(stored)

# %%
for pair in all_paired(stored):
    print(f"{pair.other:>28}: {pair.second} gained, {pair.first} lost, p = {pair.p_value:.3f}")

# %% [markdown]
# Filters cost variety: the share of different replies among the three samples.

# %%
figures.evaluate_variety(stored)

# %%
right = {result.way: result.correct.value for result in results(stored)}
print(max(right, key=right.get), f"{max(right.values()):.0%}")
