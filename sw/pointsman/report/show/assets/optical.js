// Optical networks: channels of links over time, packets at routers, delays of messages, figures side by side.
const MODE_COLOURS = { reserve: "#D55E00", multihop: "#0072B2", compiled: "#009E73", mixed: "#CC79A7" };
const LOCKED = "#E69F00", MADE = "#0072B2", QUEUED = "#E69F00", ROUTED = "#56B4E9";
const endsName = ([u, v]) => u < 0 ? "receiver " + v : v < 0 ? "sender " + u : u + " → " + v;
const messagesOf = optics.map(mode => new Map(mode.messages.map(row => [row[0], row])));
function saidOfMessage(number) {
  const row = messagesOf[state.mode].get(number);
  if (!row) return `message ${number}`;
  const [, ready, source, destination, packets, made, done] = row;
  return `message ${number}: ${source} → ${destination}, ${count(packets)} packet${packets === 1 ? "" : "s"}\nready in slot ${count(ready)}, ${made < 0 ? "not established in this run" : "established " + count(made)}, ${done < 0 ? "not there in this run" : "there " + count(done)}`;
}
function shadeOf(message, plain) {
  if (state.shade === "message") return COLOURS[message % 8];
  const row = messagesOf[state.mode].get(message);
  return state.shade === "source" && row ? COLOURS[row[2] % 8] : plain;
}

