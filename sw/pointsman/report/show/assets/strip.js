// The strip of time under every view: phases as bands, the busiest links as rows of heat, a slice to be chosen with the mouse.
const stripEdge = 70;
const stripEnd = () => timed ? cycles : period;
function stripX(width, time) { return stripEdge + time / stripEnd() * (width - stripEdge - 8); }
function stripTime(width, x) { return Math.max(0, Math.min(stripEnd(), (x - stripEdge) / (width - stripEdge - 8) * stripEnd())); }
let busiestKept = { key: null, rows: [] };
function busiest() {
  const key = hasLoad ? "run" : JSON.stringify([state.phase, state.values]);
  if (busiestKept.key === key) return busiestKept.rows;
  let rows;
  if (hasLoad) rows = run.load.map((row, link) => ({ link, row, sum: row.reduce((a, b) => a + b, 0), full: run.slice_cycles }));
  else {
    const table = net.links.map(() => new Array(period).fill(0));
    for (const index of streamsNow()) for (const way of doc.streams[index].ways) for (const [link, after] of way[1]) table[link][(way[0] + after) % period]++;
    rows = table.map((row, link) => ({ link, row, sum: row.reduce((a, b) => a + b, 0), full: 1 }));
  }
  rows = rows.filter(one => one.sum).sort((a, b) => b.sum - a.sum).slice(0, 8);
  busiestKept = { key, rows };
  return rows;
}
function drawStrip() {
  const { pen, width, height } = sized(strip);
  pen.font = "10px system-ui, sans-serif";
  const bandTall = 14;
  if (timed) for (const { phase, start, end } of phaseBands()) {
    const x = stripX(width, start), wide = Math.max(.5, stripX(width, end) - x);
    pen.fillStyle = phase < 0 ? "#e0e0e0" : ["#cfe5f4", "#fae3b4", "#c5e8dc", "#f6d3bd", "#f3dbe8"][phase % 5];
    pen.fillRect(x, 2, wide, bandTall);
    if (wide > 34) { pen.fillStyle = "#333"; pen.save(); pen.beginPath(); pen.rect(x, 2, wide - 2, bandTall); pen.clip(); pen.fillText(phaseName(phase), x + 3, 2 + bandTall / 2); pen.restore(); }
  }
  if (optics.length) drawUnderWay(pen, width, 2, height - 20);
  const rows = optics.length ? [] : busiest(), tall = Math.max(3, Math.min(9, (height - bandTall - 20) / Math.max(1, rows.length)));
  rows.forEach(({ link, row, full }, i) => {
    const y = bandTall + 4 + i * tall;
    row.forEach((words, slice) => {
      if (!words) return;
      const x = stripX(width, slice * stripEnd() / row.length), end = stripX(width, (slice + 1) * stripEnd() / row.length);
      pen.fillStyle = heat(.15 + .85 * Math.min(1, words / full)); pen.fillRect(x, y, Math.max(.7, end - x), tall - .5);
    });
    if (i % Math.ceil(10 / tall) === 0) { pen.fillStyle = "#444"; pen.textAlign = "right"; pen.fillText(linkName(link), stripEdge - 5, y + tall / 2); pen.textAlign = "left"; }
  });
  if (!rows.length && run && timed && run.spans.length) drawStripShares(pen, width, bandTall + 4, height - bandTall - 22);
  if (!rows.length && doc.active) activeCurve(pen, time => stripX(width, time), bandTall + 4, height - bandTall - 22, 0, doc.active.under_way.length);
  pen.fillStyle = "rgba(60,60,60,.14)";
  const a = stripX(width, state.from), b = stripX(width, state.to);
  pen.fillRect(stripEdge, 0, a - stripEdge, height - 14); pen.fillRect(b, 0, width - 8 - b, height - 14);
  pen.strokeStyle = "#0072B2"; pen.lineWidth = 2; pen.strokeRect(a, 1, Math.max(1, b - a), height - 16);
  if (state.playing) { pen.strokeStyle = "#D55E00"; pen.beginPath(); const x = stripX(width, state.now % stripEnd()); pen.moveTo(x, 0); pen.lineTo(x, height - 14); pen.stroke(); }
  const step = niceStep(stripEnd() / Math.max(3, width / 90));
  pen.fillStyle = "#444"; pen.textAlign = "center";
  for (let t = 0; t <= stripEnd(); t += step) pen.fillText(count(t), stripX(width, t), height - 7);
  pen.textAlign = "left"; pen.fillText(timed ? unit : "slot", 6, height - 7);
  if (timed && phaseBands().length) pen.fillText("phases", 6, 9);
}
let sharesKept = null;
function drawStripShares(pen, width, top, tall) {  // where no links are known: what all processors did
  const slices = Math.min(240, cycles);
  if (!sharesKept) {
    sharesKept = Array.from({ length: slices }, () => new Float64Array(run.categories.length));
    for (const [, start, end, , , spent] of run.spans) {
      const first = Math.floor(start * slices / cycles), last = Math.min(slices - 1, Math.floor((end - 1) * slices / cycles));
      for (let i = first; i <= last; i++) spent.forEach((c, kind) => { sharesKept[i][kind] += c / (end - start); });
    }
  }
  sharesKept.forEach((row, i) => {
    const x = stripX(width, i * cycles / slices), wide = stripX(width, (i + 1) * cycles / slices) - x, total = Math.max(net.nodes, row.reduce((a, b) => a + b, 0));
    let base = top + tall;
    row.forEach((share, kind) => { const part = tall * share / total; pen.fillStyle = CATEGORY[run.categories[kind]] || "#ccc"; pen.fillRect(x, base - part, wide + .3, part); base -= part; });
  });
}
let dragging = null;
strip.addEventListener("pointerdown", event => {
  strip.setPointerCapture(event.pointerId);
  const width = strip.clientWidth, time = stripTime(width, event.offsetX), near = 6 / (width - stripEdge) * stripEnd();
  const whole = state.to - state.from >= stripEnd() - 1e-9;
  dragging = !whole && Math.abs(time - state.from) < near ? { edge: "from" } : !whole && Math.abs(time - state.to) < near ? { edge: "to" }
    : !whole && time > state.from && time < state.to ? { move: time, from: state.from, to: state.to } : { start: time };
});
strip.addEventListener("pointermove", event => {
  if (!dragging) return;
  const time = stripTime(strip.clientWidth, event.offsetX);
  if (dragging.edge) state[dragging.edge] = time;
  else if (dragging.start !== undefined) { state.from = Math.min(dragging.start, time); state.to = Math.max(dragging.start, time); }
  else { const by = Math.max(-dragging.from, Math.min(stripEnd() - dragging.to, time - dragging.move)); state.from = dragging.from + by; state.to = dragging.to + by; }
  if (state.from > state.to) { [state.from, state.to] = [state.to, state.from]; dragging.edge = dragging.edge === "from" ? "to" : "from"; }
  refresh();
});
strip.addEventListener("pointerup", () => { if (dragging && dragging.start !== undefined && state.to - state.from < stripEnd() / 500) wholeTime(); dragging = null; refresh(); });
strip.addEventListener("dblclick", () => { wholeTime(); refresh(); });
function wholeTime() { state.from = 0; state.to = stripEnd(); }
