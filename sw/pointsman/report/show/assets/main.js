// Views, controls, mouse and keyboard.
const VIEWS = [
  { name: "mesh", title: "Network", draw: drawMesh, when: () => net.links.length > 0 && !phased },
  { name: "phased", title: "Phases", draw: drawPhased, when: () => !!phased },
  { name: "timetables", title: "Timetables", draw: drawTimetables, when: () => !!phased },
  { name: "parts", title: "Parts", draw: drawParts, when: () => !!(phased && parts) },
  { name: "space", title: "Space and time", draw: drawSpace, when: () => doc.streams.some(s => s.ways.length) },
  { name: "node", title: "Node", page: drawNode, when: () => doc.nodes.length > 0 || !!run },
  { name: "time", title: "Processors", draw: drawProcessors, when: () => !!run },
  { name: "messages", title: "Messages", draw: drawMessages, when: () => !!active },
  { name: "quanta", title: "Quanta", draw: drawQuanta, when: () => !!(active && active.quanta.length) },
  { name: "switch", title: "Switch", draw: drawSwitch, when: () => doc.tables.length > 0 },
  { name: "channels", title: "Channels", draw: drawChannels, when: () => optics.some(mode => mode.held.length || mode.hops.length) },
  { name: "delays", title: "Delays", draw: drawDelays, when: () => optics.some(mode => mode.quantiles.length) },
  { name: "figures", title: "Figures", page: drawFigures, when: () => optics.length > 0 },
  { name: "why", title: "Why", page: drawWhy, when: () => !optics.length },
  { name: "source", title: "Program", page: drawSource, when: () => doc.source.length > 0 },
].filter(view => view.when());
const hasTime = timed || doc.streams.length > 0;  // configurations alone have none
const viewNow = () => VIEWS.find(view => view.name === state.view) || VIEWS[0];

let waiting = false;
function refresh() { if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; draw(); }); } }
let panelKey = "", pageKey = "";
function draw() {
  const view = viewNow();
  panel.style.display = view.page ? "none" : ""; canvas.style.display = view.draw ? "" : "none"; pane.style.display = view.page ? "" : "none";
  if (view.draw) view.draw();
  else {
    const key = JSON.stringify([view.name, state.node, state.phase, state.line, state.colour, state.mode]);
    if (key !== pageKey) { pageKey = key; view.page(); pane.scrollTop = 0; if (view.page === drawSource) drawSource(); }
  }
  if (hasTime) drawStrip();
  const key = JSON.stringify([state.view, state.stream, state.way, state.word, state.link, state.phase, state.values, state.colour, state.mode, state.message, state.node, state.pick]);
  if (key !== panelKey) { panelKey = key; drawPanel(); }
  document.querySelectorAll("#views button").forEach(button => button.setAttribute("aria-selected", button.dataset.view === view.name));
}
function go(name) { if (VIEWS.some(view => view.name === name)) { state.view = name; pageKey = ""; buildControls(); refresh(); } }

