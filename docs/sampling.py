# %% [markdown]
# # Sampling: what temperature and filters do to a distribution
#
# A run is recorded step by step: the model's own distribution, every filter's, the draw. This
# notebook measures a few runs of the embedded model (3 million parameters), which was trained on
# short stories; any other model's name goes in its place.

# %%
import pandas as pd
import plotly.express as px
import torch

from core import (
    RecordGenerate,
    Sampling,
    Shaping,
    check,
    collect,
    figures,
    load_model,
    runs_to_frame,
)

model = load_model("embedded:target")

# %% [markdown]
# ## Entropy against position
#
# Twenty prompts, two temperatures. The entropy is that of the model's own distribution, in nats:
# the temperature changes it only through the text that it led to.

# %%
starts = ("Once upon a time", "One day", "The little girl", "A boy named Tom", "In the forest")
prompts = [f"{start}{end}" for start in starts for end in ("", ",", " there was", " the dog")]
runs = [
    collect(model, prompt, Sampling(seed=1, max_new_tokens=10, shaping=Shaping(temperature=value)))
    for value in (0.3, 1.2)
    for prompt in prompts
]
frame = runs_to_frame(runs)
mean = frame.groupby(["temperature", "step"], as_index=False)["entropy"].mean()
px.line(mean, x="step", y="entropy", color="temperature", labels={"entropy": "entropy, nats"})

# %%
by_temperature = frame.groupby("temperature")[["entropy", "surprisal"]].mean()
print(by_temperature.round(2))

# %% [markdown]
# At a high temperature the tokens are less probable (their surprisal is higher). Whether the model
# is also less certain of what follows is another question: that is the entropy.

# %%
assert by_temperature["surprisal"].is_monotonic_increasing

# %% [markdown]
# ## One step
#
# The heatmap shows the most probable tokens of each step. The step with the highest entropy is
# then shown from the model's distribution to the one that the token was drawn from.

# %%
shaping = Shaping(temperature=0.8, top_k=40, top_p=0.9)
trace = collect(model, "Once upon a time", Sampling(max_new_tokens=16, seed=7, shaping=shaping))
figures.probability_heatmap(trace)

# %%
step = max(trace.token_steps, key=lambda step: step.entropy)
figures.step_stages(step, trace)

# %%
stages = trace.to_pandas("stages")
of_step = stages[stages["step"] == step.index]
print(of_step[["stage", "kept", "removed_mass", "chosen_prob"]].to_string(index=False))

# %% [markdown]
# ## How many tokens does a filter leave?
#
# Top-p and min-p leave few tokens where the model is certain and many where it isn't; top-k leaves
# as many everywhere. Each filter leads to another text, so each run's own steps are counted.

# %%
filters = {
    "top-k 40": Shaping(top_k=40),
    "top-p 0.9": Shaping(top_p=0.9),
    "min-p 0.05": Shaping(min_p=0.05),
}
counted = []
for name, each in filters.items():
    run = collect(model, "Once upon a time", Sampling(max_new_tokens=40, seed=3, shaping=each))
    counted.append(run.to_pandas("steps").assign(filter=name))
steps = pd.concat(counted)
names = {"entropy": "entropy, nats", "kept": "tokens left"}
px.scatter(steps, x="entropy", y="kept", color="filter", log_y=True, labels=names)

# %%
spread = steps.groupby("filter")["kept"].agg(["min", "median", "max"])
print(spread)
assert spread.loc["top-k 40", "min"] == spread.loc["top-k 40", "max"] == 40
assert spread.loc["top-p 0.9", "max"] > 40 or spread.loc["top-p 0.9", "min"] < 40

# %% [markdown]
# ## The same run by transformers' own `generate`
#
# `RecordGenerate` leaves a trace of a run of `generate` and changes nothing in it. With the same
# settings and the same seed the engine of this library emits the same tokens, with the same
# numbers; `check` compares both with the model.

# %%
settings = {"temperature": 0.8, "top_k": 40, "top_p": 0.9}
inputs = model.tokenizer("Once upon a time", return_tensors="pt")
recorder = RecordGenerate(model.tokenizer, model_id=model.model_id)
torch.manual_seed(7)
model.hf_model.generate(
    **inputs, do_sample=True, max_new_tokens=16, custom_generate=recorder, **settings
)
own = Sampling(max_new_tokens=16, seed=7, draw="multinomial", shaping=Shaping(**settings))
ours = collect(model, "Once upon a time", own)
assert recorder.trace.token_ids == ours.token_ids
checks = tuple(check(recorder.trace, model))
assert all(outcome.passed for outcome in checks)
recorder.trace.with_checks(checks)
