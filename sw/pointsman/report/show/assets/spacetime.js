// Space and time: links down, slots modulo the period (or the cycles of the run) across, words as lines from link to link.
const GUTTER = 70, HEAD = 26;

function linkRows(indices) {  // links that carry words, in the chosen order
  const used = new Map();
  for (const index of indices) for (const way of doc.streams[index].ways) for (const [link, after] of way[1]) used.set(link, (used.get(link) || 0) + 1);
  let rows = [...used.keys()];
  if (state.order === "load") rows.sort((a, b) => used.get(b) - used.get(a) || a - b);
  else if (state.order === "node") rows.sort((a, b) => a - b);
  else {  // along the ways: longest stream first, its links one after the other
    const sorted = [...indices].sort((a, b) => longest(b) - longest(a) || a - b), placed = new Set();
    rows = [];
    for (const index of sorted) for (const way of doc.streams[index].ways) for (const [link] of way[1].slice().sort((a, b) => a[1] - b[1])) if (!placed.has(link)) { placed.add(link); rows.push(link); }
  }
  return rows;
}
const streamsIn = (from, to) => {  // streams with a measured word under way between two cycles
  const found = new Set();
  for (const [stream, wrote, reads] of run.words) if (wrote <= to && (wrote >= from || reads.some(read => read[1] >= from))) found.add(stream);
  return [...found].sort((a, b) => a - b);
};
const longest = index => doc.streams[index].ways.reduce((most, way) => Math.max(most, way[1].length), 0);
let rowsKept = { key: "", rows: [], rowOf: new Map() };
function rowsNow() {
  const inTime = state.axis === "cycles" && run;
  const key = JSON.stringify(inTime ? [state.from, state.to, state.order] : [state.phase, state.values, state.order]);
  if (rowsKept.key !== key) {
    const rows = linkRows(inTime ? streamsIn(state.from, state.to) : streamsNow());
    rowsKept = { key, rows, rowOf: new Map(rows.map((link, row) => [link, row])) };
  }
  return rowsKept;
}

function spaceFrame(width, height) {
  const { rows } = rowsNow(), look = eye(), inTime = state.axis === "cycles";
  const span = inTime ? Math.max(4, state.to - state.from) : 2 * period;
  const tall = Math.max(3, Math.min(26, (height - HEAD - 24) / Math.max(1, rows.length))) * look.zoom;
  const wide = (width - GUTTER - 14) / span * (inTime ? 1 : Math.max(1, look.zoom));
  look.y = Math.min(0, Math.max(look.y, height - HEAD - 24 - rows.length * tall));
  look.x = Math.min(0, Math.max(look.x, width - GUTTER - 14 - span * wide));
  const origin = inTime ? state.from : 0;
  return { tall, wide, span, origin, x: time => GUTTER + look.x + (time - origin) * wide, y: row => HEAD + look.y + (row + .5) * tall };
}

