// The player of viz pictures: one ES module without dependencies.
// mount(box, svgText, trace) shows the picture in a shadow root, so that two players never share an id.

const CSS = `
:host{display:block;--pen:#1f2328;--soft:#57606a;--rule:#d0d7de;--face:#f6f8fa;--lit:#d9620a;
  font:13px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}
:host(.dark){--pen:#e6edf3;--soft:#9aa4af;--rule:#3d444d;--face:#22272e;--lit:#ff9d4d}
.bar{display:flex;flex-wrap:wrap;gap:6px;align-items:center;margin:6px 0;color:var(--pen)}
button{font:inherit;min-width:34px;padding:3px 9px;border:1px solid var(--rule);border-radius:6px;
  background:var(--face);color:var(--pen);cursor:pointer}
button:hover,button[aria-pressed=true]{border-color:var(--lit)}
button:focus-visible,input:focus-visible,.view:focus-visible{outline:2px solid var(--lit);outline-offset:1px}
input{flex:1 1 120px;max-width:340px;accent-color:var(--lit)}
.count{min-width:76px;font-variant-numeric:tabular-nums;color:var(--soft)}
.more{color:var(--soft)}.more[hidden]{display:none}
.say{min-height:2.7em;margin:4px 0;max-width:76ch;line-height:1.35;color:var(--pen)}
@media(min-width:701px){.say.narrow{display:none}}
.view{overflow:auto}.view.full svg{max-width:none!important}
[data-card]{cursor:default}.guess [data-card]{cursor:pointer}
.view.playing .live{display:inline}.guess .queue{filter:blur(5px)}`;

// The scale below which letters can no longer be read.
const SMALLEST = 0.58;

const BAR = `<button data-go="first" title="back to the start (Home)">|◀</button><button data-go="back" title="back (←)">◀</button>
<button data-go="next" title="next step (→)">▶</button><button data-go="play" title="play or pause (space)">play</button>
<input type="range" min="0" value="0" aria-label="step"><span class="count"></span>`;

function element(name, attributes, html) {
  const made = document.createElement(name);
  Object.assign(made, attributes);
  if (html) made.innerHTML = html;
  return made;
}