// Rows of the picture: links with a lane for each channel, connections or routers with a curve of the packets that wait.
const channelRowsKept = new Map();
function channelRows() {
  const key = [state.mode, state.rows, state.sort].join();
  if (channelRowsKept.has(key)) return channelRowsKept.get(key);
  const mode = optics[state.mode], rows = new Map();
  const row = (id, name, ends) => { if (!rows.has(id)) rows.set(id, { id, name, ends, held: [], hops: [], load: 0 }); return rows.get(id); };
  const end = one => one[5] < 0 ? mode.slots : one[5];
  if (!mode.hops.length || state.rows === "links") {
    for (const one of mode.held) { const at = row(one[0], endsName(mode.ends[one[0]]), mode.ends[one[0]]); at.held.push(one); at.load += end(one) - one[3]; }
    for (const one of mode.hops) { const at = row(one[0], endsName(mode.ends[one[0]]), mode.ends[one[0]]); at.hops.push(one); at.load++; }
  } else for (const one of mode.hops) { const node = mode.ends[one[0]][0], at = row("n" + node, "router " + node, [node, node]); at.hops.push(one); at.load++; }
  const found = [...rows.values()];
  for (const one of found) {
    if (!one.hops.length) continue;
    const from = state.rows === "routers" ? 3 : 4, to = state.rows === "routers" ? 4 : 5, steps = [];
    for (const hop of one.hops) { steps.push([hop[from], 1], [hop[to], -1]); }
    steps.sort((a, b) => a[0] - b[0]);
    one.curve = []; one.most = 0;
    let waiting = 0;
    for (let i = 0; i < steps.length; i++) { waiting += steps[i][1]; if (i + 1 === steps.length || steps[i + 1][0] !== steps[i][0]) { one.curve.push([steps[i][0], waiting]); one.most = Math.max(one.most, waiting); } }
  }
  const kind = ([u, v]) => u < 0 ? 2 : v < 0 ? 0 : 1;
  found.sort(state.sort === "load" ? (a, b) => b.load - a.load : (a, b) => kind(a.ends) - kind(b.ends) || a.ends[0] - b.ends[0] || a.ends[1] - b.ends[1]);
  channelRowsKept.set(key, found);
  return found;
}
function hatch(pen, x, y, wide, tall) {
  if (wide < 4 || tall < 4) return;
  pen.save(); pen.beginPath(); pen.rect(x, y, wide, tall); pen.clip(); pen.strokeStyle = "rgba(90,50,0,.75)"; pen.lineWidth = 1; pen.beginPath();
  for (let at = x - tall; at < x + wide; at += 5) { pen.moveTo(at, y + tall); pen.lineTo(at + tall, y); }
  pen.stroke(); pen.restore();
}
function drawChannels() {
  const { pen, width, height } = sized(canvas), mode = optics[state.mode], look = eye(), rows = channelRows();
  hits = [];
  if (!rows.length) { pen.fillStyle = "#666"; pen.fillText(`Nothing was sent in mode ${mode.name}.`, 20, 40); return; }
  const lanes = mode.held.reduce((most, one) => Math.max(most, one[1] + 1), 1), edge = GUTTER + 20;
  const tall = Math.max(mode.held.length ? Math.min(160, 3.2 * lanes + 3) : 16, Math.min(34, (height - HEAD - FOOT) / rows.length));
  look.y = Math.min(0, Math.max(look.y, height - HEAD - FOOT - rows.length * tall));
  const x = time => edge + (time - state.from) / Math.max(1e-9, state.to - state.from) * (width - edge - 8), y = row => HEAD + look.y + row * tall;
  const first = Math.max(0, Math.floor(-look.y / tall)), last = Math.min(rows.length, Math.ceil((height - HEAD - FOOT - look.y) / tall));
  pen.save(); pen.beginPath(); pen.rect(edge, HEAD, width - edge - 8, height - HEAD - FOOT); pen.clip();
  for (let number = first; number < last; number++) {
    const row = rows[number], top = y(number);
    pen.fillStyle = number % 2 ? "#f7f8fa" : "#fff"; pen.fillRect(edge, top, width, tall);
    const lane = (tall - 3) / lanes;
    for (const one of row.held) {
      const [, channel, message, locked, made, freed] = one, end = freed < 0 ? mode.slots : freed;
      if (end < state.from || locked > state.to) continue;
      const left = Math.max(edge - 2, x(locked)), middle = Math.max(left, made < 0 ? x(end) : x(made)), right = Math.min(width, x(end)), at = top + 1.5 + channel * lane, deep = Math.max(1, lane - (lane > 3 ? .6 : 0));
      pen.globalAlpha = state.message >= 0 && state.message !== message ? .18 : 1;
      if (middle > left) { pen.fillStyle = shadeOf(message, LOCKED); const kept = pen.globalAlpha; pen.globalAlpha = kept * .45; pen.fillRect(left, at, Math.max(.6, middle - left), deep); pen.globalAlpha = kept; hatch(pen, left, at, middle - left, deep); }
      if (made >= 0) { pen.fillStyle = shadeOf(message, MADE); pen.fillRect(middle, at, Math.max(.8, right - middle), deep); }
      pen.globalAlpha = 1;
      if (right - left > .7) hits.push({ x: left, y: at, w: Math.max(2, right - left), h: Math.max(2, deep), what: { message }, say: () => `${row.name}, channel ${channel}\n${made < 0 ? "locked, given back unused" : made > locked ? "locked, then established" : "established"}: slots ${count(locked)} to ${freed < 0 ? "the end" : count(freed)}\n` + saidOfMessage(message) });
    }
    if (row.curve) {
      const scale = (tall - 5) / Math.max(1, row.most);
      pen.fillStyle = state.rows === "routers" ? ROUTED : QUEUED; pen.beginPath(); pen.moveTo(edge, top + tall - 3);
      let before = 0;
      for (const [time, waiting] of row.curve) { const at = Math.max(edge - 2, Math.min(width + 2, x(time))); pen.lineTo(at, top + tall - 3 - before * scale); pen.lineTo(at, top + tall - 3 - waiting * scale); before = waiting; }
      pen.lineTo(x(mode.hops_until), top + tall - 3); pen.fill();
      if (state.rows !== "routers") for (const hop of row.hops) {
        if (hop[5] + 1 < state.from || hop[5] > state.to) continue;
        const left = x(hop[5]), wide = Math.max(.8, x(hop[5] + 1) - left);
        pen.globalAlpha = state.message >= 0 && state.message !== hop[2] ? .18 : 1;
        pen.fillStyle = shadeOf(hop[2], MADE); pen.fillRect(left, top + tall - 5, wide, 4); pen.globalAlpha = 1;
        if (wide > 1.2) hits.push({ x: left, y: top, w: wide, h: tall, what: { message: hop[2] }, say: () => `${row.name}, channel ${hop[1]}: a packet in slot ${count(hop[5])}\ncame to router ${row.ends[0]} in slot ${count(hop[3])}, was routed ${count(hop[4])}\n` + saidOfMessage(hop[2]) });
      }
      hits.push({ x: edge, y: top, w: width - edge, h: tall, what: {}, say: () => `${row.name}: ${count(row.hops.length)} packets up to slot ${count(mode.hops_until)}, at most ${count(row.most)} waiting ${state.rows === "routers" ? "to be routed" : "for the connection"}` });
    }
  }
  const until = mode.held.length && mode.hops.length ? Math.min(mode.held_until, mode.hops_until) : mode.held.length ? mode.held_until : mode.hops_until;
  if (until < mode.slots && x(until) < width) {
    pen.fillStyle = "rgba(120,120,120,.16)"; pen.fillRect(Math.max(edge, x(until)), HEAD, width, height); pen.fillStyle = "#555";
    pen.textAlign = x(until) > width - 260 ? "right" : "left"; pen.fillText(`only the first rows are kept: up to slot ${count(until)}`, x(until) + (pen.textAlign === "left" ? 5 : -5), HEAD + 9);
  }
  pen.restore();
  hits.reverse();  // what was drawn later is above
  hits.sort((a, b) => (a.what.message === undefined) - (b.what.message === undefined));
  pen.fillStyle = "#fff"; pen.fillRect(0, 0, width, HEAD); pen.fillRect(0, height - FOOT, width, FOOT);
  pen.fillStyle = "#333"; pen.textAlign = "right";
  for (let number = first; number < last; number++) if (y(number) + tall / 2 > HEAD && y(number) + tall / 2 < height - FOOT) pen.fillText(rows[number].name, edge - 6, y(number) + tall / 2);
  tickNumbers(pen, x, width, state.from, state.to, niceStep((state.to - state.from) / Math.max(4, (width - edge) / 80)), 14);
  pen.textAlign = "left"; pen.fillText("slot", 8, 14);
  let at = edge;
  const key = (colour, said, hatched) => { pen.globalAlpha = hatched ? .45 : 1; pen.fillStyle = colour; pen.fillRect(at, height - 19, 16, 10); pen.globalAlpha = 1; if (hatched) hatch(pen, at, height - 19, 16, 10); pen.fillStyle = "#333"; pen.fillText(said, at + 21, height - 14); at += 33 + pen.measureText(said).width; };
  if (mode.held.length) { if (mode.held.some(one => one[4] !== one[3])) key(LOCKED, "locked", true); key(MADE, "established"); }
  if (mode.hops.length) { if (state.rows === "routers") key(ROUTED, "packets that wait to be routed"); else { key(QUEUED, "packets that wait for the connection"); key(MADE, "sent"); } }
  pen.fillText(`${rows.length} rows` + (mode.held.length ? `, a lane a channel (${lanes})` : "") + (state.shade === "state" ? "" : `; colours are of a ${state.shade}`), at, height - 14);
}

