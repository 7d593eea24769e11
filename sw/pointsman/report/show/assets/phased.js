// Connections on logical channels: their ways phase by phase, timetables of processors, and the mesh whose parts exchange over them.
const phased = doc.phased, parts = doc.parts;
const routesNow = () => phased.routes.map((route, index) => index).filter(index => phased.routes[index][0] === state.phase);
const routeName = route => `connection ${route[1]}: ${route[3][0]} → ${route[3][route[3].length - 1]}`;
const routeSaid = route => `${routeName(route)}\n${count(route[2])} words, clocks ${count(route[5])} to ${count(route[6])} of phase ${phaseName(route[0])}\nby ${route[3].map((node, i) => `${node} (channel ${route[4][i]})`).join(" ")}`;
const partOn = (() => { const found = new Map(); if (parts) parts.node_of.forEach((node, part) => found.set(node, part)); return found; })();
const partColour = part => COLOURS[part % 8];
const connectionColour = index => COLOURS[phased.routes[index][1] % 8];
function routeLinks(route) { return route[3].slice(1).map((node, i) => linkFrom.get(route[3][i] + ">" + node)); }

function drawPhased() {  // nodes filled by the channels in use, links by how many connections share them
  const { pen, width, height } = sized(canvas), place = meshPlace(width, height), shown = routesNow();
  hits = [];
  const users = net.links.map(() => []), taken = new Array(net.nodes).fill(0);
  for (const index of shown) { for (const link of routeLinks(phased.routes[index])) users[link].push(index); for (const node of phased.routes[index][3]) taken[node]++; }
  const full = users.reduce((most, list) => Math.max(most, list.length), 0), wide = Math.max(1.5, Math.min(6, place.scale * .05));
  net.links.forEach(([u, v], link) => {
    const ends = linkEnds(u, v, place), used = users[link].length;
    arrow(pen, ends, used ? heat(.18 + .82 * used / full) : "#e3e5e8", wide);
    const mx = (ends.x1 + ends.x2) / 2, my = (ends.y1 + ends.y2) / 2;
    hits.push({ x: mx, y: my, r: Math.max(8, place.scale * .14), what: { link }, say: () => `link ${linkName(link)}: ${used} connection${used === 1 ? "" : "s"}` + (used ? `, each with a share of 1/${used} for certain\n` + users[link].slice(0, 12).map(i => { const route = phased.routes[i], at = route[3].indexOf(u); return `${routeName(route)}, channels ${route[4][at]} → ${route[4][at + 1]}`; }).join("\n") + (used > 12 ? `\n… ${used - 12} more` : "") : "") });
    if (used && place.scale > 75) {
      const upright = Math.abs(ends.dy) > Math.abs(ends.dx);
      pen.fillStyle = "#333"; pen.textAlign = upright ? (ends.dy > 0 ? "right" : "left") : "center";
      pen.fillText(used, mx - ends.dy * (wide / 2 + 3), my + ends.dx * 11);
    }
  });
  const chosen = state.stream >= 0 && phased.routes[state.stream][0] === state.phase ? [state.stream] : state.link >= 0 ? users[state.link] : [];
  for (const index of chosen) for (const link of routeLinks(phased.routes[index])) arrow(pen, linkEnds(...net.links[link], place), connectionColour(index), wide + 1.5);
  const box = Math.min(place.scale * .2, 24);
  for (let node = 0; node < net.nodes; node++) {
    const [x, y] = place.at(node), share = taken[node] / phased.channels;
    pen.fillStyle = "#fff"; pen.fillRect(x - box, y - box, 2 * box, 2 * box);
    pen.fillStyle = "#F4C9A8"; pen.fillRect(x - box, y + box - 2 * box * share, 2 * box, 2 * box * share);
    pen.lineWidth = node === state.node && state.pick ? 2.5 : 1; pen.strokeStyle = node === state.node && state.pick ? "#D55E00" : "#444"; pen.strokeRect(x - box, y - box, 2 * box, 2 * box);
    if (box >= 7) { pen.fillStyle = "#000"; pen.textAlign = "center"; pen.fillText(node, x, y); }
    hits.push({ x, y, r: box, what: { node, pick: 1 }, tip: `node ${node}` + (partOn.has(node) ? `, part ${partOn.get(node)}` : "") + `\n${taken[node]} of ${phased.channels} channels in use` });
  }
  pen.textAlign = "left"; pen.fillStyle = "#333";
  pen.fillText(`phase ${phaseName(state.phase)}: ${shown.length} connections, up to ${full} on a link; nodes filled by channels in use, of ${phased.channels}`, 12, height - 14);
}