function choice(label, name, options, value, change) {
  const box = document.createElement("label"), select = document.createElement("select");
  box.append(label, select); select.id = "choose-" + name;
  options.forEach(([key, said]) => { const option = document.createElement("option"); option.value = key; option.textContent = said; select.append(option); });
  select.value = value; select.addEventListener("change", () => { change(select.value); buildControls(); refresh(); });
  controls.append(box);
}
function button(label, name, title, click, pressed) {
  const made = document.createElement("button");
  made.textContent = label; made.id = "do-" + name; made.title = title; if (pressed !== undefined) made.setAttribute("aria-pressed", pressed);
  made.addEventListener("click", () => { click(); buildControls(); refresh(); }); controls.append(made);
}
function buildControls() {
  controls.textContent = "";
  controls.style.display = ["why", "source", "figures"].includes(viewNow().name) ? "none" : "";
  const view = viewNow().name;
  if (doc.phases.length && ["mesh", "space", "node"].includes(view) && doc.streams.length) choice("phase", "phase", doc.phases.map((phase, i) => [i, phase.name]), state.phase, value => { state.phase = +value; state.stream = state.word = -1; });
  if (["mesh", "space"].includes(view)) for (const index of new Set(doc.streams.filter(s => s.phase === state.phase || !doc.phases.length).map(s => s.operator))) {
    if (index < 0 || doc.operators[index].values.length < 2) continue;
    choice(operatorName(index), "value" + index, doc.operators[index].values.map((said, i) => [i, said]), state.values[index] || 0, value => { state.values[index] = +value; state.stream = state.word = -1; });
  }
  if (view === "space") {
    if (run && run.words.length && doc.period) choice("across", "axis", [["slots", "slots of the period"], ["cycles", "cycles of the run"]], state.axis, value => { state.axis = value; if (value === "cycles") narrow(); });
    choice("links in order of", "order", [["way", "streams"], ["node", "nodes"], ["load", "load"]], state.order, value => { state.order = value; });
  }
  if (["mesh", "space"].includes(view) && doc.streams.length) choice("colour by", "colour", [["stream", "stream"], ["operator", "operator"], ["source", "source"]], state.colour, value => { state.colour = value; });
  const onPhased = ["phased", "timetables", "parts"].includes(view);
  if (onPhased && doc.phases.length) choice("phase", "phase", doc.phases.map((phase, i) => [i, phase.name]), state.phase, value => { state.phase = +value; state.stream = state.link = -1; });
  if (onPhased) {
    button("all", "all", "Everything (Home)", () => { state.stream = state.link = -1; state.pick = 0; Object.assign(eye(), { zoom: 1, x: 0, y: 0 }); });
    button("+", "in", "Nearer (+)", () => zoom(1.3)); button("−", "out", "Farther (−)", () => zoom(1 / 1.3)); button("save PNG", "png", "Save this picture", savePicture);
  }
  if (view === "node") choice("node", "node", Array.from({ length: net.nodes }, (_, i) => [i, i]), state.node, value => { state.node = +value; });
  if (view === "switch") choice("connections", "table", doc.tables.map((table, i) => [i, table.name]), state.table, value => { state.table = +value; });
  if (optics.length && ["mesh", "channels", "delays"].includes(view)) choice("mode", "mode", optics.map((mode, i) => [i, mode.name]), state.mode, value => { state.mode = +value; state.message = -1; });
  if (view === "channels") {
    if (optics[state.mode].hops.length) choice("rows", "rows", [["links", optics[state.mode].held.length ? "links and connections" : "connections"], ["routers", "routers of nodes"]], state.rows, value => { state.rows = value; });
    choice("in order of", "sort", [["load", "load"], ["node", "nodes"]], state.sort, value => { state.sort = value; });
    choice("colour by", "shade", [["state", "locked or established"], ["message", "message"], ["source", "source"]], state.shade, value => { state.shade = value; });
  }
  if (view === "messages") choice("rows", "counter", [["handled", "messages handled"], ["sent", "messages sent"], ...active.counters.map(one => [one.name, one.name])], state.counter, value => { state.counter = value; });
  if (["mesh", "space", "time", "switch", "channels", "delays", "messages", "quanta"].includes(view)) {
    if (hasTime && view !== "delays") button(state.playing ? "❚❚ pause" : "▶ play", "play", "Play (space)", () => play(!state.playing), state.playing);
    if (hasTime && view !== "delays") choice(unit + "s a second", "speed", [[2, "2"], [8, "8"], [32, "32"], [256, "256"], [2048, "2,048"], [16384, "16,384"]], state.speed, value => { state.speed = +value; });
    if (view !== "delays") { button("all", "all", "Whole time (Home)", () => { wholeTime(); state.playing = false; Object.assign(eye(), { zoom: 1, x: 0, y: 0 }); });
    button("+", "in", "Nearer (+)", () => zoom(1.3)); button("−", "out", "Farther (−)", () => zoom(1 / 1.3)); }
    button("save PNG", "png", "Save this picture", savePicture);
  }
}
function narrow() { if (run && doc.period && state.to - state.from > 12 * period) { const first = run.words.length ? Math.max(0, run.words[0][1] - 2) : 0; if (state.from < first) state.from = first; state.to = Math.min(cycles, state.from + Math.max(24, 6 * period)); } }
const inTime = () => ["time", "channels", "messages", "quanta"].includes(state.view) || (state.view === "space" && state.axis === "cycles");  // the picture shows the chosen slice
function zoom(by) {
  if (inTime()) {
    const middle = (state.from + state.to) / 2, half = Math.max(2, (state.to - state.from) / 2 / by);
    state.from = Math.max(0, middle - half); state.to = Math.min(stripEnd(), middle + half);
  } else { const look = eye(); look.zoom = Math.max(.3, Math.min(30, look.zoom * by)); }
}
function savePicture() { const link = document.createElement("a"); link.download = `${doc.target}-${state.view}.png`; link.href = canvas.toDataURL("image/png"); link.click(); }