function opticalLoads(from, to) {  // packets on each link between two slots
  const mode = optics[state.mode], packets = new Float64Array(net.links.length);
  const until = Math.min(to, mode.slots);
  for (const [place, channel, message, , made, freed] of mode.held) {
    const [u, v] = mode.ends[place], link = linkFrom.get(u + ">" + v);
    if (made < 0 || link === undefined) continue;
    const row = messagesOf[state.mode].get(message), end = row && row[6] >= 0 ? row[6] : freed < 0 ? mode.slots : freed;
    const first = Math.max(from, made), last = Math.min(until, end);
    if (last > first) packets[link] += Math.min(row ? row[5] : Infinity, Math.max(0, Math.floor((last - 1 - channel) / mode.degree) - Math.ceil((first - channel) / mode.degree) + 1));
  }
  for (const [place, , , , , sent] of mode.hops) {
    if (sent >= from && sent < until) for (const link of mode.ways[place]) packets[link]++;
  }
  return { words: packets, span: Math.max(1, Math.round(until - from)) };
}

function drawUnderWay(pen, width, top, tall) {  // messages under way in each mode; the chosen one is filled
  const most = optics.reduce((all, mode) => mode.under_way.reduce((a, b) => Math.max(a, b), all), 1);
  optics.forEach((mode, i) => {
    pen.beginPath(); pen.moveTo(stripX(width, 0), top + tall);
    mode.under_way.forEach((many, slice) => { const up = top + tall - many / most * (tall - 4); pen.lineTo(stripX(width, slice * mode.slots / mode.under_way.length), up); pen.lineTo(stripX(width, (slice + 1) * mode.slots / mode.under_way.length), up); });
    pen.strokeStyle = pen.fillStyle = MODE_COLOURS[mode.name]; pen.lineWidth = i === state.mode ? 1.6 : 1;
    if (i === state.mode) { pen.globalAlpha = .25; pen.lineTo(stripX(width, mode.slots), top + tall); pen.fill(); pen.globalAlpha = 1; }
    pen.stroke();
  });
  pen.fillStyle = "#444"; pen.fillText("messages", 6, top + 8); pen.fillText("under way", 6, top + 20); pen.textAlign = "right"; pen.fillText(count(most), stripEdge - 5, top + 34); pen.textAlign = "left";
}

