"use strict";
// One object of data, one function a panel; a panel without data stays hidden.
const data = JSON.parse(document.getElementById("data").textContent);
const tip = document.getElementById("tip");

function node(parent, tag, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

function number(value, digits = 4) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size < 1e-4 || size >= 1e6 ? value.toExponential(digits - 1) : String(Number(value.toPrecision(digits)));
}

function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

const pen = document.createElement("canvas").getContext("2d");
// How many pixels a text of a chart takes.
function wide(text) {
  pen.font = "12px system-ui, sans-serif";
  return pen.measureText(text).width;
}
// A text in so many pixels at most, cut between characters.
function short(text, most) {
  if (wide(text) <= most) return text;
  const whole = window.Intl && Intl.Segmenter ? [...new Intl.Segmenter().segment(text)].map((part) => part.segment) : [...text];
  let shown = "";
  for (const part of whole) {
    if (wide(shown + part + "…") > most) break;
    shown += part;
  }
  return shown + "…";
}

function showTip(event, text) {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, innerWidth - box.width - 8);
  const above = event.clientY - box.height - 12;
  tip.style.left = Math.max(8, left) + "px";
  tip.style.top = (above < 8 ? event.clientY + 18 : above) + "px";
}
function hideTip() { tip.hidden = true; }
addEventListener("scroll", hideTip, { passive: true });

function ticks([low, high], count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high + 1e-9 * step; at++) found.push(at * step);
  // One tick says nothing of the scale.
  return found.length > 1 || count > 8 ? found : ticks([low, high], 2 * count);
}

function padded(values, zero) {
  let [low, high] = zero ? [0, 0] : [Infinity, -Infinity];
  for (const value of values) { low = Math.min(low, value); high = Math.max(high, value); }
  // Numbers that differ by rounding alone are one number.
  if (!(high - low > 1e-12 * Math.max(Math.abs(low), Math.abs(high)))) { const room = Math.abs(low) * 0.1 || 1; return [low - room, high + room]; }
  const room = 0.05 * (high - low);
  return [zero && low === 0 ? 0 : low - room, high + room];
}

// As many digits as tell one tick from the next.
function labels(at) {
  const step = at.length > 1 ? at[1] - at[0] : 1;
  const largest = Math.max(...at.map(Math.abs));
  const digits = Math.min(15, Math.max(6, 1 + Math.ceil(Math.log10(largest / step) || 0)));
  return at.map((value) => number(value, digits));
}

// Axes, and the maps from numbers to pixels.
function frame(element, { x, y, xName, yName, height = 280, title }) {
  element.replaceChildren();
  const width = Math.max(240, element.clientWidth);
  const yTicks = ticks(y, 5);
  const yLabels = labels(yTicks);
  const left = 14 + Math.max(...yLabels.map(wide));
  const xTicks = ticks(x, width < 400 ? 3 : 6);
  const xLabels = xTicks.map((at) => number(at, 6));
  const right = Math.max(24, 4 + wide(xLabels[xLabels.length - 1] || "") / 2);
  const [top, bottom] = [22, 38];
  const root = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  root.setAttribute("viewBox", `0 0 ${width} ${height}`);
  root.setAttribute("role", "img");
  root.setAttribute("aria-label", title);
  element.append(root);
  const toX = (value) => left + ((value - x[0]) / (x[1] - x[0])) * (width - left - right);
  const toY = (value) => height - bottom - ((value - y[0]) / (y[1] - y[0])) * (height - top - bottom);
  yTicks.forEach((at, i) => {
    node(root, "line", { class: "axis", x1: left, x2: width - right, y1: toY(at), y2: toY(at) });
    node(root, "text", { x: left - 6, y: toY(at) + 4, "text-anchor": "end" }, yLabels[i]);
  });
  xTicks.forEach((at, i) => {
    node(root, "line", { class: "axis", x1: toX(at), x2: toX(at), y1: height - bottom, y2: height - bottom + 4 });
    node(root, "text", { x: toX(at), y: height - bottom + 17, "text-anchor": "middle" }, xLabels[i]);
  });
  node(root, "text", { x: width - right, y: height - 4, "text-anchor": "end" }, xName);
  node(root, "text", { x: 4, y: 12 }, yName);
  return { root, toX, toY, left, right: width - right, top, bottom: height - bottom };
}

