// The network: nodes in their places, two arrows a pair of neighbours, coloured by load in the chosen slice of time.
const canvas = document.getElementById("canvas"), strip = document.getElementById("strip"), tip = document.getElementById("tip");
const panel = document.getElementById("panel"), pane = document.getElementById("pane"), controls = document.getElementById("controls");
let hits = [];  // things under the mouse: {x, y, r | w, h, what, tip}
const eyes = {};  // by view: zoom and shift
const eye = () => eyes[state.view] || (eyes[state.view] = { zoom: 1, x: 0, y: 0 });

function sized(target) {
  const ratio = window.devicePixelRatio || 1, width = target.clientWidth, height = target.clientHeight;
  if (target.width !== Math.round(width * ratio) || target.height !== Math.round(height * ratio)) {
    target.width = Math.round(width * ratio); target.height = Math.round(height * ratio);
  }
  const pen = target.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0); pen.clearRect(0, 0, width, height);
  pen.font = "11px system-ui, sans-serif"; pen.textBaseline = "middle"; pen.textAlign = "left";
  return { pen, width, height };
}

const frame = (() => {
  const xs = net.places.map(p => p[0]), ys = net.places.map(p => p[1]);
  const least = values => values.reduce((a, b) => Math.min(a, b), Infinity), most = values => values.reduce((a, b) => Math.max(a, b), -Infinity);
  return { left: least(xs) - .7, right: most(xs) + .7, top: least(ys) - .7, bottom: most(ys) + .7 };
})();

function meshPlace(width, height) {
  const { left, right, top, bottom } = frame, look = eye();
  const scale = Math.min((width - 40) / (right - left), (height - 50) / (bottom - top), 150) * look.zoom;
  const x0 = width / 2 - scale * (left + right) / 2 + look.x, y0 = (height - 20) / 2 - scale * (top + bottom) / 2 + look.y;
  return { scale, at: node => [x0 + net.places[node][0] * scale, y0 + net.places[node][1] * scale] };
}

function linkEnds(u, v, place) {
  let [ax, ay] = place.at(u), [bx, by] = place.at(v);
  const far = Math.hypot(net.places[v][0] - net.places[u][0], net.places[v][1] - net.places[u][1]);
  const length = Math.hypot(bx - ax, by - ay) || 1;
  let dx = (bx - ax) / length, dy = (by - ay) / length;
  const wrapped = net.kind === "torus" && far > 1.5;
  if (wrapped) { dx = -dx; dy = -dy; bx = ax + dx * place.scale * .62; by = ay + dy * place.scale * .62; }
  const box = Math.min(place.scale * .2, 24), side = Math.min(place.scale * .07, 7);
  return {
    x1: ax + dx * box - dy * side, y1: ay + dy * box + dx * side,
    x2: bx - (wrapped ? 0 : dx * box) - dy * side, y2: by - (wrapped ? 0 : dy * box) + dx * side, dx, dy,
  };
}

function arrow(pen, ends, colour, wide) {
  const head = Math.max(4, wide * 1.9);
  pen.strokeStyle = pen.fillStyle = colour; pen.lineWidth = wide;
  pen.beginPath(); pen.moveTo(ends.x1, ends.y1); pen.lineTo(ends.x2 - ends.dx * head, ends.y2 - ends.dy * head); pen.stroke();
  pen.beginPath(); pen.moveTo(ends.x2, ends.y2);
  pen.lineTo(ends.x2 - ends.dx * head - ends.dy * head * .55, ends.y2 - ends.dy * head + ends.dx * head * .55);
  pen.lineTo(ends.x2 - ends.dx * head + ends.dy * head * .55, ends.y2 - ends.dy * head - ends.dx * head * .55);
  pen.fill();
}