function drawDelays() {  // above the share of messages that are there within a delay, below how many have which delay
  const { pen, width, height } = sized(canvas), left = GUTTER, right = width - 20, half = height * .5;
  hits = [];
  const shown = optics.filter(mode => mode.quantiles.length), most = shown.reduce((all, mode) => Math.max(all, mode.quantiles[mode.quantiles.length - 1]), 2);
  const high = Math.log(most + 1), x = delay => left + Math.log(delay + 1) / high * (right - left), y = share => half - 26 - share * (half - 60);
  pen.strokeStyle = "#ddd"; pen.lineWidth = 1; pen.fillStyle = "#333";
  for (const share of [0, .5, .99, 1]) { pen.beginPath(); pen.moveTo(left, y(share)); pen.lineTo(right, y(share)); pen.stroke(); if (share !== .99) { pen.textAlign = "right"; pen.fillText(100 * share + " %", left - 6, y(share)); } }
  pen.textAlign = "center";
  for (let tick = 1; tick <= most; tick *= 10) for (const step of [1, 2, 5]) if (step * tick <= most) pen.fillText(count(step * tick), x(step * tick), half - 14);
  pen.textAlign = "left"; pen.fillText("messages that are there within so many slots from ready", left, 14);
  let at = left + 340;
  for (const mode of shown) {
    pen.strokeStyle = pen.fillStyle = MODE_COLOURS[mode.name]; pen.lineWidth = mode === optics[state.mode] ? 3 : 1.6;
    pen.beginPath(); mode.quantiles.forEach((delay, i) => { const share = i / (mode.quantiles.length - 1); if (i) pen.lineTo(x(delay), y(share)); else pen.moveTo(x(delay), y(share)); }); pen.stroke();
    mode.quantiles.forEach((delay, i) => { if (i % 5 === 0) hits.push({ x: x(delay), y: y(i / (mode.quantiles.length - 1)), r: 7, what: {}, tip: `${mode.name}: ${(100 * i / (mode.quantiles.length - 1)).toFixed(1)} % within ${count(delay)} slots` }); });
    pen.fillRect(at, 9, 14, 10); pen.fillStyle = "#333"; const said = mode.name; pen.fillText(said, at + 19, 14); at += 36 + pen.measureText(said).width;
  }
  const chosen = optics[state.mode], [bin, counts] = chosen.histogram;
  if (!counts.length) { pen.fillStyle = "#666"; pen.fillText(`No message was delivered in mode ${chosen.name}.`, left, half + 20); return; }
  const peak = counts.reduce((a, b) => Math.max(a, b), 1), wide = (right - left) / counts.length, floor = height - 24, room = floor - half - 30;
  pen.fillStyle = "#333"; pen.fillText(`${chosen.name}: messages by delay, ${short(bin)} slot${bin === 1 ? "" : "s"} a bar; the last bar has all beyond`, left, half + 14);
  pen.textAlign = "right"; pen.fillText(count(peak), left - 6, floor - room); pen.fillText("0", left - 6, floor);
  counts.forEach((many, i) => {
    const tall = many / peak * room;
    pen.fillStyle = MODE_COLOURS[chosen.name]; pen.fillRect(left + i * wide + .5, floor - tall, Math.max(1, wide - 1), tall);
    hits.push({ x: left + i * wide, y: floor - room, w: wide, h: room, what: {}, tip: `${i + 1 < counts.length ? `${count(i * bin)} to ${count((i + 1) * bin - 1)} slots` : `from ${count(i * bin)} slots on`}: ${count(many)} messages` });
  });
  pen.fillStyle = "#333"; pen.textAlign = "center"; const every = Math.max(1, Math.ceil(60 / wide));
  counts.forEach((_, i) => { if (i % every === 0) pen.fillText(count(i * bin), left + i * wide, floor + 11); });
  pen.textAlign = "left"; pen.fillText("slots", 8, floor + 11);
}