// The mouse (or a finger) over a chart: the thing nearest to it is lit and told.
function hover(plot, points, told, lit) {
  const find = (event) => {
    const box = plot.root.getBoundingClientRect();
    const scale = plot.root.viewBox.baseVal.width / box.width;
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    let [best, least] = [null, Infinity];
    for (const point of points) {
      const away = (point.px - x) ** 2 + (point.py === undefined ? 0 : (point.py - y) ** 2);
      if (away < least) [best, least] = [point, away];
    }
    return best;
  };
  plot.root.addEventListener("pointermove", (event) => {
    const point = find(event);
    if (!point) return;
    lit(point);
    showTip(event, told(point));
  });
  plot.root.addEventListener("pointerleave", () => { lit(null); hideTip(); });
}

function drawTrace(section, { points: trace, flat }) {
  const chart = section.querySelector(".chart");
  const known = trace.filter((point) => point.lower_bound > 0 || point.objective < 0);
  const last = trace[trace.length - 1];
  const heights = trace.map((point) => point.objective).concat(known.map((point) => point.lower_bound));
  const plot = frame(chart, {
    x: [0, Math.max(last.seconds, 1e-6)], y: padded(flat ? [last.objective] : heights), xName: "seconds", yName: "objective",
    title: "Best objective and lower bound over time",
  });
  if (flat) {
    const y = plot.toY(last.objective);
    node(plot.root, "path", { class: "line good-line", d: `M${plot.left},${y}H${plot.right}` });
    node(plot.root, "text", { class: "good-text", x: plot.right, y: y - 8, "text-anchor": "end" }, flat);
  } else {
    drawMeeting(plot, trace, known);
  }
  const cursor = node(plot.root, "line", { class: "cursor", y1: plot.top, y2: plot.bottom, visibility: "hidden" });
  const points = trace.map((point) => ({ ...point, px: plot.toX(point.seconds) }));
  hover(plot, points, (point) => {
    const gap = 100 * (point.objective - point.lower_bound) / Math.max(Math.abs(point.objective), 1e-12);
    return `${number(point.seconds)} s, ${counted(point.nodes, "node")}\nbest model ${number(point.objective, 8)}\nlower bound ${number(point.lower_bound, 8)}\ngap ${number(gap, 3)} % of the objective`;
  }, (point) => {
    cursor.setAttribute("visibility", point ? "visible" : "hidden");
    if (point) { cursor.setAttribute("x1", point.px); cursor.setAttribute("x2", point.px); }
  });
}

// The objective from above and the bound from below.
function drawMeeting(plot, trace, known) {
  // A value holds until the next event.
  const steps = (points, of) => points.map((point, i) => {
    const at = `${plot.toX(point.seconds)},${plot.toY(of(point))}`;
    return i === 0 ? `M${at}` : `H${plot.toX(point.seconds)}L${at}`;
  }).join("") + `H${plot.right}`;
  node(plot.root, "path", { class: "line plus-line", d: steps(trace, (point) => point.objective) });
  const legend = [["plus-text", "best model"]];
  if (known.length) {
    node(plot.root, "path", { class: "line minus-line", d: steps(known, (point) => point.lower_bound) });
    // A bound that is known at the end alone is a point.
    const end = known[known.length - 1];
    node(plot.root, "circle", { class: "minus-fill", cx: plot.toX(end.seconds), cy: plot.toY(end.lower_bound), r: 3 });
    legend.push(["minus-text", "lower bound"]);
  }
  legendOf(plot, legend);
}

// What the colours stand for, above a chart.
function legendOf(plot, legend) {
  let x = plot.right;
  for (const [style, text] of legend) {
    node(plot.root, "text", { class: style, x, y: plot.top - 8, "text-anchor": "end" }, text);
    x -= wide(text) + 12;
  }
}

function drawScatter(chart, { points, x, y, xName, yName, title, told, guide }) {
  const plot = frame(chart, { x, y, xName, yName, title });
  // What a perfect model would follow.
  node(plot.root, "line", { class: "zero", x1: plot.toX(x[0]), x2: plot.toX(x[1]), y1: plot.toY(guide(x[0])), y2: plot.toY(guide(x[1])) });
  const drawn = points.map((point) => {
    const [px, py] = [plot.toX(point.x), plot.toY(point.y)];
    return { ...point, px, py, dot: node(plot.root, "circle", { class: "dot", cx: px, cy: py, r: 3 }) };
  });
  let before = null;
  hover(plot, drawn, told, (point) => {
    if (before) before.classList.remove("lit");
    before = point && point.dot;
    if (before) before.classList.add("lit");
  });
}

