// What processors did: a row a node, a bar an activity, filled by what its cycles were spent on.
const FOOT = 28;  // below the rows: the legend
function drawProcessors() {
  const { pen, width, height } = sized(canvas), look = eye();
  hits = [];
  if (!run) { pen.fillStyle = "#666"; pen.fillText("There is no run: show an application instead of its image.", 20, 40); return; }
  if (!run.spans.length) { drawBars(pen, width, height); return; }
  const tall = Math.max(4, Math.min(26, (height - HEAD - FOOT) / net.nodes)) * look.zoom;
  look.y = Math.min(0, Math.max(look.y, height - HEAD - FOOT - net.nodes * tall));
  const x = time => GUTTER + (time - state.from) / Math.max(1e-9, state.to - state.from) * (width - GUTTER - 8), y = node => HEAD + look.y + node * tall;
  pen.save(); pen.beginPath(); pen.rect(GUTTER, HEAD, width - GUTTER - 8, height - HEAD - FOOT); pen.clip();
  for (const [node, start, end, doing, phase, spent] of run.spans) {
    if (end < state.from || start > state.to || y(node) > height || y(node) + tall < HEAD) continue;
    const left = Math.max(GUTTER, x(start)), wide = Math.max(.4, Math.min(x(end), width) - left), total = end - start;
    let base = y(node) + tall - 1;
    spent.forEach((cycles, kind) => {
      const part = (tall - 1.5) * Math.min(1, cycles / total);
      if (part > 0) { pen.fillStyle = CATEGORY[run.categories[kind]] || "#ccc"; pen.fillRect(left, base - part, wide, part); base -= part; }
    });
    if (wide > 3 && tall > 6) { pen.strokeStyle = "rgba(0,0,0,.25)"; pen.lineWidth = .5; pen.strokeRect(left, y(node) + .5, wide, tall - 1.5); }
    if (wide > 60 && tall > 12) { pen.fillStyle = "#000"; pen.textAlign = "left"; pen.save(); pen.beginPath(); pen.rect(left, y(node), wide - 3, tall); pen.clip(); pen.fillText(run.activities[doing], left + 4, y(node) + tall / 2); pen.restore(); }
    if (wide > 1.2) hits.push({ x: left, y: y(node), w: wide, h: tall, what: { node }, say: () => `node ${node}: ${run.activities[doing]}\nphase ${phaseName(phase)}\ncycles ${count(start)} to ${count(end)} (${count(total)})` + spent.map((c, i) => c ? `\n${run.categories[i]} ${count(c)}` : "").join("") });
  }
  pen.restore();
  pen.fillStyle = "#fff"; pen.fillRect(0, 0, width, HEAD); pen.fillRect(0, 0, GUTTER, height); pen.fillRect(0, height - FOOT, width, FOOT);
  pen.fillStyle = "#333"; pen.textAlign = "right";
  const every = Math.max(1, Math.ceil(12 / tall));
  for (let node = 0; node < net.nodes; node += every) if (y(node) >= HEAD - 4 && y(node) + tall / 2 < height - FOOT) { if (node === state.node) pen.fillStyle = "#D55E00"; pen.fillText("node " + node, GUTTER - 6, y(node) + tall / 2); pen.fillStyle = "#333"; }
  timeTicks(pen, x, width);
  categoryLegend(pen, GUTTER, height - 14);
}
function timeTicks(pen, x, width) {
  const step = niceStep((state.to - state.from) / Math.max(3, width / 90));
  pen.fillStyle = "#333";
  tickNumbers(pen, x, width, state.from, state.to, step, 12);
  pen.textAlign = "left"; pen.fillText("cycle", 8, 12);
}
function drawBars(pen, width, height) {  // only totals are known
  const tall = Math.max(4, Math.min(26, (height - HEAD - FOOT) / run.per_node.length)), most = Math.max(1, ...run.per_node.map(row => row.reduce((a, b) => a + b, 0)));
  run.per_node.forEach((row, node) => {
    let x = GUTTER; const y = HEAD + node * tall;
    row.forEach((cycles, kind) => { const wide = cycles / most * (width - GUTTER - 10); pen.fillStyle = CATEGORY[run.categories[kind]] || "#ccc"; pen.fillRect(x, y, wide, tall - 1); if (wide > 1) hits.push({ x, y, w: wide, h: tall, what: { node }, tip: `node ${node}: ${run.categories[kind]} ${count(cycles)} cycles` }); x += wide; });
    pen.fillStyle = "#333"; pen.textAlign = "right"; if (tall > 8 || node % 4 === 0) pen.fillText("node " + node, GUTTER - 6, y + tall / 2);
  });
  pen.textAlign = "left"; pen.fillText(`cycles of each node by what they were spent on, of ${count(most)}`, GUTTER, 12);
  categoryLegend(pen, GUTTER, height - 14);
}
