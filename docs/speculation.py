# %% [markdown]
# # Speculation, counted round by round
#
# A small draft proposes some tokens; the target scores them all in one forward and accepts a
# prefix (Leviathan et al. 2023, Chen et al. 2023). Every proposal, probability and random number
# is recorded, so acceptance and losslessness can be counted instead of believed.

# %%
from core import Greedy, Shaping, Speculative, check, collect, figures, load_model
from core.decoding.speculative.measurement.measure import losslessness, sweep_lengths
from core.decoding.speculative.measurement.metrics import expected_tokens

target, draft = load_model("embedded:target"), load_model("embedded:draft")
prompt = "Once upon a time"

# %% [markdown]
# ## Rounds of one run
#
# Each column is a round: accepted tokens, the rejected one, and the token that the target added
# itself.

# %%
config = Speculative(draft_length=4, max_new_tokens=40, seed=16, shaping=Shaping(temperature=0.8))
trace = collect(target, prompt, config, draft=draft)
assert all(outcome.passed for outcome in check(trace, target, draft))
figures.spec_timeline(trace)

# %%
rounds = trace.to_pandas("rounds")
print(rounds["outcome"].value_counts().to_string())
print(f"{len(trace.token_ids) / len(trace.rounds):.2f} tokens for each forward of the target")

# %% [markdown]
# ## At temperature 0 the text is that of greedy decoding
#
# The draft decides how fast the text appears, and nothing else: even a bad draft gives the same
# tokens.

# %%
cold = Speculative(draft_length=4, max_new_tokens=40, shaping=Shaping(temperature=0.0))
alone = collect(target, prompt, Greedy(max_new_tokens=40))
for helper in (draft, target):
    fast = collect(target, prompt, cold, draft=helper)
    assert fast.token_ids == alone.token_ids
    print(f"{helper.model_id}: {len(fast.rounds)} rounds for {len(fast.token_ids)} tokens")

# %% [markdown]
# ## Acceptance and draft length
#
# With an acceptance rate alpha that is the same for every token, a round of k drafted tokens gives
# (1 - alpha^(k+1)) / (1 - alpha) tokens (Leviathan et al. 2023, equation 1). The curve flattens:
# the more tokens are drafted, the more of them in vain. The lines are 95 % intervals over rounds.

# %%
sweep = sweep_lengths(target, prompt, config, draft, lengths=(1, 2, 4, 6), repeats=1)
figures.spec_acceptance(sweep, trace)

# %%
print(f"alpha = {sweep.alpha:.2f}")
for point in sweep.points:
    expected = expected_tokens(sweep.alpha, point.draft_length)
    low, high = point.tokens_interval
    print(
        f"{point.draft_length} drafted: {point.tokens_per_round:.2f} tokens a round "
        f"({low:.2f} to {high:.2f}), {expected:.2f} expected"
    )
assert 0 < sweep.alpha < 1

# %% [markdown]
# ## Is the distribution the target's?
#
# Many short runs with seeds of their own, of speculation and of the target alone: Pearson's test
# asks whether their texts come from one distribution.

# %%
tested = losslessness(target, prompt, config, draft, runs=150)
print(f"p = {tested.p_value:.2f} over {tested.runs} runs each")
assert tested.p_value > 0.001
figures.spec_outcomes(tested, trace)