function drawFigures() {
  const names = [...new Set(optics.flatMap(mode => Object.keys(mode.figures)))];
  pane.innerHTML = "<h2>Figures of each mode</h2>" + tableOf(["", ...optics.map(mode => mode.name)], names.map(name => [escapeText(name), ...optics.map(mode => name in mode.figures ? mode.figures[name] === null ? "–" : short(mode.figures[name]) : "")]))
    + '<p class="faint">Times are slots. latency: from ready to the first packet’s being sent (packets that hop: to the last one’s arrival); delay: to the last packet’s arrival. p50, p99: half and 99 % of the messages have at most so much.</p>';
}
function opticalPanel() {
  const mode = optics[state.mode], out = [`<h2>${escapeText(mode.name)}</h2>`, tableOf(["", ""], ["channels", "slots", "delivered", "delay mean", "delay p99", "throughput", "retries"].filter(name => name in mode.figures).map(name => [name, mode.figures[name] === null ? "–" : short(mode.figures[name])]))];
  if (state.message >= 0) {
    const rows = mode.held.filter(one => one[2] === state.message).map(one => [one[3], `${endsName(mode.ends[one[0]])}, channel ${one[1]}: locked${one[4] >= 0 ? ", established " + count(one[4]) : ""}, ${one[5] < 0 ? "not freed" : "freed " + count(one[5])}`])
      .concat(mode.hops.filter(one => one[2] === state.message).map(one => [one[5], `sent ${endsName(mode.ends[one[0]])}, channel ${one[1]}`])).sort((a, b) => a[0] - b[0]);
    out.push(`<h2>Message ${state.message}</h2><p>${escapeText(saidOfMessage(state.message)).replace(/\n/g, "<br>")}</p>`, tableOf(["slot", "what happens"], rows.slice(0, 200).map(([time, said]) => [count(time), said])));
  } else out.push('<p class="faint">Click a bar to follow its message.</p>');
  if (mode.held.length && mode.held_until < mode.slots) out.push(`<p class="faint">Channels are kept up to slot ${count(mode.held_until)} of ${count(mode.slots)}; figures and delays are of all messages.</p>`);
  if (mode.hops.length && mode.hops_until < mode.slots) out.push(`<p class="faint">Packets are kept up to slot ${count(mode.hops_until)} of ${count(mode.slots)}; figures and delays are of all messages.</p>`);
  return out.join("");
}