function drawTimetables() {  // a row a processor: what it sends above, what it receives below
  const { pen, width, height } = sized(canvas), look = eye(), long = Math.max(1, phased.clocks[state.phase] || 1);
  hits = [];
  const tall = Math.max(6, Math.min(30, (height - HEAD - FOOT) / net.nodes)) * look.zoom;
  look.y = Math.min(0, Math.max(look.y, height - HEAD - FOOT - net.nodes * tall));
  const x = time => GUTTER + time / long * (width - GUTTER - 14), y = node => HEAD + look.y + node * tall;
  pen.save(); pen.beginPath(); pen.rect(GUTTER, HEAD, width - GUTTER, height - HEAD - FOOT); pen.clip();
  for (let node = 0; node < net.nodes; node++) { pen.fillStyle = node % 2 ? "#fff" : "#f7f8fa"; pen.fillRect(GUTTER, y(node), width, tall); }
  for (const index of routesNow()) {
    const route = phased.routes[index], ends = [route[3][0], route[3][route[3].length - 1]];
    ends.forEach((node, side) => {
      const left = x(route[5]), wide = Math.max(1, x(route[6]) - left - 1), top = y(node) + side * tall / 2 + 1, high = tall / 2 - 1.5;
      pen.fillStyle = connectionColour(index); pen.globalAlpha = state.stream >= 0 && state.stream !== index ? .25 : .85; pen.fillRect(left, top, wide, high); pen.globalAlpha = 1;
      const said = side ? "← " + ends[0] : "→ " + ends[1];
      if (high > 9 && wide > pen.measureText(said).width + 4) { pen.fillStyle = "#fff"; pen.textAlign = "left"; pen.fillText(said, left + 3, top + high / 2); }
      hits.push({ x: left, y: top, w: wide, h: high, what: { connection: index }, say: () => `processor ${node} ${side ? "receives" : "sends"}\n` + routeSaid(route) });
    });
  }
  pen.restore();
  pen.fillStyle = "#333"; pen.textAlign = "right";
  const every = Math.max(1, Math.ceil(11 / tall));
  for (let node = 0; node < net.nodes; node += every) if (y(node) > HEAD - tall && y(node) < height - FOOT) pen.fillText("node " + node, GUTTER - 6, y(node) + tall / 2);
  tickNumbers(pen, x, width, 0, long, niceStep(long / Math.max(3, width / 90)), 12);
  pen.textAlign = "left"; pen.fillText("clock", 8, 12);
  pen.fillText(`phase ${phaseName(state.phase)}: ${count(long)} clocks; a row a processor, what it sends above what it receives`, GUTTER, height - 14);
}