function drawSpace() {
  const { pen, width, height } = sized(canvas), { rows, rowOf } = rowsNow(), at = spaceFrame(width, height), inTime = state.axis === "cycles";
  hits = [];
  if (!rows.length) { pen.fillStyle = "#666"; pen.fillText("No word crosses a link here: choose another phase, value or slice of time.", 20, 40); return; }
  pen.save(); pen.beginPath(); pen.rect(GUTTER, HEAD, width - GUTTER - 8, height - HEAD - 22); pen.clip();
  rows.forEach((link, row) => {
    pen.fillStyle = link === state.link ? "#fff3c4" : row % 2 ? "#f7f8f9" : "#ffffff";
    pen.fillRect(GUTTER, at.y(row) - at.tall / 2, width, at.tall);
  });
  if (!inTime) {
    if (at.wide > 5) { pen.strokeStyle = "#eceef0"; pen.lineWidth = 1; pen.beginPath(); for (let s = 0; s <= 2 * period; s++) { pen.moveTo(at.x(s), 0); pen.lineTo(at.x(s), height); } pen.stroke(); }
    pen.strokeStyle = "#333"; pen.lineWidth = 1.5; pen.setLineDash([6, 3]); pen.beginPath();
    for (const s of [0, period, 2 * period]) { pen.moveTo(at.x(s), 0); pen.lineTo(at.x(s), height); }
    pen.stroke(); pen.setLineDash([]);
    for (const index of streamsNow()) doc.streams[index].ways.forEach((way, number) => {
      for (const turn of [-1, 0, 1]) drawWay(pen, at, rowOf, index, number, way, way[0] + turn * period, null);
    });
  } else {
    drawPhases(pen, at, height);
    run.words.forEach((word, number) => {
      if (word[1] > state.to || !word[2].some(read => read[1] >= state.from)) return;
      const gone = departure(doc.streams[word[0]], word[1]);
      if (gone) drawWay(pen, at, rowOf, word[0], doc.streams[word[0]].ways.indexOf(gone.way), gone.way, gone.start, number);
    });
  }
  pen.restore();
  pen.fillStyle = "#fff"; pen.fillRect(0, 0, GUTTER, height); pen.fillRect(0, 0, width, HEAD); pen.fillRect(0, height - 22, width, 22);
  pen.fillStyle = "#333"; pen.textAlign = "right";
  const every = Math.max(1, Math.ceil(11 / at.tall));
  rows.forEach((link, row) => { const y = at.y(row); if (row % every === 0 && y > HEAD && y < height - 24) { pen.fillText(linkName(link), GUTTER - 6, y); } });
  pen.textAlign = "center";
  const ticks = niceStep(at.span / Math.max(4, (width - GUTTER) / 70 / 1));
  if (inTime) tickNumbers(pen, at.x, width, at.origin, at.origin + at.span, ticks, 14);
  else for (const from of [0, period]) for (let slot = 0; slot < period; slot += ticks) {  // each period begins with slot 0
    const x = at.x(from + slot) + at.wide / 2;
    if (x >= GUTTER - 1 && x < width && (slot + ticks / 2 <= period || period <= ticks)) pen.fillText(slot, x, 14);
  }
  pen.textAlign = "left";
  pen.fillText(inTime ? "cycle" : `slot of ${period}`, 8, 14);
  pen.fillText(inTime ? doc.period ? `${rows.length} links   ○ written   ● read   dotted: waited for its reader` : `${rows.length} links   ○ header written   ● last word read   between them nobody measured` : `${phaseSaid()}: ${rows.length} links   ○ written by a processor   ■ can be read   dotted: on its way to where it is read   dashed: borders of the period`, GUTTER, height - 10);
}
const phaseSaid = () => doc.phases.length ? `phase ${phaseName(state.phase)}` : doc.target;
function tickNumbers(pen, x, width, from, to, step, y) {  // numbers of cycles, whole at the right edge as well
  pen.textAlign = "center";
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) if (x(t) >= GUTTER - 1) { const said = count(t); pen.fillText(said, Math.min(x(t), width - 3 - pen.measureText(said).width / 2), y); }
}
function niceStep(least) { const ten = Math.pow(10, Math.floor(Math.log10(Math.max(1, least)))); return [1, 2, 5, 10].map(f => f * ten).find(step => step >= least) || ten; }

function drawWay(pen, at, rowOf, index, number, way, start, word) {
  const stream = doc.streams[index], [, steps, arrivals] = way;
  const chosen = index === state.stream && (word !== null ? word === state.word : number === state.way && state.word < 0);
  const dimmed = state.stream >= 0 && index !== state.stream;
  pen.strokeStyle = pen.fillStyle = colourOf(index); pen.globalAlpha = dimmed ? .22 : 1; pen.lineWidth = chosen ? 4 : Math.max(1, Math.min(2.2, at.tall / 5));
  const x = step => at.x(start + steps[step][1] + .5), y = step => at.y(rowOf.get(steps[step][0])), known = step => rowOf.has(steps[step][0]);
  pen.beginPath();
  steps.forEach(([link, after, before], step) => {
    if (!known(step)) return;
    const wide = Math.max(1.5, Math.min(at.wide, 40) * .38);
    pen.moveTo(x(step) - wide, y(step)); pen.lineTo(x(step) + wide, y(step));
    if (before >= 0 && known(before)) { pen.moveTo(x(before) + wide, y(before)); pen.lineTo(x(step) - wide, y(step)); }
    if (x(step) > GUTTER - 20 && x(step) < canvas.clientWidth + 20) hits.push({ x: x(step), y: y(step), r: Math.max(6, Math.min(at.tall, at.wide) / 2), what: { stream: index, way: number, word: word === null ? -1 : word, link }, say: () => saidOfWord(index, number, word, step, start) });
  });
  pen.stroke();
  const first = steps.findIndex(step => step[2] < 0);
  if (first >= 0 && known(first)) {
    pen.beginPath(); pen.arc(x(first) - Math.max(3, Math.min(at.wide, 40) * .45), y(first), Math.max(2, Math.min(4, at.tall / 4)), 0, 7); pen.lineWidth = 1.3; pen.stroke();
  }
  for (const [place, after, step] of arrivals) {
    if (step < 0 || !known(step)) continue;
    const due = at.x(start + after), size = Math.max(2, Math.min(4, at.tall / 4));
    if (word === null) {
      pen.setLineDash([1, 3]); pen.lineWidth = 1; pen.beginPath(); pen.moveTo(x(step), y(step)); pen.lineTo(due, y(step)); pen.stroke(); pen.setLineDash([]);
      pen.fillRect(due - size, y(step) - size, 2 * size, 2 * size);
    }
    else {
      const read = run.words[word][2].find(row => row[0] === place);
      if (!read) continue;
      pen.setLineDash([2, 2]); pen.lineWidth = 1; pen.beginPath(); pen.moveTo(due, y(step)); pen.lineTo(at.x(read[1]), y(step)); pen.stroke(); pen.setLineDash([]);
      pen.beginPath(); pen.arc(at.x(read[1]), y(step), size, 0, 7); pen.fill();
    }
  }
  pen.globalAlpha = 1;
}