function drawBars(chart, { bars, xName, title }) {
  const plot = frame(chart, {
    x: [bars[0].from, bars[bars.length - 1].to], y: padded(bars.map((bar) => bar.count), true),
    xName, yName: "rows", title,
  });
  for (const bar of bars) {
    const [left, right] = [plot.toX(bar.from), plot.toX(bar.to)];
    const shape = node(plot.root, "rect", {
      class: "plus-fill", x: left + 0.5, y: plot.toY(bar.count),
      width: Math.max(0.5, right - left - 1), height: Math.max(0, plot.bottom - plot.toY(bar.count)),
    });
    shape.addEventListener("pointermove", (event) => showTip(event, `${number(bar.from)} to ${number(bar.to)}\n${counted(bar.count, "row")}`));
    shape.addEventListener("pointerleave", hideTip);
  }
}

function drawResiduals(section, { points, bins }) {
  const [scatter, histogram] = section.querySelectorAll(".chart");
  const placed = points.map(([row, actual, predicted]) => ({ row, actual, x: predicted, y: actual - predicted }));
  drawScatter(scatter, {
    points: placed, x: padded(placed.map((point) => point.x)), y: padded(placed.map((point) => point.y)),
    xName: "prediction", yName: "residual", title: "Residuals against predictions", guide: () => 0,
    told: (point) => `row ${point.row}\ntarget ${number(point.actual)}\nprediction ${number(point.x)}\nresidual ${number(point.y)}`,
  });
  drawBars(histogram, { bars: bins, xName: "residual", title: "Histogram of the residuals" });
}

function drawLabels(section, { roc, calibration }) {
  const [left, right] = section.querySelectorAll(".chart");
  const plot = frame(left, { x: [0, 1], y: [0, 1], xName: "false positives", yName: "true positives (ROC)", title: "ROC curve" });
  node(plot.root, "line", { class: "zero", x1: plot.toX(0), x2: plot.toX(1), y1: plot.toY(0), y2: plot.toY(1) });
  const path = roc.map(([x, y], i) => `${i ? "L" : "M"}${plot.toX(x)},${plot.toY(y)}`).join("");
  node(plot.root, "path", { class: "line plus-line", d: path });
  const dot = node(plot.root, "circle", { class: "plus-fill", r: 4, visibility: "hidden" });
  const points = roc.map(([x, y, score]) => ({ x, y, score, px: plot.toX(x), py: plot.toY(y) }));
  hover(plot, points, (point) => {
    const score = point.score === null ? "" : `score above ${number(point.score)}\n`;
    return `${score}${number(100 * point.y, 3)} % of positives found\n${number(100 * point.x, 3)} % of negatives with them`;
  }, (point) => {
    dot.setAttribute("visibility", point ? "visible" : "hidden");
    if (point) { dot.setAttribute("cx", point.px); dot.setAttribute("cy", point.py); }
  });
  right.hidden = !calibration;
  if (!calibration) return;
  drawScatter(right, {
    points: calibration.map((bin) => ({ ...bin, x: bin.predicted, y: bin.observed })), x: [0, 1], y: [0, 1],
    xName: "probability", yName: "share that is positive (calibration)", title: "Calibration", guide: (at) => at,
    told: (bin) => `${counted(bin.rows, "row")}\nprobability ${number(bin.x, 3)} on average\n${number(100 * bin.y, 3)} % positive`,
  });
}

