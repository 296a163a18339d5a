# %% [markdown]
# # Figures from Python
#
# Every figure of the app is a function of `core.figures`: a stored run in, a Plotly figure out.
# `make notebook` ran it on the embedded model; pictures need `requirements-figures.txt` and a
# Chrome or Chromium.

# %%
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

from IPython.display import Image

from core import BeamSearch, Sampling, Shaping, collect, figures, load_model, save_figure

model = load_model("embedded:target")
settings = Sampling(max_new_tokens=24, seed=7, shaping=Shaping(temperature=0.8, top_p=0.9))
trace = collect(model, "Once upon a time", settings)
print(trace.text)

# %% [markdown]
# `dir(figures)` names every figure, and for each the table behind it (`..._data`).

# %%
names = [name for name in dir(figures) if name.endswith("_data")]
print(len(names), "tables, such as", ", ".join(names[:4]))

# %% [markdown]
# A figure is laid out for the width that it is for: `85mm` and `174mm` are columns of a journal
# with type of 7.5 points, `640px` is a screen. What doesn't fit is wrapped or folded.

# A figure that ends a cell is live, in the fonts of the reader's browser; here each is shown as
# a picture, with its own fonts.

# %%
folder, screen = Path(mkdtemp()), figures.printed("640px")


def shown(figure, paper):
    file = save_figure(figure, folder / "shown.png", paper=paper)
    return Image(filename=file, width=paper.width)


shown(figures.probability_heatmap(trace, paper=screen), screen)

# %%
column = figures.printed("85mm")
step = max(trace.token_steps, key=lambda step: step.entropy)
shown(figures.candidate_bars(step, trace, paper=column), column)

# %% [markdown]
# The same in grey, which tells its categories apart by patterns.

# %%
shown(figures.step_stages(step, trace, theme=figures.GREY, paper=column), column)

# %%
table = figures.candidate_bars_data(step, trace, count=5)
print(table[["rank", "token", "raw_prob", "final_prob", "removed_by"]].to_string(index=False))

# %% [markdown]
# A beam's tree for a paper: the three best paths, and what all share as one box.

# %%
search = collect(model, "A list of colors: red,", BeamSearch(num_beams=4, max_new_tokens=12))
tree = figures.beam_tree(search, paths=3, collapse=True, pruned=False, paper=screen)
shown(tree, screen)

# %% [markdown]
# Files: SVG, PDF and PNG hold their fonts. An HTML page is given what draws the figure, so that
# it is laid out for every width and in both themes; temperature, top-k and top-p work in it.

# %%
bars = partial(figures.candidate_bars, step, trace)
for name in ("bars.svg", "bars.pdf", "bars.png"):
    file = save_figure(bars, folder / name, paper=column)
    print(name, f"{file.stat().st_size / 1000:.0f} KB")
page = save_figure(bars, folder / "bars.html", shared=True)
print(page.name, f"{page.stat().st_size / 1000:.0f} KB, beside one file of Plotly")