function drawMesh() {
  const { pen, width, height } = sized(canvas), place = meshPlace(width, height);
  hits = [];
  const { words, span } = loads(state.from, state.to), full = words.reduce((a, b) => Math.max(a, b), 0);
  const wide = Math.max(1.5, Math.min(6, place.scale * .05));
  const labelled = place.scale > 75;
  net.links.forEach(([u, v], link) => {
    const ends = linkEnds(u, v, place), used = words[link];
    arrow(pen, ends, used ? heat(.18 + .82 * used / full) : "#e3e5e8", wide);
    const mx = (ends.x1 + ends.x2) / 2, my = (ends.y1 + ends.y2) / 2;
    hits.push({ x: mx, y: my, r: Math.max(9, place.scale * .16), what: { link }, say: () => `link ${linkName(link)}\n${count(used)} ${optics.length ? "packets" : "words"} in ${count(span)} ${hasLoad ? "cycles" : "slots"}: ${(100 * used / span).toFixed(1)} % of its capacity` });
    if (labelled && used) {
      const upright = Math.abs(ends.dy) > Math.abs(ends.dx);  // beside its arrow, however many digits it has
      pen.fillStyle = "#333"; pen.textAlign = upright ? (ends.dy > 0 ? "right" : "left") : "center";
      pen.fillText(count(used), mx - ends.dy * (wide / 2 + 3), my + ends.dx * 11);
    }
  });
  if (state.link >= 0 && net.links[state.link]) arrow(pen, linkEnds(...net.links[state.link], place), "#D55E00", wide + 1);
  if (state.stream >= 0 && doc.streams[state.stream]) {
    const stream = doc.streams[state.stream], way = stream.ways[state.way] || stream.ways[0];
    if (way) for (const [link] of way[1]) arrow(pen, linkEnds(...net.links[link], place), colourOf(state.stream), wide + 1.5);
  }
  const box = Math.min(place.scale * .2, 24), wait = nodeShares();
  for (let node = 0; node < net.nodes; node++) {
    const [x, y] = place.at(node);
    pen.fillStyle = net.dead.includes(node) ? "#999" : "#fff";
    pen.fillRect(x - box, y - box, 2 * box, 2 * box);
    if (wait && box > 3) {
      let base = y + box;
      wait.names.forEach((name, i) => {
        const tall = 2 * box * wait.shares[node][i];
        pen.fillStyle = CATEGORY[name] || "#ccc"; pen.fillRect(x - box, base - tall, 2 * box, tall); base -= tall;
      });
    }
    pen.lineWidth = node === state.node ? 2.5 : 1; pen.strokeStyle = node === state.node ? "#D55E00" : "#444";
    pen.strokeRect(x - box, y - box, 2 * box, 2 * box);
    if (box >= 7) { pen.fillStyle = "#000"; pen.textAlign = "center"; pen.fillText(node, x, y); }
    let said = `node ${node}` + (net.dead.includes(node) ? ": does not work" : "");
    if (wait) said += wait.names.map((name, i) => wait.shares[node][i] > .005 ? `\n${name} ${(100 * wait.shares[node][i]).toFixed(0)} %` : "").join("");
    hits.push({ x, y, r: box, what: { node }, tip: said });
  }
  if (run && run.words.length && state.playing && state.speed <= 32) drawMoving(pen, place);
  if (!timed && period > 1 && state.playing) drawMoving(pen, place);
  legend(pen, width, height, full);
}

function nodeShares() {  // shares of each category in the chosen time
  if (!run || !run.spans.length) return null;
  const sums = Array.from({ length: net.nodes }, () => new Float64Array(run.categories.length));
  for (const [node, start, end, , , cycles] of run.spans) {
    const inside = Math.min(end, state.to) - Math.max(start, state.from);
    if (inside > 0) cycles.forEach((c, i) => { sums[node][i] += c * inside / (end - start); });
  }
  const long = Math.max(1e-9, state.to - state.from);
  return { names: run.categories, shares: sums.map(row => Array.from(row, c => Math.min(1, c / long))) };
}

function drawMoving(pen, place) {  // words on the links at this moment
  const size = Math.max(3, place.scale * .045), now = Math.floor(state.now), part = state.now - now;
  const dot = (link, stream) => {
    const ends = linkEnds(...net.links[link], place);
    pen.fillStyle = colourOf(stream); pen.strokeStyle = "#fff"; pen.lineWidth = 1;
    pen.beginPath(); pen.arc(ends.x1 + (ends.x2 - ends.x1) * part, ends.y1 + (ends.y2 - ends.y1) * part, size, 0, 7); pen.fill(); pen.stroke();
  };
  if (run && run.words.length) {
    const rows = allCrossings();
    for (let i = firstAt(rows, now); i < rows.length && rows[i][0] < now + 1; i++) dot(rows[i][1], rows[i][2]);
  } else for (const index of streamsNow()) for (const way of doc.streams[index].ways) for (const [link, after] of way[1]) {
    if ((way[0] + after) % period === now % period) dot(link, index);
  }
}

function legend(pen, width, height, full) {
  const x = 12, y = height - 14;
  for (let i = 0; i < 60; i++) { pen.fillStyle = heat(.18 + .82 * i / 60); pen.fillRect(x + i * 2, y - 5, 2, 10); }
  pen.fillStyle = "#333"; pen.textAlign = "left";
  pen.fillText(`1 to ${count(full)} ${optics.length ? "packets" : "words"} a link` + (timed ? ` in ${unit}s ${count(state.from)} to ${count(state.to)}` : doc.period ? ` in slots ${Math.floor(state.from)} to ${Math.max(Math.floor(state.from), Math.ceil(state.to) - 1)} of ${period}` : ""), x + 128, y);
  if (run && run.spans.length) categoryLegend(pen, x + 390, y, width - 8);
}

function categoryLegend(pen, left, y, right) {  // colours of what processors spent their cycles on; up to ``right`` where it is given
  const names = run.categories.filter((_, i) => run.per_node.some(row => row[i])), wides = names.map(name => pen.measureText(name).width + 26);
  let at = right === undefined ? left : Math.max(left, right - wides.reduce((a, b) => a + b, 0));
  pen.textAlign = "left";
  names.forEach((name, i) => { pen.fillStyle = CATEGORY[name] || "#ccc"; pen.fillRect(at, y - 5, 10, 10); pen.fillStyle = "#333"; pen.fillText(name, at + 14, y); at += wides[i]; });
}
