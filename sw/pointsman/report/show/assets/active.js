// Active messages: who handles how many when, how many are under way, counters; and quanta of threads.
const active = doc.active;
const ACTIVE_FOOT = 96;  // below the rows: a curve
function activeRows(width, height, foot) {  // places of rows and of times, shared by the two views
  const look = eye(), tall = Math.max(4, Math.min(26, (height - HEAD - foot) / net.nodes)) * look.zoom;
  look.y = Math.min(0, Math.max(look.y, height - HEAD - foot - net.nodes * tall));
  return { tall, x: time => GUTTER + (time - state.from) / Math.max(1e-9, state.to - state.from) * (width - GUTTER - 8), y: node => HEAD + look.y + node * tall };
}
function activeNames(pen, width, height, foot, rows) {
  pen.fillStyle = "#fff"; pen.fillRect(0, 0, width, HEAD); pen.fillRect(0, 0, GUTTER, height); pen.fillRect(0, height - foot, width, foot);
  pen.fillStyle = "#333"; pen.textAlign = "right";
  const every = Math.max(1, Math.ceil(12 / rows.tall));
  for (let node = 0; node < net.nodes; node += every) if (rows.y(node) >= HEAD - 4 && rows.y(node) + rows.tall / 2 < height - foot) { pen.fillStyle = node === state.node ? "#D55E00" : "#333"; pen.fillText("node " + node, GUTTER - 6, rows.y(node) + rows.tall / 2); }
  timeTicks(pen, rows.x, width);
}
function activeTable() {  // what the rows show: [title, a row of values a node]
  if (state.counter === "sent") return ["messages sent", active.sent];
  if (state.counter === "handled") return ["messages handled", active.handled];
  const one = active.counters.find(one => one.name === state.counter);
  return one ? [one.name, one.values] : ["messages handled", active.handled];
}
function drawMessages() {
  const { pen, width, height } = sized(canvas), rows = activeRows(width, height, ACTIVE_FOOT), [title, table] = activeTable(), wide = active.slice_cycles;
  hits = [];
  const first = Math.max(0, Math.floor(state.from / wide)), last = Math.min(active.under_way.length, Math.ceil(state.to / wide));
  const most = Math.max(1, table.reduce((high, row) => row.reduce((a, b) => Math.max(a, b), high), 0));
  pen.save(); pen.beginPath(); pen.rect(GUTTER, HEAD, width - GUTTER - 8, height - HEAD - ACTIVE_FOOT); pen.clip();
  table.forEach((row, node) => {
    if (rows.y(node) > height || rows.y(node) + rows.tall < HEAD) return;
    for (let i = first; i < last; i++) {
      if (!row[i]) continue;
      const left = rows.x(i * wide), across = Math.max(.7, rows.x((i + 1) * wide) - left);
      pen.fillStyle = heat(.12 + .88 * row[i] / most); pen.fillRect(left, rows.y(node), across, rows.tall - 1);
      hits.push({ x: left, y: rows.y(node), w: across, h: rows.tall, what: { node }, say: () => `node ${node}, cycles ${count(i * wide)} to ${count((i + 1) * wide)}\n${title}: ${count(row[i])}` });
    }
  });
  pen.restore();
  activeNames(pen, width, height, ACTIVE_FOOT, rows);
  activeCurve(pen, rows.x, height - ACTIVE_FOOT + 22, ACTIVE_FOOT - 42, first, last);
  pen.fillStyle = "#333"; pen.textAlign = "left";
  pen.fillText(`${title}, a row a node, at most ${count(most)} in ${short(wide)} cycles`, GUTTER, height - ACTIVE_FOOT + 10);
  pen.fillText(`messages under way, at most ${count(active.under_way.reduce((a, b) => Math.max(a, b), 0))}`, GUTTER, height - 8);
}
function activeCurve(pen, x, top, tall, first, last) {
  const most = Math.max(1, active.under_way.reduce((a, b) => Math.max(a, b), 0)), wide = active.slice_cycles;
  pen.fillStyle = "#56B4E9";
  for (let i = first; i < last; i++) {
    const high = Math.max(0, active.under_way[i]) / most * tall, left = x(i * wide);
    pen.fillRect(left, top + tall - high, Math.max(.7, x((i + 1) * wide) - left), high);
  }
}
function drawQuanta() {
  const { pen, width, height } = sized(canvas), rows = activeRows(width, height, FOOT);
  hits = [];
  pen.save(); pen.beginPath(); pen.rect(GUTTER, HEAD, width - GUTTER - 8, height - HEAD - FOOT); pen.clip();
  for (const [node, start, end, block] of active.quanta) {
    if (end < state.from || start > state.to || rows.y(node) > height || rows.y(node) + rows.tall < HEAD) continue;
    const left = Math.max(GUTTER, rows.x(start)), across = Math.max(.5, Math.min(rows.x(end), width) - left);
    pen.fillStyle = COLOURS[block % 8]; pen.fillRect(left, rows.y(node), across, rows.tall - 1);
    if (across > 1) hits.push({ x: left, y: rows.y(node), w: across, h: rows.tall, what: { node }, tip: `node ${node}: a frame of ${active.blocks[block]}\ncycles ${count(start)} to ${count(end)}` });
  }
  pen.restore();
  activeNames(pen, width, height, FOOT, rows);
  let at = GUTTER; pen.textAlign = "left";
  active.blocks.forEach((name, block) => { if (at > width - 60) return; pen.fillStyle = COLOURS[block % 8]; pen.fillRect(at, height - 19, 10, 10); pen.fillStyle = "#333"; pen.fillText(name, at + 14, height - 14); at += 26 + pen.measureText(name).width; });
}
function activePanel() {
  const total = table => table.reduce((sum, row) => sum + row.reduce((a, b) => a + b, 0), 0), of = (table, node) => table[node].reduce((a, b) => a + b, 0);
  const out = [`<h2>Messages</h2><p>${count(total(active.sent))} sent and ${count(total(active.handled))} handled between nodes; ${count(active.quanta_all)} quanta</p>`, `<h2>Node ${state.node}</h2><p>${count(of(active.sent, state.node))} sent, ${count(of(active.handled, state.node))} handled</p>`];
  const pairs = active.pairs.filter(([u, v]) => u === state.node || v === state.node).sort((a, b) => b[2] - a[2]);
  out.push(tableOf(["from", "to", "messages"], pairs.slice(0, 100).map(([u, v, n]) => [u, v, count(n)])));
  for (const note of doc.notes) out.push(`<p class="faint">${escapeText(note)}</p>`);
  return out.join("");
}