// A grid of features and something else: `cell(row, column)` gives the style of a cell and what is told of it, `heads` what
// stands above the columns.
function drawGrid(chart, { features, heads, cell, title }) {
  chart.replaceChildren();
  const room = Math.max(240, chart.clientWidth);
  const shown = features.map((name) => short(name, Math.min(210, 0.4 * room)));
  const names = Math.max(0, ...shown.map(wide)) + 12;
  // As wide as there is room for; where cells would be too small to see, the grid scrolls.
  const size = Math.max(10, Math.min(18, Math.floor((room - names - 12) / heads.length)));
  // A line of text needs its height.
  const tall = Math.max(14, size);
  const [width, height] = [names + size * heads.length + 12, tall * features.length + 22];
  const root = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  root.setAttribute("viewBox", `0 0 ${width} ${height}`);
  root.setAttribute("role", "img");
  root.setAttribute("aria-label", title);
  root.style.width = width + "px";
  chart.append(root);
  heads.forEach((head, i) => {
    if (head !== "") node(root, "text", { x: names + size * (i + 0.5) - 1, y: 12, "text-anchor": "middle" }, head);
  });
  features.forEach((name, row) => {
    node(root, "text", { x: names - 6, y: 18 + tall * row + tall / 2 + 3, "text-anchor": "end" }, shown[row]);
    heads.forEach((_, i) => {
      const { style, opacity = 1, told } = cell(row, i);
      const place = { x: names + size * i, y: 18 + tall * row, width: size - 2, height: tall - 2, rx: 2 };
      // Below what is only partly filled.
      if (opacity < 1) node(root, "rect", { class: "empty", ...place });
      const shape = node(root, "rect", { class: style, "fill-opacity": opacity, ...place });
      shape.addEventListener("pointermove", (event) => showTip(event, told));
      shape.addEventListener("pointerleave", hideTip);
    });
  });
}

function drawModels(section, { models, features }) {
  drawGrid(section.querySelector(".chart"), {
    features, title: "Which features are in which model",
    heads: models.map((_, i) => (i === 0 || (i + 1) % 5 === 0 ? i + 1 : "")),
    cell: (row, i) => {
      const [model, name] = [models[i], features[row]];
      const own = model.coefficients[name];
      // One, or one for each response or class.
      const values = own === undefined ? [] : [].concat(own);
      const said = values.map((value) => number(value, 5)).join(", ");
      return {
        style: values.length === 0 ? "empty" : values.length === 1 && own < 0 ? "minus-fill" : "plus-fill",
        told: `model ${i + 1}: objective ${number(model.objective, 8)}, ${number(model.above, 3)} % above the best\n${name}: ${values.length === 0 ? "not in it" : said}`,
      };
    },
  });
}

// The features of some models, those first that most of them have.
function ranked(supports) {
  const counts = new Map();
  supports.forEach((support) => support.forEach((name) => counts.set(name, (counts.get(name) || 0) + 1)));
  return [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a)).slice(0, 60);
}