let lastFrame = 0;
function play(on) {
  state.playing = on;
  if (!on) return;
  const whole = state.to - state.from >= stripEnd() - 1e-9;
  if (whole) { state.from = 0; state.to = timed ? Math.max(1, cycles / 40) : 1; if (timed && state.speed <= 32) state.to = Math.min(cycles, 8 * period); }
  state.now = timed ? state.to : state.from; lastFrame = 0;
  requestAnimationFrame(step);
}
function step(time) {
  if (!state.playing) return;
  const passed = lastFrame ? Math.min(.1, (time - lastFrame) / 1000) * state.speed : 0, wide = state.to - state.from;
  lastFrame = time; state.now += passed;
  if (state.now >= stripEnd()) state.now = timed ? wide : 0;
  if (timed) { state.to = state.now; state.from = Math.max(0, state.now - wide); }
  else { state.from = Math.floor(state.now); state.to = state.from + 1; }
  draw(); requestAnimationFrame(step);
}

// Mouse.
function under(event) {
  const { offsetX: x, offsetY: y } = event;
  let best = null, near = Infinity;
  for (const hit of hits) {
    if (hit.w !== undefined) { if (x >= hit.x && x <= hit.x + hit.w && y >= hit.y && y <= hit.y + hit.h) { best = hit; near = 0; } continue; }
    const far = Math.hypot(hit.x - x, hit.y - y);
    if (far <= hit.r && far < near) { best = hit; near = far; }
  }
  return best;
}
let pulling = null;
canvas.addEventListener("pointermove", event => {
  if (pulling && event.buttons) {
    const look = eye(), dx = event.clientX - pulling.x, dy = event.clientY - pulling.y;
    if (Math.abs(dx) + Math.abs(dy) > 3) pulling.moved = true;
    if (inTime()) {
      const by = -dx * (state.to - state.from) / Math.max(1, canvas.clientWidth - GUTTER), move = Math.max(-state.from, Math.min(stripEnd() - state.to, by));
      state.from += move; state.to += move;
    } else look.x += dx;
    look.y += dy; pulling.x = event.clientX; pulling.y = event.clientY; refresh();
    return;
  }
  const hit = under(event);
  tip.style.display = hit ? "block" : "none";
  if (hit) {
    tip.textContent = hit.say ? hit.say() : hit.tip;
    tip.style.left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8) + "px";
    tip.style.top = Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8) + "px";
  }
});
canvas.addEventListener("pointerdown", event => { canvas.focus(); pulling = { x: event.clientX, y: event.clientY, moved: false }; });
canvas.addEventListener("pointerup", event => {
  const moved = pulling && pulling.moved; pulling = null;
  if (moved) return;
  const hit = under(event);
  if (!hit) { state.stream = state.word = state.link = state.message = -1; state.pick = 0; }
  else pick(hit.what);
  buildControls(); refresh();
});
canvas.addEventListener("dblclick", event => { const hit = under(event); if (hit && hit.what.node !== undefined && doc.nodes.length) { state.node = hit.what.node; go("node"); } });
canvas.addEventListener("pointerleave", () => { tip.style.display = "none"; });
canvas.addEventListener("wheel", event => { event.preventDefault(); if (event.shiftKey) { eye().y -= event.deltaY; } else zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15); refresh(); }, { passive: false });
function pick(what) {
  if (what.message !== undefined) state.message = what.message;
  if (phased) { state.stream = what.connection === undefined ? -1 : what.connection; state.pick = 0; }
  if (what.node !== undefined) { state.node = what.node; state.pick = what.pick || 0; }
  if (what.stream !== undefined) { state.stream = what.stream; state.way = what.way; state.word = what.word; if (doc.streams[what.stream].phase >= 0) state.phase = doc.streams[what.stream].phase; }
  else if (what.link !== undefined) state.link = what.link === state.link ? -1 : what.link;
}
for (const place of [panel, pane]) place.addEventListener("click", event => {
  const link = event.target.closest("[data-node], [data-stream], [data-line], [data-clear], [data-from], [data-connection]");
  if (!link) return;
  if (link.dataset.connection) pick({ connection: +link.dataset.connection });
  else if (link.dataset.clear) state.stream = state.word = -1;
  else if (link.dataset.node && phased) pick({ node: +link.dataset.node, pick: 1 });
  else if (link.dataset.node) { state.node = +link.dataset.node; if (doc.nodes.length) go("node"); }
  else if (link.dataset.line) { state.line = +link.dataset.line; go("source"); }
  else if (link.dataset.from) { state.from = +link.dataset.from; state.to = Math.max(state.from + 2, +link.dataset.to); go("time"); }
  else { pick({ stream: +link.dataset.stream, way: 0, word: -1 }); if (state.view !== "mesh") go("space"); }
  buildControls(); refresh();
});

