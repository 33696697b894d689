// The player of a recorded backward: gradients slide along the edges, a ready queue stands beside the graph,
// and a second backward() can follow, with the saved tensors gone or retained.

const RUN_CSS = `
.stage{display:flex;flex-wrap:wrap;gap:12px;align-items:flex-start}.stage .view{flex:1 1 420px;min-width:0}
.side{flex:0 1 196px;color:var(--pen);border:1px solid var(--rule);border-radius:8px;padding:8px 10px}
.side h4{margin:0 0 6px;font:600 12px system-ui,sans-serif;color:var(--soft)}
.stack{display:flex;flex-direction:column;gap:5px;min-height:64px;position:relative}
.queued{border:1px solid var(--lit);border-radius:6px;background:var(--face);padding:4px 8px;
  font:12px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
.queued small{display:block;color:var(--soft);font-size:10.5px}.queued:first-child{border-width:2px}
.queued.new{animation:drop .35s ease-out}.nothing{color:var(--soft);font-style:italic}
.running{margin-top:10px;border-top:1px solid var(--rule);padding-top:8px}
.stage.blind .stack,.guess [data-card] .wait{filter:blur(5px)}
.guess .ready>.box{stroke:var(--op-line);stroke-width:1.2;stroke-dasharray:none}
.switch{display:inline-flex;gap:5px;align-items:center;cursor:pointer}.switch input{flex:none}
.failed .freed{animation:shake .5s}
@keyframes drop{from{transform:translateY(-12px);opacity:0}}
@keyframes shake{20%,60%{transform:translateX(-5px)}40%,80%{transform:translateX(5px)}}
@media(max-width:700px){.side{order:-1;flex:1 1 100%}.stack{flex-direction:row;flex-wrap:wrap;min-height:38px}
  .running{margin-top:6px;padding-top:5px}}
@media(prefers-reduced-motion:reduce){.queued.new,.failed .freed{animation:none}}`;

const FLIGHT = 650;

function heatClass(heat) {
  const size = Math.abs(heat);
  const level = size > 0.66 ? 3 : size > 0.33 ? 2 : size > 0 ? 1 : 0;
  return level ? (heat > 0 ? "p" : "m") + level : "";
}

// {id: {text, values}} with the values spread over the cells of the strip.
function spread(changes) {
  const all = {};
  for (const [id, change] of Object.entries(changes || {})) {
    const { values, ...plain } = change;
    all[id] = plain;
    if (!values) continue;
    for (let k = 0; k < 3; k++) {
      const [text, heat] = values.cells[k] || ["", 0];
      all[`${id}.${k}`] = { text, state: heatClass(heat) };
    }
    all[`${id}.more`] = { text: values.more ? `+${values.more}` : "" };
  }
  return all;
}

class RunPlayer extends Player {
  stepList() {
    const again = this.trace.options.again || {};
    const more = again[this.retain ? "kept" : "freed"] || [];
    this.again = this.trace.steps.length;
    return [...this.trace.steps, ...more].map((step) => this.played(step));
  }

  // A step as the stage wants it. ``land`` is what changes once the gradients have arrived.
  played(step) {
    const land = spread(step.land);
    const emptied = this.retain ? [] : (step.frees || []).map((id) => [id, { state: "freed" }]);
    const set = { ...spread(step.set), ...land, ...Object.fromEntries(emptied) };
    const msg = (this.retain && step.kept) || step.msg;
    return { ids: step.ids, msg, set, landing: new Set(Object.keys(land)), fly: step.fly || [], queue: step.queue || [] };
  }

  layout() {
    this.root.append(element("style", { textContent: RUN_CSS }));
    this.cards = new Map(this.trace.nodes.map((node) => [node.id, node]));
    this.side = element("div", { className: "side" }, `<h4>ready queue: the top card runs next</h4>
<div class="stack"></div><div class="running"></div>`);
    this.box = element("div", { className: "stage" });
    this.box.append(this.view, this.side);
    this.root.append(this.bar, this.say, this.box);
  }

  addSteps() {
    super.addSteps();
    if (!this.trace.options.again) return;
    const label = element("label", { className: "switch" }, '<input type="checkbox">retain_graph=True');
    label.querySelector("input").addEventListener("change", (event) => this.setRetain(event.target.checked));
    const button = element("button", { textContent: "backward again" });
    button.addEventListener("click", () => { this.stop(); this.go(this.again); });
    this.bar.append(label, button);
  }

  setRetain(on) {
    this.retain = on;
    this.steps = this.stepList();
    this.slider.max = this.steps.length;
    this.go(Math.min(this.at, this.again - 1));
  }

  pace() {
    return 1900;
  }