// Scores of every size with one standard error up and down, a line for each ridge.
function drawCv(section, { score, points, folds }) {
  const [chart, grid] = section.querySelectorAll(".chart");
  const known = points.filter((point) => point.mean !== null);
  // Along prices a candidate stands where its models are: at their mean number of features.
  const differ = (of) => new Set(points.map(of)).size > 1;
  const [hasPrices, hasRidges] = [differ((point) => point.l0_penalty), differ((point) => point.ridge)];
  const isPriced = hasPrices && !differ((point) => point.k);
  const at = (point) => (isPriced ? point.features : point.k);
  const heights = known.flatMap((point) => [point.mean - (point.error || 0), point.mean + (point.error || 0)]);
  const plot = frame(chart, {
    x: padded((isPriced ? known : points).map(at)), y: padded(heights), xName: isPriced ? "features, mean of the folds" : "features", yName: score, title: "Scores on held-out rows",
  });
  const named = (point) => [hasPrices && !isPriced && `price ${number(point.l0_penalty)}`, hasRidges && `ridge ${number(point.ridge)}`].filter(Boolean).join(", ");
  const lines = [...new Set(known.map(named))];
  const styles = ["plus", "minus", "good"];
  lines.forEach((name, i) => {
    const own = known.filter((point) => named(point) === name);
    const line = own.map((point, first) => `${first ? "L" : "M"}${plot.toX(at(point))},${plot.toY(point.mean)}`).join("");
    node(plot.root, "path", { class: `line ${styles[i % 3]}-line`, d: line });
  });
  if (lines.length > 1) legendOf(plot, lines.slice(0, 3).map((name, i) => [`${styles[i]}-text`, name]));
  const placed = known.map((point) => {
    const line = lines.indexOf(named(point));
    const style = styles[line % 3];
    const [px, py] = [plot.toX(at(point)) + 4 * (line - (lines.length - 1) / 2), plot.toY(point.mean)];
    if (point.error) {
      const [low, high] = [plot.toY(point.mean - point.error), plot.toY(point.mean + point.error)];
      node(plot.root, "path", { class: `error ${style}-line`, d: `M${px},${low}V${high}M${px - 4},${low}h8M${px - 4},${high}h8` });
    }
    const dot = node(plot.root, "circle", { class: `${style === "good" ? "good-fill" : style + "-fill"}${point.chosen ? " lit" : ""}`, cx: px, cy: py, r: point.chosen ? 6 : 4 });
    return { ...point, px, py, dot };
  });
  // The words stand where no line is: the choice at the bottom, the best at the top.
  for (const point of placed.filter((own) => own.chosen || own.best)) {
    const end = point.px > (plot.left + plot.right) / 2 ? "end" : "start";
    const x = point.px + (end === "end" ? -6 : 6);
    if (point.chosen) {
      node(plot.root, "line", { class: "zero", x1: point.px, x2: point.px, y1: point.py, y2: plot.bottom });
      node(plot.root, "text", { class: "mark", x, y: plot.bottom - 6, "text-anchor": end }, point.best ? "chosen, best" : "chosen");
    } else {
      node(plot.root, "text", { class: "mark", x: point.px, y: plot.toY(point.mean + (point.error || 0)) - 6, "text-anchor": "middle" }, "best");
    }
  }
  hover(plot, placed, (point) => `${[isPriced ? `price ${number(point.l0_penalty)}, ${number(point.features, 3)} features` : `k = ${point.k}`, named(point)].filter(Boolean).join(", ")}\n${score} ${number(point.mean, 5)}${point.error === null ? "" : ` ± ${number(point.error, 3)}`}`,
    (point) => placed.forEach((own) => own.dot.setAttribute("r", own.chosen || own === point ? 6 : 4)));
  const features = ranked(folds.map((fold) => fold.support));
  grid.hidden = !features.length;
  if (!features.length) return;
  drawGrid(grid, {
    features, heads: folds.map((fold) => fold.fold), title: "Which features each fold chose",
    cell: (row, i) => {
      const has = folds[i].support.includes(features[row]);
      return {
        style: has ? "plus-fill" : "empty",
        told: `fold ${folds[i].fold}${folds[i].score === null ? "" : `: ${score} ${number(folds[i].score, 4)}`}\n${features[row]}: ${has ? "chosen" : "not chosen"}`,
      };
    },
  });
}

// How often each feature was chosen, and how often two were chosen together.
function drawStability(section, { features, coefficients, together }) {
  const [chart, grid] = section.querySelectorAll(".chart");
  const told = (feature) => {
    // One, or one for each response or class.
    const intervals = coefficients.filter((own) => own.feature === feature.feature).map((own) =>
      `\n${own.output === undefined ? "coefficient" : `${own.output}:`} ${number(own.lower)} to ${number(own.upper)}, median ${number(own.median)}`);
    return `${feature.feature}: chosen in ${number(100 * feature.frequency, 3)} %${intervals.join("")}`;
  };
  drawShares(chart, features.slice(0, 25).map((feature) => ({
    name: feature.feature, share: feature.frequency, style: feature.chosen ? "plus-fill" : "minus-fill", told: told(feature),
  })));
  grid.hidden = together.features.length < 2;
  if (grid.hidden) return;
  drawGrid(grid, {
    features: together.features, heads: together.features.map((_, i) => (i === 0 || (i + 1) % 5 === 0 ? i + 1 : "")), title: "Which features were chosen together",
    cell: (row, i) => {
      const share = together.shares[row][i];
      const names = row === i ? together.features[row] : `${together.features[row]} and ${together.features[i]}`;
      return { style: "plus-fill", opacity: Math.min(share, 0.999), told: `${names}: in ${number(100 * share, 3)} %` };
    },
  });
}

// Horizontal bars of shares.
function drawShares(chart, bars) {
  chart.replaceChildren();
  const [row, width] = [20, Math.max(240, chart.clientWidth)];
  const shown = bars.map((bar) => short(bar.name, 0.4 * width));
  const left = Math.max(...shown.map(wide)) + 12;
  const right = wide("100 %") + 12;
  const root = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  root.setAttribute("viewBox", `0 0 ${width} ${row * bars.length + 4}`);
  root.setAttribute("role", "img");
  root.setAttribute("aria-label", "How often each feature was chosen");
  chart.append(root);
  bars.forEach((bar, i) => {
    const y = row * i + 2;
    const length = Math.max(1, (width - left - right) * bar.share);
    node(root, "text", { x: left - 6, y: y + 13, "text-anchor": "end" }, shown[i]);
    const shape = node(root, "rect", { class: bar.style, x: left, y, width: length, height: row - 4, rx: 2 });
    node(root, "text", { x: left + length + 6, y: y + 13 }, `${number(100 * bar.share, 3)} %`);
    shape.addEventListener("pointermove", (event) => showTip(event, bar.told));
    shape.addEventListener("pointerleave", hideTip);
  });
}

