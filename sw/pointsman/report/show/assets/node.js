// Pages of text and tables: a node, the reasons, the program; and the panel beside the pictures.
const cell = (value, number) => `<td${number ? ' class="n"' : ""}>${value}</td>`;
function tableOf(heads, rows) {
  const numeric = heads.map((_, i) => rows.length && rows.every(row => typeof row[i] === "number" || row[i] === "" || row[i] === null));
  return `<table><tr>${heads.map((head, i) => `<th${numeric[i] ? ' class="n"' : ""}>${escapeText(head)}</th>`).join("")}</tr>`
    + rows.map(row => `<tr>${row.map((value, i) => cell(typeof value === "number" ? short(value) : value === null ? "" : value, numeric[i])).join("")}</tr>`).join("") + "</table>";
}
const swatch = colour => `<span class="swatch" style="background:${colour}"></span>`;
const bar = share => `<span class="share"><span class="bar" style="width:${Math.max(1, Math.min(140, share * 120)).toFixed(0)}px"></span> ${(100 * share).toFixed(0)}&nbsp;%</span>`;
const sumOf = values => values.reduce((a, value) => a + value, 0);

function drawNode() {
  const node = state.node, held = doc.nodes[node], out = [];
  const place = net.kind === "mesh" || net.kind === "torus" ? ` at (${placeOf(node).join(", ")})` : "";
  out.push(`<h2>Node ${node}${place}${net.dead.includes(node) ? ": does not work" : ""}</h2>`);
  if (run) {
    const spent = run.per_node[node] || [];
    out.push(tableOf(["cycles", ...run.categories], [[sumOf(spent), ...spent]]));
    const slow = run.spans.filter(span => span[0] === node).map(span => {
      const waitsFor = span[5].map((c, i) => [c, run.categories[i]]).filter(row => row[1] !== "cpu").sort((a, b) => b[0] - a[0])[0] || [0, ""];
      return { span, wait: waitsFor };
    }).sort((a, b) => b.wait[0] - a.wait[0]).slice(0, 8).filter(one => one.wait[0] > 0);
    if (slow.length) out.push("<h2>What its processor waited for longest</h2>", tableOf(["activity", "phase", "from cycle", "cycles", "of these"], slow.map(({ span, wait }) => [
      `<a data-from="${span[1]}" data-to="${span[2]}">${escapeText(run.activities[span[3]])}</a>`, escapeText(phaseName(span[4])), span[1], span[2] - span[1], `${wait[1]} ${count(wait[0])}`])));
  }
  if (held) {
    if (held.residency.length) out.push("<h2>Residency of its memories</h2>", tableOf(["phase", "block of the schedule", "VFSMs of its own", "VFSMs shared with other phases"], held.residency.map(row => [escapeText(phaseName(row[0])), row[1], row[2], row[3]])));
    const here = held.vfsms.filter(row => row[0] === state.phase);
    out.push(`<h2>Timetable in phase ${escapeText(phaseName(state.phase))}</h2>`, here.length ? timetable(here) : '<p class="faint">It has no part in this phase.</p>');
    if (here.length) out.push("<h2>VFSMs and annotations</h2>", tableOf(["pipeline", "VFSM", "move", "from", "to", "slots", "rewritten by"], here.map(([, pipeline, vfsm, kind, from, to, slots, owner]) => [
      pipeline, vfsm, kind, escapeText(from), escapeText(to), slots.join(" "), owner < 0 ? "" : escapeText(operatorName(owner))])));
    const registers = held.registers.filter(row => row[0] === state.phase);
    if (registers.length) {
      const seen = new Map();
      for (const [, register, does, stream] of registers) { const key = register + does; if (!seen.has(key)) seen.set(key, { register, does, streams: [] }); seen.get(key).streams.push(stream); }
      out.push("<h2>Interface registers</h2>", tableOf(["register", "processor", "streams"], [...seen.values()].sort((a, b) => a.register - b.register).map(one => [one.register, one.does + "s", one.streams.slice(0, 12).map(streamLink).join(", ") + (one.streams.length > 12 ? ` … ${one.streams.length - 12} more` : "")])));
    }
  }
  const through = doc.streams.map((s, i) => i).filter(i => isOn(doc.streams[i]) && (doc.streams[i].source === node || doc.streams[i].destinations.some(d => d[0] === node)));
  if (through.length) out.push("<h2>Streams that begin or end here</h2>", tableOf(["stream", "from", "to", "words a period", "measured", "late on average"], through.slice(0, 60).map(i => [
    streamLink(i), doc.streams[i].source, doc.streams[i].destinations.map(d => d[0]).slice(0, 14).join(" "), doc.streams[i].words, wordsOf[i].length || "", waits[i].n ? +waits[i].mean.toFixed(1) : ""])));
  pane.innerHTML = out.join("");
}
const placeOf = node => { let rest = node; return net.size.map(size => { const at = rest % size; rest = (rest - at) / size; return at; }); };
const streamLink = index => `<a data-stream="${index}">${swatch(colourOf(index))}${escapeText(doc.streams[index].name)}</a>`;
function timetable(rows) {
  const pipelines = net.shape.pipelines || 1 + rows.reduce((m, r) => Math.max(m, r[1]), 0), cells = new Map();
  for (const [, pipeline, vfsm, kind, from, to, slots] of rows) for (const slot of slots) cells.set(pipeline + ":" + slot, { vfsm, said: `VFSM ${vfsm}: ${kind} ${from} → ${to}` });
  let out = `<div class="slots" style="grid-template-columns: 70px repeat(${period}, minmax(22px, 1fr))"><span class="head">slot</span>`;
  for (let slot = 0; slot < period; slot++) out += `<span class="head">${slot}</span>`;
  for (let p = 0; p < pipelines; p++) {
    out += `<span class="head">pipeline ${p}</span>`;
    for (let slot = 0; slot < period; slot++) { const held = cells.get(p + ":" + slot); out += held ? `<span style="background:${COLOURS[held.vfsm % 8]}55" title="${escapeText(held.said)}">${held.vfsm}</span>` : "<span></span>"; }
  }
  return out + "</div>";
}

