// The player of a memory history. In predict mode the reader says where the next request goes: a free block, or a
// new segment. Steps that place nothing are walked over.

class MemoryPlayer extends Player {
  // The steps run to the end at first: the picture without a step is the memory as it is now.
  addPredict() {}

  addSteps() {
    super.addSteps();
    if (this.steps.some((step) => step.place)) this.addPlacing(this.view.querySelector("svg"));
  }

  addPlacing(svg) {
    const button = element("button", { textContent: "predict", title: "say where the next block goes" });
    this.streak = 0;
    this.predictButton = button;
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      const on = this.view.classList.toggle("guess");
      button.setAttribute("aria-pressed", String(on));
      if (on) this.ask();
    });
    svg.addEventListener("click", (event) => {
      const card = event.target.closest("[data-card]");
      if (card && this.view.classList.contains("guess")) this.answer(card.dataset.id);
    });
    this.bar.append(button);
  }

  // Walk to just before the next request that is placed, and tell its first words only.
  ask() {
    let next = this.at + 1;
    while (next < this.steps.length && !this.steps[next].place) next += 1;
    if (next >= this.steps.length) return this.tell("No further request is placed. Go back to the start to try again.");
    this.go(next - 1);
    const words = this.steps[next].msg.split(":")[0];
    this.tell(`${words}: where does it go? Click a free block, or "needs a new segment".`);
  }

  answer(id) {
    const next = this.steps[this.at + 1];
    if (!next || !next.place) return;
    const right = next.place === id;
    this.streak = right ? this.streak + 1 : 0;
    this.predictButton.textContent = this.streak ? `predict · streak ${this.streak}` : "predict";
    if (!right) return this.tell(this.hintFor(id));
    this.go(this.at + 1);
    this.tell(`Right, ${this.streak} in a row. ${next.msg} Press predict for the next one.`);
    this.view.classList.remove("guess");
    this.predictButton.setAttribute("aria-pressed", "false");
  }

  hintFor(id) {
    const node = this.trace.nodes.find((one) => one.id === id);
    if (id === "new") return "Not yet: a free block of this pool and stream holds it. Try again.";
    if (node.kind !== "gap") return "That block is not free. Try again.";
    return "Not that one: it must be of the same pool and stream, hold the rounded size, and be the smallest such block.";
  }
}

players.memory = MemoryPlayer;