function drawPath(section, { criterion, chosen, points }) {
  const [chart, criteria, grid] = section.querySelectorAll(".chart");
  const known = points.filter((point) => point.lower_bound !== null);
  const heights = points.map((point) => point.objective).concat(known.map((point) => point.lower_bound));
  const sizes = points.map((point) => point.k);
  const plot = frame(chart, {
    x: padded(sizes), y: padded(heights), xName: "features", yName: "objective", title: "Objective and lower bound of each size",
  });
  const line = (of) => known.map((point, i) => `${i ? "L" : "M"}${plot.toX(point.k)},${plot.toY(of(point))}`).join("");
  const legend = [["plus-text", "best model"]];
  if (known.length) {
    node(plot.root, "path", { class: "line minus-line", d: line((point) => point.lower_bound) });
    legend.push(["minus-text", "lower bound"]);
  }
  legendOf(plot, legend);
  const placed = points.map((point) => ({ ...point, px: plot.toX(point.k), py: plot.toY(point.objective) }));
  const dots = placed.map((point) => node(plot.root, "circle", {
    class: point.k === chosen ? "plus-fill lit" : "plus-fill", cx: point.px, cy: point.py, r: point.k === chosen ? 6 : 4,
  }));
  hover(plot, placed, (point) => {
    const own = point[criterion.toLowerCase()];
    const worth = own === null ? "" : `\n${criterion} ${number(own, 6)}`;
    const bound = point.lower_bound === null ? "" : `\nlower bound ${number(point.lower_bound, 8)}`;
    return `k = ${point.k}: objective ${number(point.objective, 8)}${bound}${worth}\n${point.support.join(", ") || "(none)"}`;
  }, (point) => {
    placed.forEach((own, i) => dots[i].setAttribute("r", own.k === chosen || own === point ? 6 : 4));
  });
  drawCriteria(criteria, criterion, chosen, points);
  const features = ranked(points.map((point) => point.support)).slice(0, 40);
  grid.hidden = !features.length;
  if (!features.length) return;
  drawGrid(grid, {
    features, heads: sizes, title: "The features of each size",
    cell: (row, i) => {
      const has = points[i].support.includes(features[row]);
      return { style: has ? "plus-fill" : "empty", told: `k = ${points[i].k}\n${features[row]}: ${has ? "in the model" : "not in it"}` };
    },
  });
}

// AIC, BIC and EBIC of every size, a mark where each is smallest.
function drawCriteria(chart, criterion, chosen, points) {
  const names = [["plus", "aic"], ["minus", "bic"], ["good", "ebic"]];
  const known = points.filter((point) => point.aic !== null);
  chart.hidden = !known.length;
  if (!known.length) return;
  const plot = frame(chart, {
    x: padded(points.map((point) => point.k)), y: padded(known.flatMap((point) => names.map(([, name]) => point[name]))),
    xName: "features", yName: "criterion", title: "AIC, BIC and EBIC of each size",
  });
  const placed = [];
  for (const [style, name] of names) {
    const line = known.map((point, i) => `${i ? "L" : "M"}${plot.toX(point.k)},${plot.toY(point[name])}`).join("");
    node(plot.root, "path", { class: `line ${style}-line`, d: line });
    const least = known.reduce((best, point) => (point[name] < best[name] ? point : best));
    node(plot.root, "circle", { class: `${style}-fill`, cx: plot.toX(least.k), cy: plot.toY(least[name]), r: name === criterion.toLowerCase() ? 6 : 4 });
    known.forEach((point) => placed.push({ k: point.k, name: name.toUpperCase(), value: point[name], px: plot.toX(point.k), py: plot.toY(point[name]) }));
  }
  legendOf(plot, names.map(([style, name]) => [`${style}-text`, name.toUpperCase()]).reverse());
  hover(plot, placed, (point) => `k = ${point.k}\n${point.name} ${number(point.value, 6)}`, () => {});
}

