"""Inspect: two sums, scored by what the answer includes."""

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate


@task
def sums() -> Task:
    samples = [Sample(input="What is 3 + 4?", target="7"), Sample(input="Hi", target="e")]
    return Task(dataset=samples, solver=generate(temperature=0), scorer=includes())
