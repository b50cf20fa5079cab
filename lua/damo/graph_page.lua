--- A graph as one HTML page that needs nothing beside it: it folds, searches, zooms, and shows a profile's colours. For
-- damo's own files only.
--
-- The page holds the graph in Graphviz's language as `printing.dot` writes it, one node or edge a line, and a script
-- that reads those lines. Layers are longest paths from the inputs; in a layer nodes stand in the order of the means of
-- their neighbours (Sugiyama's method, four sweeps). A node that is folded hides what only it needs.
-- The part of the address behind # is the state: `fold=n3,n5` and `find=exp`.
-- @module damo.graph_page

local graph_page = {}

local style = [[
body{margin:0;font:14px sans-serif;color:#222;display:flex;height:100vh;overflow:hidden}
#side{width:290px;padding:12px;border-right:1px solid #ccc;overflow:auto;box-sizing:border-box;flex:none}
#side h1{font-size:16px;margin:0 0 8px}
#side input{width:100%;box-sizing:border-box;padding:6px;font:inherit}
#side ol{padding-left:22px;margin:6px 0}
#side li{cursor:pointer;overflow-wrap:anywhere}
#side button{font:inherit;margin:2px 4px 2px 0}
#note{white-space:pre-wrap;background:#f4f4f4;padding:6px;overflow-wrap:anywhere}
svg{flex:1;cursor:grab;background:#fff}
.node{cursor:pointer}
.node rect{stroke:#555}
.node.folded rect{stroke-width:3;stroke-dasharray:6 3}
.node.found rect{stroke:#d55e00;stroke-width:4}
.node.chosen rect{stroke:#0072b2;stroke-width:4}
.edge{fill:none;stroke:#888}
.edge.red{stroke:#d62728;stroke-width:2}
.edge.blue{stroke:#1f5fbf;stroke-width:2}
@media (max-width:700px){body{flex-direction:column}
#side{width:auto;max-height:40vh;border-right:0;border-bottom:1px solid #ccc}svg{min-height:0}}
]]

local script = [=[
'use strict';
const NS = 'http://www.w3.org/2000/svg', MOST = 200;
const nodes = new Map();
let edges = [], folded = new Set(), found = [], chosen = null, at = -1;

function attributes(text) {
  const made = {};
  for (const m of text.matchAll(/(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^,\s]+))/g))
    made[m[1]] = m[2] === undefined ? m[3] : m[2].replace(/\\(.)/g, (_, c) => c === 'n' ? '\n' : c);
  return made;
}
for (const line of SOURCE.split('\n')) {
  let m = line.match(/^  (\w+) -> (\w+)(?: \[(.*)\])?;$/);
  if (m) { edges.push({from: m[1], to: m[2], ...attributes(m[3] || '')}); continue; }
  m = line.match(/^  (\w+) \[(.*)\];$/);
  if (m) nodes.set(m[1], {id: m[1], inputs: [], outputs: [], ...attributes(m[2])});
}
for (const e of edges) { nodes.get(e.to).inputs.push(e); nodes.get(e.from).outputs.push(e); }
const sinks = [...nodes.values()].filter(n => n.outputs.length === 0);

// What is seen: all that outputs need, without what folded nodes need.
function visible() {
  const seen = new Set(), stack = [...sinks];
  while (stack.length) {
    const n = stack.pop();
    if (seen.has(n.id)) continue;
    seen.add(n.id);
    if (!folded.has(n.id)) for (const e of n.inputs) stack.push(nodes.get(e.from));
  }
  return seen;
}

// A large graph begins with what is nearest to its outputs.
function foldFarther() {
  const seen = new Set(), queue = [...sinks];
  for (let k = 0; k < queue.length; k++) {
    const n = queue[k];
    if (seen.has(n.id)) continue;
    if (seen.size >= MOST) { if (n.inputs.length) folded.add(n.id); continue; }
    seen.add(n.id);
    for (const e of n.inputs) queue.push(nodes.get(e.from));
  }
}

function layers(seen) {
  const rank = new Map();
  const order = [], state = new Map();
  for (const s of sinks) {  // depth first without recursion: graphs are deep
    const stack = [s];
    while (stack.length) {
      const n = stack[stack.length - 1], next = state.get(n.id) || 0;
      if (next < n.inputs.length && !folded.has(n.id)) {
        state.set(n.id, next + 1);
        const k = nodes.get(n.inputs[next].from);
        if (!state.has(k.id)) { state.set(k.id, 0); stack.push(k); }
      } else { stack.pop(); if (!rank.has(n.id)) { rank.set(n.id, 0); order.push(n); } }
    }
  }
  for (const n of order)
    if (!folded.has(n.id))
      for (const e of n.inputs) rank.set(n.id, Math.max(rank.get(n.id), rank.get(e.from) + 1));
  for (const n of order)  // an input stands just above its first use
    if (!n.inputs.length || folded.has(n.id)) {
      const uses = n.outputs.filter(e => seen.has(e.to) && !folded.has(e.to)).map(e => rank.get(e.to));
      if (uses.length) rank.set(n.id, Math.min(...uses) - 1);
    }
  const rows = [];
  for (const n of order) (rows[rank.get(n.id)] ||= []).push(n);
  return rows.filter(r => r);
}

function label(n) {
  const hidden = folded.has(n.id) ? '  ⊕' : '';
  return (n.label.length > 44 ? n.label.slice(0, 43) + '…' : n.label).replace(/\n/g, ' ') + hidden;
}

function place(rows, seen) {
  for (const row of rows) {
    let x = 0;
    for (const n of row) { n.w = 26 + 7.4 * label(n).length; n.x = x; x += n.w + 28; }
  }
  const mean = (n, ends) => {
    const xs = ends.filter(id => seen.has(id)).map(id => nodes.get(id).x + nodes.get(id).w / 2);
    return xs.length ? xs.reduce((a, b) => a + b) / xs.length : n.x + n.w / 2;
  };
  for (let sweep = 0; sweep < 4; sweep++) {
    const down = sweep % 2 === 0;
    for (const row of down ? rows : [...rows].reverse()) {
      for (const n of row)
        n.want = mean(n, down && !folded.has(n.id) && n.inputs.length ? n.inputs.map(e => e.from)
                                                                      : n.outputs.map(e => e.to));
      row.sort((a, b) => a.want - b.want);
      let x = -Infinity, shift = 0;
      for (const n of row) {
        n.x = Math.max(x, n.want - n.w / 2);
        x = n.x + n.w + 28;
        shift += n.x + n.w / 2 - n.want;
      }
      for (const n of row) n.x -= shift / row.length;
    }
  }
  rows.forEach((row, k) => row.forEach(n => { n.y = 84 * k; }));
}

function make(parent, name, values, text) {
  const e = document.createElementNS(NS, name);
  for (const k in values) e.setAttribute(k, values[k]);
  if (text !== undefined) e.textContent = text;
  parent.appendChild(e);
  return e;
}

function about(n) {
  const lines = [n.label];
  if (n.tooltip) lines.push(n.tooltip);
  n.inputs.forEach((e, k) => lines.push(`input ${k + 1}: ${nodes.get(e.from).label}  ${e.tooltip || ''}`));
  return lines.join('\n');
}

const svg = document.querySelector('svg'), view = make(svg, 'g', {});
let scale = 1, dx = 0, dy = 0;
function move() { view.setAttribute('transform', `translate(${dx},${dy}) scale(${scale})`); }

function draw() {
  const seen = visible(), rows = layers(seen);
  place(rows, seen);
  view.replaceChildren();
  for (const e of edges) {
    if (!seen.has(e.from) || !seen.has(e.to) || folded.has(e.to)) continue;
    const a = nodes.get(e.from), b = nodes.get(e.to);
    const x0 = a.x + a.w / 2, y0 = a.y + 17, x1 = b.x + b.w / 2, y1 = b.y - 21, h = (y1 - y0) / 2;
    const p = make(view, 'path', {class: 'edge ' + (e.color || ''), 'marker-end': 'url(#tip)',
                                  d: `M${x0},${y0} C${x0},${y0 + h} ${x1},${y1 - h} ${x1},${y1}`});
    make(p, 'title', {}, e.tooltip || '');
  }
  for (const id of seen) {
    const n = nodes.get(id), g = make(view, 'g', {class: 'node', 'data-id': id,
                                                  transform: `translate(${n.x},${n.y - 17})`});
    if (folded.has(id)) g.classList.add('folded');
    if (found.includes(n)) g.classList.add('found');
    if (n === chosen) g.classList.add('chosen');
    make(g, 'rect', {width: n.w, height: 34, rx: n.shape === 'ellipse' ? 17 : 3, fill: n.fillcolor || '#fff'});
    make(g, 'text', {x: n.w / 2, y: 22, 'text-anchor': 'middle'}, label(n));
    make(g, 'title', {}, about(n));
    g.addEventListener('click', () => { chosen = n; toggle(n); });
  }
  document.getElementById('count').textContent = `${seen.size} of ${nodes.size} shown`;
  document.getElementById('note').textContent = chosen ? about(chosen) : 'Click a node to fold what only it needs.';
}

function toggle(n) {
  if (n.inputs.length) folded.has(n.id) ? folded.delete(n.id) : folded.add(n.id);
  remember();
  draw();
}

function remember() {
  const parts = [];
  if (folded.size) parts.push('fold=' + [...folded].join(','));
  const text = document.getElementById('find').value;
  if (text) parts.push('find=' + encodeURIComponent(text));
  history.replaceState(null, '', '#' + parts.join('&'));
}

// Unfolds a shortest way from an output to the node.
function reveal(n) {
  const back = new Map(), queue = [...sinks];
  for (const s of sinks) back.set(s.id, null);
  for (let k = 0; k < queue.length && !back.has(n.id); k++)
    for (const e of queue[k].inputs)
      if (!back.has(e.from)) { back.set(e.from, queue[k]); queue.push(nodes.get(e.from)); }
  for (let m = back.get(n.id); m; m = back.get(m.id)) folded.delete(m.id);
}

function show(n) {
  chosen = n;
  reveal(n);
  draw();
  dx = svg.clientWidth / 2 - scale * (n.x + n.w / 2);
  dy = svg.clientHeight / 2 - scale * n.y;
  move();
}

function search(text) {
  const words = text.toLowerCase();
  const text_of = n => (n.label + ' ' + (n.tooltip || '')).toLowerCase();
  found = words ? [...nodes.values()].filter(n => text_of(n).includes(words)) : [];
  at = -1;
  document.getElementById('hits').textContent = words ? `${found.length} found; Enter goes to the next` : '';
}

function fit() {
  const box = view.getBBox();
  scale = Math.min(1.2, svg.clientWidth / (box.width + 60), svg.clientHeight / (box.height + 60)) || 1;
  scale = Math.max(scale, 0.3);
  dx = svg.clientWidth / 2 - scale * (box.x + box.width / 2);
  dy = 30 - scale * box.y;
  move();
}

const find = document.getElementById('find');
find.addEventListener('input', () => { search(find.value); remember(); draw(); });
find.addEventListener('keydown', e => {
  if (e.key === 'Enter' && found.length) { at = (at + 1) % found.length; show(found[at]); }
});
document.getElementById('fit').addEventListener('click', fit);
document.getElementById('unfold').addEventListener('click', () => { folded.clear(); remember(); draw(); fit(); });
svg.addEventListener('wheel', e => {
  e.preventDefault();
  const k = Math.exp(-e.deltaY / 500), box = svg.getBoundingClientRect();
  const x = e.clientX - box.left, y = e.clientY - box.top;
  dx = x - k * (x - dx); dy = y - k * (y - dy); scale *= k;
  move();
}, {passive: false});
let drag = null;
svg.addEventListener('mousedown', e => { drag = [e.clientX - dx, e.clientY - dy]; });
window.addEventListener('mousemove', e => {
  if (drag) { dx = e.clientX - drag[0]; dy = e.clientY - drag[1]; move(); }
});
window.addEventListener('mouseup', () => { drag = null; });

const timed = [...nodes.values()].filter(n => / %$/.test(n.tooltip || ''));
timed.sort((a, b) => parseFloat(b.tooltip.split(', ')[1]) - parseFloat(a.tooltip.split(', ')[1]));
if (timed.length) document.getElementById('slowest').hidden = false;
for (const n of timed.slice(0, 12)) {
  const li = document.createElement('li');
  li.textContent = `${n.tooltip}  ${label(n)}`;
  li.addEventListener('click', () => show(n));
  document.querySelector('#slowest ol').appendChild(li);
}

const wanted = new URLSearchParams(location.hash.slice(1));
if (wanted.has('fold')) for (const id of wanted.get('fold').split(',')) { if (nodes.has(id)) folded.add(id); }
else if (nodes.size > MOST) foldFarther();
if (wanted.has('find')) { find.value = wanted.get('find'); search(find.value); chosen = found[0] || null; }
if (chosen) reveal(chosen);
draw();
fit();
]=]

local page = [[
<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>%s</title><style>
%s</style></head>
<body>
<div id="side">
<h1>%s</h1>
<input id="find" type="search" placeholder="find an Op, a name, a Type" autocomplete="off">
<p id="hits"></p>
<p><button id="fit">fit</button><button id="unfold">unfold all</button> <span id="count"></span></p>
<div id="note"></div>
<div id="slowest" hidden><h1>slowest nodes</h1><ol></ol></div>
</div>
<svg><defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">
<path d="M0,0 L8,4 L0,8 z" fill="#666"/></marker></defs></svg>
<script>
const SOURCE = %s;
%s</script>
</body>
</html>
]]

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["<"] = "\\u003c" }

--- A text as a string of JavaScript that may stand in a page.
local function js_string(text)
  return '"' .. text:gsub('[%c"\\<]', function(c) return escapes[c] or ("\\u%04x"):format(c:byte()) end) .. '"'
end

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;" }

--- The page of a graph in Graphviz's language, as `printing.dot` and `profile:dot` write it.
function graph_page.html(dot_text, title)
  local heading = (title or "graph"):gsub("[&<>]", entities)
  return page:format(heading, style, heading, js_string(dot_text), script)
end

return graph_page
