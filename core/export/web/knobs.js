// A step's stored candidates under other settings; between bounds where the rest of the vocabulary counts.
// A text in the reader's language: a page's WORDS are the translations.
function tr(text, values = {}) {
  const words = typeof WORDS === "undefined" ? {} : WORDS;
  return (words[text] ?? text).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

const Knobs = (() => {
  const NBSP = "\u00a0";

  function percent(prob) {
    const value = 100 * prob;
    if (value === 0) return `0${NBSP}%`;
    if (value < 0.0001) return `<${NBSP}0.0001${NBSP}%`;
    if (value < 1) return `${Number(value.toPrecision(2)).toFixed(6).replace(/\.?0+$/, "")}${NBSP}%`;
    const shown = value.toFixed(1);
    if (shown !== "100.0") return `${shown}${NBSP}%`;
    return value >= 99.9999 ? `100${NBSP}%` : `>${NBSP}99.9${NBSP}%`;
  }

  // The sum of p^a over the tokens that aren't stored, by what is known of it: its logarithm is convex.
  function restAt(a, { rest, points, slope, cap }) {
    if (!rest) return [0, 0];
    const known = points.find(([at]) => Math.abs(at - a) < 1e-9);
    if (known) return [Math.exp(known[1]), Math.exp(known[2])];
    const before = points.filter(([at]) => at < a), after = points.filter(([at]) => at > a).reverse();
    const one = points.find(([at]) => at === 1);
    const low = Math.max(one[1] + (a - 1) * slope[a > 1 ? 0 : 1], beyond(before, a), beyond(after, a));
    const [left, right] = [before.at(-1), after.at(-1)];
    const high = right
      ? left[2] + (a - left[0]) / (right[0] - left[0]) * (right[2] - left[2])
      : left[2] + (a - left[0]) * cap;
    return [Math.exp(Math.min(low, high)), Math.exp(high)];
  }

  // A convex function lies above the line through two points of one side, the nearer of them last.
  function beyond(points, a) {
    if (points.length < 2) return -Infinity;
    const [far, near] = points.slice(-2);
    const share = (a - near[0]) / (near[0] - far[0]);
    return near[1] * (1 + share) - far[2] * share;
  }

  // Top-k: which tokens stay, and how much of the rest.
  function cutRank(k, tokens, ranked, weights, rest, count) {
    if (!k) return { kept: tokens.map(() => true), rest };
    if (k >= ranked) {
      const kept = tokens.map(([, rank]) => rank <= k);
      const more = Math.max(k - kept.filter(Boolean).length, 0);
      const high = Math.min(rest[1], more * weights[ranked - 1]);
      return { kept, rest: [Math.min(count ? more / count * rest[0] : 0, high), high] };
    }
    const least = tokens[k - 1][2];
    const tied = least === tokens[ranked - 1][2];
    return { kept: tokens.map(([, , logit]) => logit >= least), rest: tied ? [0, rest[1]] : [0, 0] };
  }

  // Top-p: tokens stay while less than p lies before them; 0.5 is for those of which it isn't certain.
  function cutMass(p, tokens, ranked, weights, { kept, rest }) {
    const own = weights.map((weight, at) => (kept[at] ? weight : 0));
    const all = own.reduce((sum, weight) => sum + weight, 0);
    const total = [all + rest[0], all + rest[1]];
    if (p >= 1) return { state: kept.map(Number), total };
    let sum = 0, last = 1;
    const state = tokens.map(([, rank], at) => {
      const gap = at < ranked ? [0, 0] : [(rank - ranked - 1) * own[at], rest[1]];
      const low = (sum + gap[0]) / total[1], high = (sum + gap[1]) / total[0];
      sum += own[at];
      if (!kept[at]) return 0;
      const found = at === 0 || high < p ? 1 : low >= p ? 0 : 0.5;
      if (at < ranked) last = found;
      return found;
    });
    const mass = (least) => own.reduce((one, weight, at) => one + (state[at] >= least ? weight : 0), 0);
    if (last === 0 || !rest[1]) return { state, total: [mass(1), mass(0.5)] };
    const reached = Math.min(total[1], p * total[1] + weights[ranked - 1]);
    const least = last === 1 ? Math.max(mass(1), p * total[0]) : mass(1);
    return { state, total: [least, Math.max(least, reached, mass(0.5))] };
  }

  // Min-p: tokens stay that have at least this share of the first one's probability.
  function cutLow(m, ranked, weights, { state, total }) {
    if (!m) return { state, total, ends: false };
    const left = state.map((is, at) => (weights[at] >= m ? is : 0));
    const mass = (least) => weights.reduce((sum, weight, at) => sum + (left[at] >= least ? weight : 0), 0);
    const ends = weights[ranked - 1] < m;
    return { state: left, total: [mass(1), ends ? mass(0.5) : Math.max(total[1], mass(0.5))], ends };
  }

  // Top-p may have removed a token or not; min-p removes it in any case.
  function removedBy(nucleus, kept) {
    return nucleus === 1 ? "min_p" : nucleus ? "either" : kept ? "top_p" : "top_k";
  }

  // The bounds of each candidate's probability, what removed it, and those of all other tokens.
  function shaped(data, { temperature, top_k: k, top_p: p, min_p: m }) {
    const { tokens, ranked } = data;
    if (!temperature) {
      const rows = tokens.map((_, at) => ({ low: +!at, high: +!at, gone: at ? "argmax" : "" }));
      return { rows, rest: [0, 0] };
    }
    const a = 1 / temperature;
    const weights = tokens.map(([, , logit]) => Math.exp((logit - tokens[0][2]) * a));
    const unit = tokens[0][3] ** a;
    const rest = restAt(a, data).map((sum) => sum / unit);
    const first = cutRank(k, tokens, ranked, weights, rest, data.rest);
    const nucleus = cutMass(p, tokens, ranked, weights, first);
    const { state, total, ends } = cutLow(m, ranked, weights, nucleus);
    const rows = state.map((is, at) => ({
      low: is === 1 ? Math.min(weights[at] / total[1], 1) : 0,
      high: is ? Math.min(weights[at] / total[0], 1) : 0,
      gone: is ? "" : removedBy(nucleus.state[at], first.kept[at]),
    }));
    const mass = (end) => rows.reduce((sum, row) => sum + row[end], 0);
    const counts = !ends && first.rest[1] && (p >= 1 || total[1] > mass("high") * total[0]);
    return { rows, rest: counts ? [Math.max(0, 1 - mass("high")), Math.max(0, 1 - mass("low"))] : [0, 0] };
  }

  // What stands beside a knob.
  const TEXTS = {
    temperature: (value) => (value ? value.toFixed(2) : tr("greedy")),
    top_k: (value) => value || tr("off"),
    top_p: (value) => (value < 1 ? value.toFixed(2) : tr("off")),
    min_p: (value) => (value ? value.toFixed(2) : tr("off")),
  };

  const said = ({ low, high }) => {
    const [one, other] = [percent(low), percent(high)];
    return one === other ? one : `${one.replace(`${NBSP}%`, "")}–${other}`;
  };

  // The bars of a figure as these settings make them.
  function redraw(figure, data, settings) {
    const { rows, rest } = shaped(data, settings);
    const raw = figure.data.find(({ name }) => name === "raw"), final = figure.data.find(({ name }) => name === "final");
    const found = final.customdata.map(([, id]) => rows[data.tokens.findIndex(([own]) => own === id)]);
    const ink = figure.layout.font.color, muted = raw.textfont.color;
    const marked = found.map(({ gone }) => gone && gone !== "argmax");
    const { states, removed, remaining } = figure.layout.meta;
    const texts = found.map((row) => (row.gone ? (row.gone === "argmax" ? "" : removed[row.gone]) : said(row)));
    const lines = found.map((row) => (row.gone ? removed[row.gone] : remaining.replace("{}", said(row))));
    final.x = found.map(({ high }) => high);
    final.text = texts;
    final.textfont.color = found.map(({ gone }) => (gone ? muted : ink));
    final.error_x = {
      type: "data", symmetric: false, array: found.map(() => null), color: ink, thickness: 1.5, width: 3,
      arrayminus: found.map((row) => (said(row) === percent(row.low) ? null : row.high - row.low)),
    };
    raw.marker.pattern.shape = marked.map((gone) => (gone ? "/" : ""));
    for (const bars of [raw, final]) {
      bars.hovertext = bars.hovertext.map((text, at) =>
        text.split("<br>").map((line, place) => (place === states[at] ? lines[at] : line)).join("<br>"));
    }
    figure.layout.yaxis.ticktext = figure.layout.meta.labels.map((pair, at) => pair[+!!marked[at]]);
    const most = Math.max(...raw.x, ...final.x);
    const { range, tickvals, ticktext } = data.axes.findLast(({ top }) => top >= most * 0.9999) ?? data.axes[0];
    Object.assign(figure.layout.xaxis, { range, tickvals, ticktext });
    return { figure, rest: said({ low: rest[0], high: rest[1] }), exact: found.every((row) => said(row) === percent(row.low)) };
  }

  return { TEXTS, percent, said, shaped, redraw };
})();