// The page's theme, where the page says: JupyterLab, VS Code, Sphinx themes; else the system's.
function pageIsDark() {
  const body = document.body, root = document.documentElement;
  if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "false";
  if (body.classList.contains("vscode-dark")) return true;
  if (body.classList.contains("vscode-light")) return false;
  const said = root.dataset.theme || body.dataset.theme || root.dataset.bsTheme;
  if (said === "dark" || said === "light") return said === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

function followTheme(host, svg) {
  const apply = () => {
    const dark = pageIsDark();
    host.classList.toggle("dark", dark);
    svg.classList.toggle("dark", dark);
    svg.classList.toggle("light", !dark);
  };
  const watcher = new MutationObserver(apply);
  const filter = { attributes: true, attributeFilter: ["class", "data-theme", "data-bs-theme", "data-jp-theme-light"] };
  watcher.observe(document.body, filter);
  watcher.observe(document.documentElement, filter);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", apply);
  apply();
}

// The elements of one picture by trace id, and their original text and class.
class Stage {
  constructor(svg) {
    this.byId = new Map();
    for (const part of svg.querySelectorAll("[data-id]")) {
      const same = this.byId.get(part.dataset.id) || [];
      same.push({ part, text: part.textContent, class: part.getAttribute("class") || "" });
      this.byId.set(part.dataset.id, same);
    }
    this.changed = new Map();
  }

  // Show the sum of all changes up to and including step ``last``; -1 shows the picture as drawn.
  // ``waiting``: ids whose change in the last step is still to come.
  show(steps, last, waiting = new Set()) {
    for (const id of this.changed.keys()) this.restore(id);
    this.changed.clear();
    for (const step of steps.slice(0, last + 1)) {
      for (const [id, change] of Object.entries(step.set)) {
        if (step === steps[last] && waiting.has(id)) continue;
        this.changed.set(id, { ...this.changed.get(id), ...change });
      }
    }
    for (const [id, change] of this.changed) this.apply(id, change);
    const now = last >= 0 ? steps[last].ids : [];
    for (const id of now) {
      this.mark(id, "now", true);
      if (!this.changed.has(id)) this.changed.set(id, {});
    }
  }

  restore(id) {
    for (const kept of this.byId.get(id) || []) {
      kept.part.setAttribute("class", kept.class);
      if (kept.part.tagName === "text") kept.part.textContent = kept.text;
    }
  }

  apply(id, change) {
    for (const kept of this.byId.get(id) || []) {
      if (change.state) kept.part.classList.add(change.state);
      if (change.text !== undefined && kept.part.tagName === "text") kept.part.textContent = change.text;
    }
  }

  mark(id, name, on) {
    for (const kept of this.byId.get(id) || []) kept.part.classList.toggle(name, on);
  }
}

// A line between the two elements of a lit pair, such as a grid cell and its storage slot.
class Tie {
  constructor(svg) {
    this.svg = svg;
    this.line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    this.line.setAttribute("class", "tie");
    svg.append(this.line);
  }

  draw(pair) {
    this.line.setAttribute("d", pair ? this.path(...pair) : "");
  }

  // From the lower edge of one box to the upper edge of the other, in the picture's own units.
  path(above, below) {
    const inverse = this.svg.getScreenCTM().inverse();
    const point = (box, y) => new DOMPoint(box.x + box.width / 2, y).matrixTransform(inverse);
    const [first, second] = [above, below].map((part) => part.querySelector(".box").getBoundingClientRect());
    const [a, b] = [point(first, first.bottom), point(second, second.top)];
    return `M${a.x},${a.y}C${a.x},${(a.y + b.y) / 2} ${b.x},${(a.y + b.y) / 2} ${b.x},${b.y}`;
  }
}

// What lights up with a node under the pointer: its links, or else its edges and their other ends.
function neighbours(trace) {
  const near = new Map(trace.nodes.map((node) => [node.id, [node.id, ...(node.links || [])]]));
  for (const edge of trace.edges) {
    for (const [end, other] of [[edge.from, edge.to], [edge.to, edge.from]]) {
      if (near.has(end)) near.get(end).push(edge.id, other);
    }
  }
  return near;
}

class Player {
  constructor(host, svgText, trace, wholePage) {
    this.trace = trace;
    this.wholePage = wholePage;
    this.steps = this.stepList();
    this.at = -1;
    this.root = host.shadowRoot || host.attachShadow({ mode: "open" });
    this.root.replaceChildren(element("style", { textContent: CSS }));
    this.view = element("div", { className: "view", tabIndex: 0 }, svgText);
    this.bar = element("div", { className: "bar" }, this.steps.length ? BAR : "");
    this.say = element("div", { className: "say" });
    this.say.setAttribute("aria-live", "polite");
    this.layout();
    const svg = this.view.querySelector("svg");
    this.stage = new Stage(svg);
    this.tie = trace.options.tie ? new Tie(svg) : null;
    followTheme(host, svg);
    this.addZoom(svg);
    this.addHover(svg);
    if (this.steps.length) this.addSteps();
    if (trace.options.predict) this.addPredict(svg);
    this.rest = this.hint();
    this.say.textContent = this.rest;
    if (!this.steps.length && !trace.nodes.some((node) => node.tip)) this.sayOnNarrowPages();
  }

  // A picture that never speaks gives its sentences where the page is too narrow to read them in the picture.
  sayOnNarrowPages() {
    this.say.classList.add("narrow");
    const fix = this.trace.options.fix || [];
    this.rest = [...this.trace.notes, ...(fix.length ? ["Fix:", ...fix] : [])].join(" ");
    this.say.textContent = this.rest;
  }

  hint() {
    const said = this.trace.options.hint || "";
    return this.wholePage || !/arrow keys/i.test(said) ? said : `${said} (For the keys, click the picture first.)`;
  }

  stepList() {
    return this.trace.steps;
  }

  layout() {
    this.root.append(this.bar, this.say, this.view);
  }

  addSteps() {
    this.slider = this.bar.querySelector("input");
    this.slider.max = this.steps.length;
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value) - 1));
    for (const button of this.bar.querySelectorAll("[data-go]")) {
      button.addEventListener("click", () => this.act(button.dataset.go));
    }
    // On a page of its own, all keys are for the picture; elsewhere it has to be clicked first.
    const listener = this.wholePage ? document : this.root;
    listener.addEventListener("keydown", (event) => this.key(event));
    this.go(-1);
  }

  key(event) {
    const word = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", " ": "play" }[event.key];
    const isArrow = event.key.startsWith("Arrow");
    const onControl = event.composedPath()[0].matches?.("button,input,summary");
    if (!word || event.ctrlKey || event.altKey || event.metaKey || (onControl && !isArrow)) return;
    event.preventDefault();
    event.stopPropagation();
    this.act(word);
  }

  drawTie(ids) {
    if (!this.tie) return;
    const all = ids.flatMap((id) => (this.stage.byId.get(id) || []).map((kept) => kept.part));
    const parts = all.filter((part) => !part.querySelector(".untied"));
    parts.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
    const pair = parts.length === 2 && parts.every((part) => part.querySelector(".box"));
    this.tie.draw(pair ? parts : null);
  }

  act(word) {
    if (word === "play") return this.timer ? this.stop() : this.start();
    this.stop();
    const last = this.steps.length - 1;
    this.go({ first: -1, back: this.at - 1, next: this.at + 1, last }[word]);
  }

  start() {
    if (this.at >= this.steps.length - 1) this.go(-1);
    this.timer = setInterval(() => this.at < this.steps.length - 1 ? this.go(this.at + 1) : this.stop(), this.pace());
    this.bar.querySelector("[data-go=play]").textContent = "pause";
  }

  pace() {
    return 1100;
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.bar.querySelector("[data-go=play]").textContent = "play";
  }

  go(step) {
    const count = this.steps.length;
    this.at = Math.max(-1, Math.min(count - 1, step));
    this.stage.show(this.steps, this.at);
    this.view.classList.toggle("playing", this.at >= 0);
    this.drawTie(this.at >= 0 ? this.steps[this.at].ids : []);
    this.slider.value = this.at + 1;
    this.bar.querySelector(".count").textContent = `step ${this.at + 1}/${count}`;
    this.rest = this.at >= 0 ? this.steps[this.at].msg : this.hint();
    this.say.textContent = this.rest;
  }

  // A wide picture shrinks to the cell, but stays legible; this button shows it in its own size.
  addZoom(svg) {
    svg.style.minWidth = `${SMALLEST * svg.viewBox.baseVal.width}px`;
    const button = element("button", { textContent: "1:1", title: "own size, or fit to the width" });
    const more = element("span", { className: "more", textContent: "scroll sideways for more ⇄", hidden: true });
    const look = () => { more.hidden = this.view.scrollWidth <= this.view.clientWidth; };
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(this.view.classList.toggle("full")));
      look();
    });
    new ResizeObserver(look).observe(this.view);
    this.bar.append(button, more);
  }

  addHover(svg) {
    const near = neighbours(this.trace);
    const tips = new Map(this.trace.nodes.map((node) => [node.id, node.tip]));
    let lit = [];
    const clear = () => { lit.forEach((id) => this.stage.mark(id, "hot", false)); lit = []; };
    svg.addEventListener("pointerover", (event) => {
      clear();
      const card = event.target.closest("[data-card]");
      lit = card ? near.get(card.dataset.id) || [] : [];
      lit.forEach((id) => this.stage.mark(id, "hot", true));
      if (lit.length) this.drawTie(lit);
      this.say.textContent = (card && tips.get(card.dataset.id)) || this.rest;
    });
    svg.addEventListener("pointerleave", () => { clear(); this.say.textContent = this.rest; });
  }

  // Predict mode: the reader clicks the node that the next step is about.
  addPredict(svg) {
    const button = element("button", { textContent: "predict", title: "guess which node runs next" });
    let streak = 0;
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      const on = this.view.classList.toggle("guess");
      button.setAttribute("aria-pressed", String(on));
      if (on && this.at < 0) this.go(0);
      if (on) this.tell("Which node runs next? Click it.");
    });
    svg.addEventListener("click", (event) => {
      const card = event.target.closest("[data-card]");
      const next = this.steps[this.at + 1];
      if (!card || !next || !next.ids.length || !this.view.classList.contains("guess")) return;
      const right = next.ids[0] === card.dataset.id;
      streak = right ? streak + 1 : 0;
      button.textContent = streak ? `predict · streak ${streak}` : "predict";
      if (right) this.go(this.at + 1);
      this.tell(right ? `Right, ${streak} in a row. ${next.msg}` : this.wrong(card.dataset.id));
    });
    this.bar.append(button);
  }

  wrong() {
    return "Not that one: try another.";
  }

  tell(sentence) {
    this.rest = sentence;
    this.say.textContent = sentence;
  }
}

// Players by the name in trace.options.player; a picture that needs more than ``Player`` brings its own file.
const players = {};

// wholePage: the page holds this picture and nothing else, so keys anywhere are meant for it.
export function mount(host, svgText, trace, wholePage = false) {
  return new (players[trace.options.player] || Player)(host, svgText, trace, wholePage);
}

function svgOf(box) {
  const image = box.querySelector("img");
  if (!image) return box.querySelector("svg").outerHTML;
  const bytes = Uint8Array.from(atob(image.src.split(",")[1]), (letter) => letter.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}

// Turn every picture on the page with this key, that is not a player yet, into one.
export function mountAll(key, wholePage = false) {
  for (const box of document.querySelectorAll(`.viz-picture[data-viz="${key}"]`)) {
    if (box.shadowRoot) continue;
    const data = box.parentElement.querySelector(".viz-trace");
    if (!data) continue;
    const svg = svgOf(box);
    box.replaceChildren();
    mount(box, svg, JSON.parse(data.textContent), wholePage);
  }
}

// The entry point that anywidget expects: the model holds "svg" and "trace" (JSON text).
export default {
  render({ model, el }) {
    mount(el, model.get("svg"), JSON.parse(model.get("trace")));
  },
};