function drawParts() {  // elements in the colours of their parts, which are on network nodes; the parts that exchange in this phase are joined
  const { pen, width, height } = sized(canvas), look = eye();
  hits = [];
  const xs = parts.points.map(p => p[0]), ys = parts.points.map(p => p[1]), least = list => list.reduce((a, b) => Math.min(a, b), Infinity), most = list => list.reduce((a, b) => Math.max(a, b), -Infinity);
  const left = least(xs), low = least(ys), wide = Math.max(1e-12, most(xs) - left), tall = Math.max(1e-12, most(ys) - low);
  const scale = Math.min((width - 40) / wide, (height - 60) / tall) * look.zoom, x0 = width / 2 - scale * wide / 2 + look.x, y0 = (height - 20) / 2 + scale * tall / 2 + look.y;
  const at = point => [x0 + (parts.points[point][0] - left) * scale, y0 - (parts.points[point][1] - low) * scale];
  const middle = parts.node_of.map(() => [0, 0, 0]);
  for (const [corners, part] of parts.elements) {
    const spots = corners.map(at);
    pen.beginPath(); spots.forEach(([x, y], i) => i ? pen.lineTo(x, y) : pen.moveTo(x, y)); pen.closePath();
    const faint = state.pick && partOn.has(state.node) && partOn.get(state.node) !== part;
    pen.globalAlpha = faint ? .15 : parts.solid ? .12 : .55; pen.fillStyle = partColour(part); pen.fill(); pen.globalAlpha = faint ? .2 : .5; pen.strokeStyle = "#fff"; pen.lineWidth = .6; pen.stroke(); pen.globalAlpha = 1;
    const sum = middle[part]; for (const [x, y] of spots) { sum[0] += x; sum[1] += y; sum[2]++; }
  }
  const spot = part => [middle[part][0] / Math.max(1, middle[part][2]), middle[part][1] / Math.max(1, middle[part][2])];
  for (const index of routesNow()) {
    const route = phased.routes[index], ends = [partOn.get(route[3][0]), partOn.get(route[3][route[3].length - 1])];
    if (ends.some(part => part === undefined)) continue;
    const [ax, ay] = spot(ends[0]), [bx, by] = spot(ends[1]), mine = state.pick && (route[3][0] === state.node || route[3][route[3].length - 1] === state.node);
    pen.strokeStyle = state.stream === index || mine ? "#000" : "rgba(0,0,0,.35)"; pen.lineWidth = state.stream === index || mine ? 2.5 : 1; pen.beginPath(); pen.moveTo(ax, ay); pen.lineTo(bx, by); pen.stroke();
  }
  parts.node_of.forEach((node, part) => {
    const [x, y] = spot(part);
    pen.fillStyle = "#fff"; pen.strokeStyle = partColour(part); pen.lineWidth = 2; pen.beginPath(); pen.arc(x, y, 11, 0, 7); pen.fill(); pen.stroke();
    pen.fillStyle = "#000"; pen.textAlign = "center"; pen.fillText(node, x, y);
    hits.push({ x, y, r: 12, what: { node, pick: 1 }, tip: `part ${part}, on node ${node}\n${parts.elements.reduce((sum, one) => sum + (one[1] === part), 0)} elements` });
  });
  pen.textAlign = "left"; pen.fillStyle = "#333";
  pen.fillText(`parts with the network nodes that they are on; lines: who exchanges in phase ${phaseName(state.phase)}`, 12, height - 14);
}

function phasedPanel() {
  const out = [], link = index => `<a data-connection="${index}">${phased.routes[index][1]}</a>`;
  if (state.stream >= 0 && phased.routes[state.stream]) {
    const route = phased.routes[state.stream];
    out.push(`<h2>${swatch(connectionColour(state.stream))}${escapeText(routeName(route))}</h2>`, `<p>${count(route[2])} words in phase ${escapeText(phaseName(route[0]))}, clocks ${count(route[5])} to ${count(route[6])}</p>`, tableOf(["node", "channel"], route[3].map((node, i) => [`<a data-node="${node}">${node}</a>`, route[4][i]])), '<p><button data-clear="1">show all connections</button></p>');
  } else {
    const ofNode = state.pick ? routesNow().filter(index => phased.routes[index][3].includes(state.node)) : state.link >= 0 ? routesNow().filter(index => routeLinks(phased.routes[index]).includes(state.link)) : routesNow();
    out.push(`<h2>${state.pick ? "Node " + state.node : state.link >= 0 ? "Link " + linkName(state.link) : "Connections"}, phase ${escapeText(phaseName(state.phase))}</h2>`);
    out.push(tableOf(["", "from", "to", "words", "clocks"], ofNode.slice(0, 200).map(index => { const route = phased.routes[index]; return [link(index), route[3][0], route[3][route[3].length - 1], route[2], `${count(route[5])}–${count(route[6])}`]; })));
    if (ofNode.length > 200) out.push(`<p class="faint">… and ${ofNode.length - 200} more</p>`);
  }
  for (const note of doc.notes) out.push(`<p class="faint">${escapeText(note)}</p>`);
  return out.join("");
}