const FOLLOWED = "predicted for this run";
const PLANNED = '<span class="faint">Planned: before any run, with as many rounds and with such values and choices as the program leads to expect. Predicted for this run: with those that it really had. Neither counts computing.</span>';
function drawWhy() {
  const out = [], why = doc.why || {}, plannedOf = index => doc.phases[index] && doc.phases[index].predicted;
  const unlike = (one, other) => typeof one === "number" && typeof other === "number" && Math.abs(one - other) >= .5;
  const followed = !!(run && why.time) && (unlike(why.cycles, why.time.predicted_cycles) || why.time.phases.some((phase, i) => unlike(plannedOf(i), phase.predicted)));
  if (run) {
    const cpu = run.categories.indexOf("cpu"), computing = cpu < 0 ? 0 : run.per_node.reduce((a, row) => a + row[cpu], 0) / Math.max(1, run.per_node.length);
    const expected = why.time ? why.time.predicted_cycles : why.cycles;
    out.push("<h2>The run</h2>", tableOf(["cycles", "computing, mean", "without computing", followed ? FOLLOWED : "predicted without computing", "engine", "answer"], [[run.cycles, computing, run.cycles - computing, expected === undefined || expected === null ? "" : expected, escapeText(run.engine), escapeText(run.answer)]]));
  }
  if (why.cycles !== undefined) out.push(`<p>${doc.phases.length} phases of ${doc.period} slots, <b>${count(why.cycles)}</b> cycles ${followed ? "planned" : "predicted"}${why.gap ? `; the search stopped ${(100 * why.gap).toFixed(1)} % above its bound` : ""}.${followed ? " " + PLANNED : ""}</p>`);
  else if (doc.target === "numesh") out.push('<p class="faint">The decision is known only where the program was compiled: show the COP file or the application instead of the image.</p>');
  if (why.ways && why.ways.length) out.push("<h2>Candidates of the search</h2>", tableOf(["phases", "slots", "estimate", "routed", "outcome"], [...why.ways].sort((a, b) => (b.outcome === "chosen") - (a.outcome === "chosen")).slice(0, 60).map(way => [
    escapeText(way.phases.map(labels => labels.join("+")).join(" | ")), way.period, way.estimate, way.cycles === null ? "" : way.cycles, way.outcome === "chosen" ? "<b>chosen</b>" : escapeText(way.outcome)])));
  if (why.bounds && why.bounds.length) out.push("<h2>Bounds</h2>", tableOf(["bound", "kind", "what sets it"], why.bounds.map(bound => [bound.value, escapeText(bound.kind), escapeText(bound.text)])));
  if (why.time) {
    const known = value => value === null || value === undefined ? "" : value;
    const entries = why.time.phases.flatMap(phase => [[`<b>phase&nbsp;${escapeText(phase.name)}</b>`, phase], ...phase.operators.map(label => ["&emsp;" + escapeText(label), why.time.operators[label]])]);
    const told = new Set(why.time.phases.flatMap(phase => phase.operators));
    for (const [label, one] of Object.entries(why.time.operators)) if (!told.has(label)) entries.push([`${escapeText(label)} <span class="faint">in several phases</span>`, one]);
    const paced = entries.some(([, one]) => one.pace), because = one => one ? escapeText(`${one.kind}: ${one.text}`) : "";
    const row = ([name, one]) => [name, known(one.predicted), known(one.measured), known(one.under_way), one.bound ? one.bound.cycles : "", one.reached ? bar(one.reached) : "", because(one.bound), ...(paced ? [one.pace ? one.pace.cycles : "", because(one.pace)] : [])];
    out.push("<h2>Where the time went</h2>", tableOf(["", followed ? FOLLOWED : "predicted", "measured", "under way", "at least", "reached", "what bounds it", ...(paced ? ["at this pace", "what sets the pace"] : [])], entries.map(row)));
    out.push('<p class="faint">Cycles outside computing, mean over the nodes. Under way: messages are between the first call and the last. At least: what no implementation can go below.' + (paced ? " At this pace: what the words alone take at the rate that the compiler has given them.</p>" : "</p>"));
    if (why.time.waits.length) out.push("<h2>What was waited for</h2>", tableOf(["function", "calls", "words", "cycles", "why"], why.time.waits.map(one => [escapeText(one.function), one.calls, one.words, one.cycles, escapeText(one.cause)])));
  }
  doc.phases.forEach((phase, index) => {
    out.push(`<h2>${swatch(["#cfe5f4", "#fae3b4", "#c5e8dc", "#f6d3bd", "#f3dbe8"][index % 5])}Phase ${escapeText(phase.name)}</h2>`);
    if (phase.technique) out.push(`<p>Ends by <b>${escapeText(phase.technique)}</b>: ${escapeText(phase.reason)}</p>`);
    const measured = Object.entries(phase.measured).filter(m => m[1]), sum = sumOf(measured.map(m => m[1]));
    const cells = [], again = followed ? why.time.phases[index] : null;
    if (phase.predicted !== null) cells.push([followed ? "planned" : "predicted without computing", phase.predicted]);
    if (again && again.predicted !== null) cells.push([FOLLOWED, again.predicted]);
    if (sum) cells.push(["measured without computing", sum - (phase.measured.cpu || 0)], ...measured.map(([name, spent]) => [name === "cpu" ? "computing (cpu)" : name, spent]));
    if (cells.length) out.push(tableOf(cells.map(one => one[0]), [cells.map(one => one[1])]));
    if (phase.limits.length) out.push(`<p>What sets its pace: <b>${escapeText(phase.limits[0][0])}</b>.</p>`, tableOf(["resource", "share taken", ""], phase.limits.map(([what, share, said]) => [escapeText(what), bar(share), escapeText(said)])));
    const several = phase.operators.some(isInSeveral);
    const rows = phase.operators.map(i => {
      const one = doc.operators[i], spent = sumOf(Object.values(one.measured));
      const others = one.alternatives.filter(way => way[0] !== one.implementation).map(([name, cycles]) => `${escapeText(name)} ${cycles === null ? "cannot" : count(cycles)}`);
      const line = copLine(i);
      return [escapeText(one.label), escapeText(one.implementation), line ? `<a data-line="${line}">${line}</a>` : "", one.words, one.bandwidth === null ? "" : +one.bandwidth.toFixed(3), one.predicted === null ? "" : one.predicted, spent || "", others.slice(0, 6).join(", ")];
    });
    out.push(tableOf(["operator", "implementation", "COP line", "words", "words a cycle", "alone, predicted", several ? "measured, in all phases" : "measured", "instead"], rows));
  });
  if (doc.notes.length) out.push("<h2>Notes</h2><ul>" + doc.notes.map(said => `<li>${escapeText(said)}</li>`).join("") + "</ul>");
  pane.innerHTML = out.join("") || '<p class="faint">Nothing was decided here.</p>';
}