function saidOfWord(index, number, word, step, start) {
  const stream = doc.streams[index], lines = [];
  const [link, after] = (stream.ways[number] || stream.ways[0])[1][step];
  lines.push(`${operatorName(stream.operator)}: ${stream.name}`);
  if (stream.operator >= 0) {
    const operator = doc.operators[stream.operator];
    lines.push(`${operator.kind}, ${operator.implementation}`, instanceOf(stream));
    const line = copLine(stream.operator);
    if (line) lines.push(`COP line ${line}${doc.source[line - 1] ? ": " + doc.source[line - 1].trim().slice(0, 70) : ""}`);
  }
  lines.push(`link ${linkName(link)} in ${word === null ? "slot " + (start + after + 2 * period) % period : "cycle " + count(start + after)}`);
  const wait = waits[index];
  if (word !== null) {
    const [, wrote, reads] = run.words[word];
    lines.push(`written in cycle ${count(wrote)}`);
    for (const [place, read, due] of reads.slice(0, 4)) lines.push(`node ${stream.destinations[place][0]}: predicted ${due ? count(due) : "–"}, measured ${count(read)}`);
    if (reads.length > 4) lines.push(`… and ${reads.length - 4} more readers`);
  } else if (wait.n) {
    const first = run.words[wordsOf[index][0]];
    lines.push(`first word: written ${count(first[1])}, predicted ${count(first[2][0][2])}, measured ${count(first[2][0][1])}`);
    lines.push(`${count(wait.n)} words measured: read ${wait.mean.toFixed(1)} cycles after the prediction on average, ${count(wait.most)} at most`);
  }
  return lines.filter(Boolean).join("\n");
}

function drawPhases(pen, at, height) {  // where nodes are in which phase: a border where the first node comes
  for (const { phase, start, end } of phaseBands()) {
    if (end < state.from || start > state.to) continue;
    pen.fillStyle = phase < 0 ? "rgba(0,0,0,.05)" : phase % 2 ? "rgba(0,114,178,.05)" : "rgba(230,159,0,.06)";
    pen.fillRect(at.x(start), 0, at.x(end) - at.x(start), height);
    pen.strokeStyle = "#666"; pen.lineWidth = 1; pen.setLineDash([6, 3]); pen.beginPath(); pen.moveTo(at.x(start), 0); pen.lineTo(at.x(start), height); pen.stroke(); pen.setLineDash([]);
  }
}
let bandsKept = null;
function phaseBands() {  // spells in which most nodes are in a phase
  if (bandsKept) return bandsKept;
  if (!run || !run.spans.length || doc.target !== "numesh") return bandsKept = [];  // only routers have phases
  const slices = Math.min(600, cycles), votes = Array.from({ length: slices }, () => new Map());
  for (const [, start, end, , phase] of run.spans) {
    const first = Math.floor(start * slices / cycles), last = Math.min(slices - 1, Math.floor((end - 1) * slices / cycles));
    for (let i = first; i <= last; i++) votes[i].set(phase, (votes[i].get(phase) || 0) + 1);
  }
  const bands = [];
  votes.forEach((seen, i) => {
    if (!seen.size) return;
    const phase = [...seen].reduce((a, b) => b[1] > a[1] ? b : a)[0], start = i * cycles / slices, end = (i + 1) * cycles / slices;
    const last = bands[bands.length - 1];
    if (last && last.phase === phase && Math.abs(last.end - start) < 1) last.end = end; else bands.push({ phase, start, end });
  });
  return bandsKept = bands;
}