function drawPrices(section, prices) {
  const chart = section.querySelector(".chart");
  chart.replaceChildren();
  const row = 20;
  const width = Math.max(240, chart.clientWidth);
  const shown = prices.map((price) => short(`${price.chosen ? "without" : "with"} ${price.feature}`, 0.4 * width));
  const told = prices.map((price) => (price.cost === null
    ? "impossible"
    : `${price.exact ? "" : "≤ "}${number(price.exact ? price.cost : price.cost_upper)}`));
  const left = Math.max(...shown.map(wide)) + 12;
  const right = Math.max(...told.map(wide)) + 10;
  const height = row * prices.length + 4;
  const root = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  root.setAttribute("viewBox", `0 0 ${width} ${height}`);
  root.setAttribute("role", "img");
  root.setAttribute("aria-label", "What each choice costs");
  chart.append(root);
  const largest = Math.max(...prices.map((price) => price.cost || 0)) || 1;
  prices.forEach((price, i) => {
    const y = row * i + 2;
    const length = price.cost === null ? 0 : Math.max(1, ((width - left - right) * price.cost) / largest);
    node(root, "text", { x: left - 6, y: y + 13, "text-anchor": "end" }, shown[i]);
    const bar = node(root, "rect", { class: price.chosen ? "plus-fill" : "minus-fill", x: left, y, width: length, height: row - 4, rx: 2 });
    node(root, "text", { x: left + length + 6, y: y + 13 }, told[i]);
    bar.addEventListener("pointermove", (event) => showTip(event,
      `${price.chosen ? "without" : "with"} ${price.feature}\ncost ${number(price.cost_lower)} to ${number(price.cost_upper)}${price.note && `, ${price.note}`}\nthen: ${price.support.join(", ") || "(none)"}`));
    bar.addEventListener("pointerleave", hideTip);
  });
}

// Kaplan–Meier curves, one for each group of scores, and predicted beside observed survival.
function drawSurvival(section, { groups, calibration }) {
  const [chart, right] = section.querySelectorAll(".chart");
  const styles = ["good", "plus", "minus"];
  const times = groups.flatMap((group) => [group.steps[0][0], group.steps[group.steps.length - 1][0]]);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const plot = frame(chart, {
    x: [first, last > first ? last : first + 1], y: [0, 1], xName: "time", yName: "without an event", title: "Survival by risk",
  });
  const placed = [];
  groups.forEach((group, i) => {
    let line = "";
    let share = 1;
    group.steps.forEach(([time, next], j) => {
      line += `${j ? "L" : "M"}${plot.toX(time)},${plot.toY(share)}L${plot.toX(time)},${plot.toY(next)}`;
      share = next;
      placed.push({ group, time, share, px: plot.toX(time), py: plot.toY(next) });
    });
    node(plot.root, "path", { class: `line ${styles[i]}-line`, d: line });
  });
  legendOf(plot, groups.map((group, i) => [`${styles[i]}-text`, group.name]).reverse());
  hover(plot, placed, (point) => `${point.group.name}: ${number(point.share, 3)} from ${number(point.time, 4)} on\n${point.group.rows} rows, ${point.group.events} with an event`, () => {});
  right.hidden = !calibration;
  if (!calibration) return;
  const until = number(calibration.horizon, 4);
  drawScatter(right, {
    points: calibration.bins.map((bin) => ({ ...bin, x: bin.predicted, y: bin.observed })), x: [0, 1], y: [0, 1],
    xName: `predicted up to ${until}`, yName: "without an event (calibration)", title: "Calibration", guide: (at) => at,
    told: (bin) => `${counted(bin.rows, "row")}\npredicted ${number(100 * bin.x, 3)} % on average\n${number(100 * bin.y, 3)} % without an event up to ${until}`,
  });
}

const panels = { trace: drawTrace, path: drawPath, cv: drawCv, stability: drawStability, prices: drawPrices, models: drawModels, residuals: drawResiduals, labels: drawLabels, survival: drawSurvival };

function draw() {
  for (const [id, panel] of Object.entries(panels)) {
    const section = document.getElementById(id);
    if (!data[id]) continue;
    section.hidden = false;
    const note = section.querySelector(".note");
    note.textContent = (data.notes && data.notes[id]) || "";
    panel(section, data[id]);
  }
}
draw();
let width = innerWidth;
addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; draw(); } });