  go(step) {
    const forward = step === this.at + 1;
    cancelAnimationFrame(this.frame);
    if (this.air) this.air.remove();
    super.go(step);
    const now = this.steps[this.at];
    this.drawQueue(now);
    if (now) this.follow(now);
    if (forward && now && now.fly.length && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.fly(now);
  }

  drawQueue(step) {
    const before = new Set(this.shown || []);
    const queue = step ? step.queue : [];
    const stack = this.side.querySelector(".stack");
    stack.replaceChildren(...queue.map((id) => this.queued(id, !before.has(id))));
    if (!queue.length) stack.append(element("div", { className: "nothing", textContent: "empty" }));
    this.shown = queue;
    const running = step && this.cards.get(step.ids[0]);
    this.side.querySelector(".running").textContent =
      running && running.kind !== "root" && this.at > 0 ? `${this.failed(running) ? "failed" : "running"}: ${this.full(running)}` : "";
  }

  failed(node) {
    return (this.stage.changed.get(node.id) || {}).state === "failed";
  }

  full(node) {
    return node.kind === "op" ? `${node.label} #${node.created}` : node.label;
  }

  // On a narrow page the graph is wider than the view: keep the running card in sight.
  follow(step) {
    const card = (this.stage.byId.get(step.ids[0]) || [])[0];
    if (!card || this.view.scrollWidth <= this.view.clientWidth) return;
    const [box, frame] = [card.part.getBoundingClientRect(), this.view.getBoundingClientRect()];
    this.view.scrollLeft += box.left + box.width / 2 - frame.left - frame.width / 2;
  }

  queued(id, fresh) {
    const node = this.cards.get(id);
    const why = { leaf: "leaf: always first", op: `created as #${node.created}` }[node.kind] || "folded";
    const card = element("div", { className: fresh ? "queued new" : "queued", textContent: this.title(node) });
    card.append(element("small", { textContent: why }));
    return card;
  }

  title(node) {
    return node.label;
  }

  // Slide the strips of one step along their edges; buffers and badges change when they arrive.
  fly(step) {
    this.stage.show(this.steps, this.at, step.landing);
    const svg = this.view.querySelector("svg");
    this.air = svgElement("g", { class: "flying" });
    svg.append(this.air);
    const strips = step.fly.map(([edge, values]) => this.strip(edge, values)).filter(Boolean);
    const begun = performance.now();
    const move = (time) => {
      const share = Math.min(1, (time - begun) / FLIGHT);
      const eased = share < 0.5 ? 2 * share * share : 1 - 2 * (1 - share) * (1 - share);
      for (const { path, length, mark, width, toSvg } of strips) {
        const point = path.getPointAtLength(length * eased).matrixTransform(toSvg);
        mark.setAttribute("transform", `translate(${point.x - width / 2} ${point.y - 9})`);
      }
      if (share < 1) this.frame = requestAnimationFrame(move);
      else { this.air.remove(); this.stage.show(this.steps, this.at); }
    };
    this.frame = requestAnimationFrame(move);
  }

  strip(edge, values) {
    const kept = (this.stage.byId.get(edge) || [])[0];
    const path = kept && kept.part.querySelector("path");
    if (!path) return null;
    const cells = values.cells.length ? values.cells : [["?", 0]];
    const texts = values.more ? [...cells, [`+${values.more}`, 0]] : cells;
    const mark = svgElement("g", {});
    const widths = texts.map(([text]) => Math.max(22, text.length * 6.2 + 8));
    const width = widths.reduce((a, b) => a + b, 4);
    mark.append(svgElement("rect", { width, height: 18, rx: 4 }));
    let x = 2;
    texts.forEach(([text, heat], k) => {
      const cell = svgElement("g", { class: heatClass(heat) });
      cell.append(svgElement("rect", { x, y: 2, width: widths[k], height: 14, rx: 2, class: "cell" }));
      const words = svgElement("text", { x: x + widths[k] / 2, y: 13, class: "small mid" });
      words.textContent = text;
      cell.append(words);
      mark.append(cell);
      x += widths[k];
    });
    this.air.append(mark);
    const toSvg = this.view.querySelector("svg").getCTM().inverse().multiply(path.getCTM());
    return { path, length: path.getTotalLength(), mark, width, toSvg };
  }

  wrong(id) {
    const node = this.cards.get(id);
    const ready = (this.steps[this.at] || { queue: [] }).queue.includes(id);
    if (ready) return `${this.full(node)} is ready, but another card stands above it in the queue.`;
    const done = this.stage.byId.get(id).some((kept) => kept.part.classList.contains("done"));
    return done ? `${this.full(node)} has already run.` : `${this.full(node)} still waits for gradients: try another.`;
  }

  tell(sentence) {
    super.tell(sentence);
    this.box.classList.toggle("blind", this.view.classList.contains("guess"));
  }
}

function svgElement(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

players.run = RunPlayer;