// Keyboard.
const KEYS = [["1 … 9", "the views in turn"], ["space", "play or pause"], ["← →", "slice of time earlier or later"], ["+ −", "nearer, farther"], ["[ ]", "phase before, after"], ["n p", "next node, node before"], ["w", "next word of the chosen stream"], ["Home", "whole time"], ["Esc", "let go of stream, word and link"], ["mouse", "hover: what it is; click: follow it; drag: move; wheel: zoom; drag on the strip: choose a slice of time"]];
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "SELECT"].includes(event.target.tagName)) return;
  const dialog = document.getElementById("keys"), phases = Math.max(1, doc.phases.length);
  const shift = way => { const wide = state.to - state.from, by = Math.max(-state.from, Math.min(stripEnd() - state.to, way * Math.max(1, wide / 4))); state.from += by; state.to += by; };
  const turn = (name, step, many) => { state[name] = ((state[name] + step) % many + many) % many; };
  const keys = {
    " ": () => play(hasTime && !state.playing), ArrowLeft: () => shift(-1), ArrowRight: () => shift(1), "+": () => zoom(1.3), "=": () => zoom(1.3), "-": () => zoom(1 / 1.3),
    "[": () => { turn("phase", -1, phases); state.stream = state.word = -1; }, "]": () => { turn("phase", 1, phases); state.stream = state.word = -1; },
    n: () => turn("node", 1, net.nodes), p: () => turn("node", -1, net.nodes), Home: () => { wholeTime(); Object.assign(eye(), { zoom: 1, x: 0, y: 0 }); },
    w: () => { if (state.stream >= 0 && wordsOf[state.stream].length) { const all = wordsOf[state.stream]; state.word = all[(all.indexOf(state.word) + 1) % all.length]; const gone = departure(doc.streams[state.stream], run.words[state.word][1]); if (gone) state.way = doc.streams[state.stream].ways.indexOf(gone.way); } },
    Escape: () => { state.stream = state.word = state.link = state.message = -1; state.pick = 0; state.playing = false; }, "?": () => { if (dialog.open) dialog.close(); else dialog.showModal(); },
  };
  const number = +event.key;
  if (number >= 1 && number <= VIEWS.length) go(VIEWS[number - 1].name);
  else if (keys[event.key]) keys[event.key](); else return;
  event.preventDefault(); buildControls(); refresh();
});

document.getElementById("title").textContent = doc.title;
const verdict = document.getElementById("verdict");
if (run) { verdict.textContent = `${count(run.cycles)} cycles on ${run.engine}: ${run.answer}`; if (!run.correct) verdict.className = "wrong"; }
else if (optics.length) verdict.textContent = optics.map(mode => `${mode.name} ${count(mode.slots)} slots`).join(", ");
else verdict.textContent = doc.target === "numesh" ? "timetable, not run" : "";
VIEWS.forEach((view, i) => {
  const tab = document.createElement("button");
  tab.textContent = view.title; tab.dataset.view = view.name; tab.setAttribute("role", "tab"); tab.title = `Key ${i + 1}`;
  tab.addEventListener("click", () => go(view.name)); document.getElementById("views").append(tab);
});
document.getElementById("keys").innerHTML = "<h2>Keys and mouse</h2><table>" + KEYS.map(([key, does]) => `<tr><td><kbd>${key}</kbd></td><td>${does}</td></tr>`).join("") + "</table><form method=\"dialog\"><button>close</button></form>";
document.getElementById("help").addEventListener("click", () => document.getElementById("keys").showModal());
window.addEventListener("resize", refresh);
if (location.hash.length > 1) for (const part of location.hash.slice(1).split("&")) { const [name, value] = part.split("="); if (name in state) state[name] = isNaN(+value) ? value : +value; }
if (!optics[state.mode]) state.mode = 0;
if (!VIEWS.some(view => view.name === state.view)) state.view = (VIEWS.find(view => view.name === "switch") || VIEWS[0]).name;
if (!hasTime) strip.parentElement.style.display = "none";
window.pointsman = { doc, state, go, refresh, hits: () => hits };
buildControls(); draw();
