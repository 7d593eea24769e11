// The document, what follows from it, and the state that all views share.
const text = atob(document.getElementById("data").textContent.trim());
const packed = new Uint8Array(text.length);
for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
const doc = JSON.parse(new TextDecoder().decode(inflate(packed)));

const COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#A08A00", "#555555"];  // Okabe and Ito
const CATEGORY = { cpu: "#BBBBBB", write: "#E69F00", read: "#56B4E9", psync: "#D55E00", router: "#009E73", reprog: "#CC79A7", online: "#F0E442" };
const net = doc.network, run = doc.run, optics = doc.optical || [], period = doc.period || 1;
const cycles = optics.length ? optics.reduce((most, mode) => Math.max(most, mode.slots), 1) : run ? Math.max(1, run.cycles) : period;
const unit = optics.length ? "slot" : "cycle";
const hasLoad = !!(run && run.load.length);
const state = {
  view: "mesh", phase: 0, values: {}, from: 0, to: hasLoad || run || optics.length ? cycles : period, node: 0, link: -1, stream: -1, word: -1, way: 0,
  order: "way", colour: "stream", axis: doc.period || !run ? "slots" : "cycles", playing: false, now: 0, speed: 8, table: 0, slow: 0, mode: 0, rows: "links", shade: "state", message: -1, sort: "load", counter: "handled",
};
const timed = !!(optics.length || doc.active || (run && (run.load.length || run.spans.length)));  // the strip shows cycles of the run; otherwise slots

const linkFrom = new Map();
net.links.forEach(([u, v], index) => linkFrom.set(u + ">" + v, index));
const linkName = index => net.links[index] ? net.links[index][0] + " → " + net.links[index][1] : "?";
const phaseName = index => index < 0 ? (doc.target === "numesh" ? "loading" : "") : (doc.phases[index] || { name: "?" }).name;
const operatorName = index => index < 0 ? "no operator" : doc.operators[index].label;
const grouped = new Intl.NumberFormat("en-US");
const count = number => grouped.format(Math.round(number));
const short = number => number === null || number === undefined ? "" : Math.abs(number) >= 100 ? count(number) : (+number.toPrecision(3)).toString();
const escapeText = words => String(words).replace(/[&<>"]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const copLine = operator => {
  const parts = operator < 0 ? [] : doc.operators[operator].source.split(":");
  return parts.length >= 3 ? +parts[parts.length - 2] : 0;
};

// Streams of the phase and of the values that are chosen.
function isOn(stream) {
  if (doc.phases.length && stream.phase >= 0 && stream.phase !== state.phase) return false;
  if (stream.operator < 0 || !stream.values.length) return true;
  const want = state.values[stream.operator] || 0;
  return stream.values.includes(want);
}
const streamsNow = () => doc.streams.map((stream, index) => index).filter(index => isOn(doc.streams[index]));
function colourOf(index) {
  const stream = doc.streams[index];
  if (state.colour === "operator") return COLOURS[Math.max(0, stream.operator) % 8];
  if (state.colour === "source") return COLOURS[stream.source % 8];
  return COLOURS[index % 8];
}
function instanceOf(stream) {
  if (stream.operator < 0) return "";
  const at = doc.operators[stream.operator].instances.findIndex(nodes => nodes.includes(stream.source));
  const all = doc.operators[stream.operator].instances;
  if (at < 0) return "";
  const nodes = all[at];
  return `instance ${at + 1} of ${all.length} (nodes ${nodes.length > 12 ? nodes.slice(0, 12).join(" ") + " …" : nodes.join(" ")})`;
}

// Words of the run by stream; and every crossing of a link that the kept words made, in order of time.
const wordsOf = doc.streams.map(() => []);
if (run) run.words.forEach((word, index) => { if (wordsOf[word[0]]) wordsOf[word[0]].push(index); });
function departure(stream, wrote) {  // way and cycle of its start slot, for a word that waits for no other
  if (!stream.ways.length) return null;
  if (!doc.period) return { way: stream.ways[0], start: wrote };  // packet routers: a link a cycle, as nobody measured them
  const slot = ((wrote + 1 - doc.first) % period + period) % period;
  let best = null;
  for (const way of stream.ways) {
    const wait = ((way[0] - slot) % period + period) % period;
    if (!best || wait < best.wait) best = { way, wait };
  }
  return { way: best.way, start: wrote + 1 + best.wait };
}
let crossings = null;
function allCrossings() {
  if (crossings) return crossings;
  const rows = [];
  if (run) run.words.forEach((word, index) => {
    const stream = doc.streams[word[0]], gone = departure(stream, word[1]);
    if (gone) for (const [link, after] of gone.way[1]) rows.push([gone.start + after, link, word[0], index]);
  });
  rows.sort((a, b) => a[0] - b[0]);
  return crossings = rows;
}
function firstAt(rows, time) {
  let low = 0, high = rows.length;
  while (low < high) { const middle = (low + high) >> 1; if (rows[middle][0] < time) low = middle + 1; else high = middle; }
  return low;
}

// Loads of links between two times: words, and share of the cycles (of the period's slots where there is no run).
function loads(from, to) {
  if (optics.length) return opticalLoads(from, to);
  const words = new Float64Array(net.links.length);
  if (hasLoad) {
    const first = Math.max(0, Math.floor(from / run.slice_cycles)), last = Math.min(run.load[0].length, Math.max(first + 1, Math.ceil(to / run.slice_cycles)));
    run.load.forEach((row, link) => { for (let i = first; i < last; i++) words[link] += row[i]; });
    return { words, span: (last - first) * run.slice_cycles };
  }
  for (const index of streamsNow()) for (const way of doc.streams[index].ways) for (const [link, after] of way[1]) {
    const slot = (way[0] + after) % period;
    if (slot >= Math.floor(from) && slot < Math.max(Math.ceil(to), Math.floor(from) + 1)) words[link]++;
  }
  return { words, span: Math.max(1, Math.ceil(to) - Math.floor(from)) };
}
const waits = (() => {  // by stream: measured words, their mean and greatest lateness against the timetable
  return doc.streams.map((stream, index) => {
    let n = 0, sum = 0, most = 0;
    for (const word of wordsOf[index]) for (const [, read, due] of run.words[word][2]) if (due) { n++; sum += read - due; most = Math.max(most, read - due); }
    return { n, mean: n ? sum / n : 0, most };
  });
})();

function heat(share) {  // white to blue to black, by lightness alone
  const stops = [[245, 247, 250], [166, 206, 236], [0, 114, 178], [0, 40, 80]], at = Math.max(0, Math.min(1, share)) * 3, i = Math.min(2, Math.floor(at)), f = at - i;
  const mix = stops[i].map((a, c) => Math.round(a + (stops[i + 1][c] - a) * f));
  return `rgb(${mix})`;
}