const isInSeveral = i => doc.phases.filter(phase => phase.operators.some(j => doc.operators[j].label === doc.operators[i].label)).length > 1;

function drawSource() {
  const marks = new Map();
  doc.operators.forEach((one, index) => { const line = copLine(index); if (line) marks.set(line, (marks.get(line) || new Set()).add(one.label)); });
  pane.innerHTML = doc.source.length ? "<pre>" + doc.source.map((said, i) => `<div id="line${i + 1}"${state.line === i + 1 ? ' class="here"' : ""}><span class="no">${String(i + 1).padStart(4)}  </span>${escapeText(said) || " "}${marks.has(i + 1) ? `<span class="faint">   ◂ ${escapeText([...marks.get(i + 1)].join(", "))}</span>` : ""}</div>`).join("") + "</pre>" : '<p class="faint">The text of the program is not in this page.</p>';
  const here = state.line && document.getElementById("line" + state.line);
  if (here) here.scrollIntoView({ block: "center" });
}

const endsOf = stream => stream.destinations.slice(0, 4).map(d => d[0]).join(" ") + (stream.destinations.length > 4 ? " …" : "");
function drawPanel() {
  if (optics.length) { panel.innerHTML = opticalPanel(); return; }
  if (phased) { panel.innerHTML = phasedPanel(); return; }
  if (active && ["messages", "quanta"].includes(viewNow().name)) { panel.innerHTML = activePanel(); return; }
  const out = [];
  if (state.stream >= 0 && doc.streams[state.stream]) {
    const index = state.stream, stream = doc.streams[index], way = stream.ways[state.way] || stream.ways[0];
    out.push(`<h2>${swatch(colourOf(index))}${escapeText(stream.name)}</h2>`);
    const line = copLine(stream.operator);
    if (stream.operator >= 0) out.push(`<p>${escapeText(operatorName(stream.operator))}, ${escapeText(doc.operators[stream.operator].implementation)}${line ? `, <a data-line="${line}">COP line ${line}</a>` : ""}<br><span class="faint">${escapeText(instanceOf(stream))}</span></p>`);
    if (doc.phases.length) out.push(`<p>Phase ${escapeText(phaseName(stream.phase))}; ${short(stream.words)} words a period of ${period}; node <a data-node="${stream.source}">${stream.source}</a>${stream.register >= 0 ? ` register ${stream.register}` : ""} to ${stream.destinations.slice(0, 20).map(([node, register]) => `<a data-node="${node}">${node}</a>${register >= 0 ? `<span class="faint">/${register}</span>` : ""}`).join(" ")}${stream.destinations.length > 20 ? " …" : ""}.</p>`);
    if (way) {
      const word = state.word >= 0 ? run.words[state.word] : null, gone = word && departure(stream, word[1]), base = gone ? gone.start : null;
      const when = after => base === null ? `slot ${(way[0] + after) % period}` : `cycle ${count(base + after)}`;
      const rows = way[1].map(([link, after]) => [after, `crosses ${linkName(link)}`]).concat(way[2].map(([place, after]) => {
        const read = word && word[2].find(row => row[0] === place);
        return [after, `can be read at node <a data-node="${stream.destinations[place][0]}">${stream.destinations[place][0]}</a>` + (read ? `; <b>read in cycle ${count(read[1])}</b> (predicted ${count(read[2])})` : "")];
      })).sort((a, b) => a[0] - b[0]);
      out.push(`<h2>${word ? `A word, written in cycle ${count(word[1])}` : `Word ${(stream.ways.indexOf(way)) + 1} of ${stream.ways.length} of a period`}</h2>`);
      out.push(tableOf([base === null ? "slot" : "cycle", "what happens"], [[base === null ? `slot ${way[0]}` : when(0), `leaves the register of node ${stream.source}`], ...rows.slice(0, 300).map(([after, said]) => [when(after), said])]));
    }
    if (waits[index].n) out.push(`<p>${count(waits[index].n)} deliveries measured: read ${waits[index].mean.toFixed(1)} cycles after the prediction on average, ${count(waits[index].most)} at most.</p>`);
    out.push('<p><button data-clear="1">show all streams</button></p>');
  } else if (state.view === "space" || state.view === "mesh") {
    const shown = streamsNow(), operators = [...new Set(shown.map(i => doc.streams[i].operator))];
    if (shown.length) out.push(`<h2>Streams of ${escapeText(phaseSaid())}</h2>`, tableOf(["stream", "from", "to", "words"], shown.slice(0, 200).map(i => [streamLink(i), doc.streams[i].source, endsOf(doc.streams[i]), doc.streams[i].words])));
    if (shown.length > 200) out.push(`<p class="faint">… and ${shown.length - 200} more of ${operators.length} operators</p>`);
  }
  if (state.link >= 0 && net.links[state.link]) {
    const users = streamsNow().filter(i => doc.streams[i].ways.some(way => way[1].some(([link]) => link === state.link)));
    out.push(`<h2>Link ${linkName(state.link)}</h2>`, users.length ? tableOf(["stream", "slots"], users.slice(0, 60).map(i => [streamLink(i), [...new Set(doc.streams[i].ways.flatMap(way => way[1].filter(s => s[0] === state.link).map(s => (way[0] + s[1]) % period)))].sort((a, b) => a - b).join(" ")])) : '<p class="faint">No stream of this phase.</p>');
  }
  if (run && run.words_all > run.words.length) out.push(`<p class="faint">The page keeps ${count(run.words.length)} of ${count(run.words_all)} measured words: the first of each stream in each tenth of the run. Loads count all.</p>`);
  panel.innerHTML = out.join("") || '<p class="faint">Click a node, a link or a word.</p>';
}
