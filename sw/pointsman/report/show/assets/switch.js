// A switch: slots down, input ports across, the output port in each cell; and which bursts of words found their connection made.
function drawSwitch() {
  const { pen, width, height } = sized(canvas), table = doc.tables[state.table];
  hits = [];
  if (!table) { pen.fillStyle = "#666"; pen.fillText("There are no connections here.", 20, 40); return; }
  const ports = net.nodes, slots = Math.max(1, table.rows.length), look = eye();
  const top = 40, wide = Math.max(4, Math.min(44, (width - GUTTER - 20) / ports)) * look.zoom;
  const room = run && run.bursts.length ? height * .42 : height - 30, tall = Math.max(8, Math.min(30, (room - top) / slots));
  pen.fillStyle = "#333"; pen.textAlign = "left"; pen.fillText(`${table.name}: ${slots} slots, output of each input port`, GUTTER, 10);
  pen.save(); pen.beginPath(); pen.rect(GUTTER, 18, width - GUTTER - 4, height); pen.clip();
  look.x = Math.min(0, Math.max(look.x, width - GUTTER - 14 - ports * wide));
  const x = port => GUTTER + look.x + port * wide;
  pen.textAlign = "center";
  for (let port = 0; port < ports; port++) if (wide > 14 || port % 8 === 0) pen.fillText(port, x(port) + wide / 2, 28);
  table.rows.forEach((pairs, slot) => {
    const y = top + slot * tall;
    for (let port = 0; port < ports; port++) { pen.fillStyle = "#f4f5f7"; pen.fillRect(x(port) + .5, y + .5, wide - 1, tall - 1); }
    for (const [from, to] of pairs) {
      pen.fillStyle = COLOURS[to % 8]; pen.globalAlpha = state.node >= 0 && state.pick && from !== state.node && to !== state.node ? .25 : .75; pen.fillRect(x(from) + .5, y + .5, wide - 1, tall - 1); pen.globalAlpha = 1;
      if (wide > 13 && tall > 9) { pen.fillStyle = "#000"; pen.fillText(to, x(from) + wide / 2, y + tall / 2); }
      hits.push({ x: x(from), y, w: wide, h: tall, what: { node: from, pick: 1 }, tip: `slot ${slot}: input ${from} → output ${to}` + (table.weights.length ? `\nfor ${short(table.weights[slot])}` : "") + (doc.target === "tdm" ? "\npreloaded" : "") });
    }
  });
  pen.restore();
  pen.textAlign = "right"; pen.fillStyle = "#333";
  table.rows.forEach((_, slot) => pen.fillText(table.weights.length ? `${slot} (${short(table.weights[slot])})` : `slot ${slot}`, GUTTER - 6, top + slot * tall + tall / 2));
  pen.textAlign = "left";
  const below = top + slots * tall + 16;
  if (table.dynamic.length) pen.fillText(`left to the scheduler, made when they are asked for: ${table.dynamic.slice(0, 16).map(([a, b]) => a + "→" + b).join("  ")}${table.dynamic.length > 16 ? ` … ${table.dynamic.length - 16} more` : ""}`, GUTTER, below);
  if (run && run.bursts.length) drawBursts(pen, width, height, below + 16);
}
function drawBursts(pen, width, height, top) {  // a row an input port: bursts of words in time, hit or missed
  const tall = Math.max(4, Math.min(22, (height - top - 24) / net.nodes)), x = time => GUTTER + (time - state.from) / Math.max(1e-9, state.to - state.from) * (width - GUTTER - 8);
  pen.fillStyle = "#333"; pen.fillText("requests by input port: ", GUTTER, top);
  let at = GUTTER + 130;
  for (const [colour, said] of [["#0072B2", "preloaded"], ["#009E73", "hit: the scheduler had it made"], ["#D55E00", "missed: had to wait for it"]]) { pen.fillStyle = colour; pen.fillRect(at, top - 5, 10, 10); pen.fillStyle = "#333"; pen.fillText(said, at + 14, top); at += 24 + pen.measureText(said).width; }
  pen.save(); pen.beginPath(); pen.rect(GUTTER, top + 8, width - GUTTER - 8, height); pen.clip();
  for (const [from, to, wrote, first, last, words, loaded, hit] of run.bursts) {
    if (last < state.from || wrote > state.to) continue;
    const y = top + 10 + from * tall, left = x(wrote), wide = Math.max(1, x(last + 1) - left);
    pen.fillStyle = loaded ? "#0072B2" : hit ? "#009E73" : "#D55E00"; pen.fillRect(left, y, wide, tall - 1);
    pen.fillStyle = "rgba(255,255,255,.55)"; pen.fillRect(left, y, Math.max(0, Math.min(wide, x(first) - left)), tall - 1);
    if (tall > 10 && wide > pen.measureText("→" + to).width + 4) { pen.fillStyle = x(first) - left > wide / 2 ? "#000" : "#fff"; pen.fillText("→" + to, left + 2, y + tall / 2); }
    hits.push({ x: left, y, w: wide, h: tall, what: { node: from }, say: () => `input ${from} → output ${to}: ${words} words\nfirst written in cycle ${count(wrote)}, read from ${count(first)} to ${count(last)}\n${loaded ? "preloaded" : hit ? "hit: made by the scheduler before" : "missed: waited " + count(first - wrote) + " cycles for its connection"}` });
  }
  pen.restore();
  pen.fillStyle = "#333"; pen.textAlign = "right"; const every = Math.max(1, Math.ceil(11 / tall));
  for (let node = 0; node < net.nodes; node += every) pen.fillText(node, GUTTER - 6, top + 10 + node * tall + tall / 2);
  pen.textAlign = "left";
}
