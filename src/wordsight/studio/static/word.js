// Changing a word by hand: the change beside what is there, its effect on the library, and back.
"use strict";

(() => {
  // A bar follows the pointer and the others make room; the numbers in the form below are what counts.
  for (const plot of document.querySelectorAll(".plot")) {
    const bars = plot.querySelector(".now svg"), fields = [...plot.querySelectorAll("form.edit input")];
    let held = -1, before = [];
    const drag = (event) => {
      if (held < 0) return;
      const box = bars.getBoundingClientRect();
      const share = Math.min(1, Math.max(0, 1 - (event.clientY - box.top) / box.height));
      const others = before.reduce((sum, value, number) => (number === held ? sum : sum + value), 0);
      fields.forEach((field, number) => {
        const part = others > 0 ? before[number] / others : 1 / (fields.length - 1);
        field.value = (number === held ? share : (1 - share) * part).toFixed(3);
      });
      fields[held].dispatchEvent(new Event("input", { bubbles: true }));
    };
    bars?.addEventListener("pointerdown", (event) => {
      const box = bars.getBoundingClientRect();
      held = Math.min(fields.length - 1, Math.max(0, Math.floor((event.clientX - box.left) / box.width * fields.length)));
      before = fields.map((field) => Math.max(0, Number(field.value) || 0));
      bars.setPointerCapture(event.pointerId);
      drag(event);
    });
    bars?.addEventListener("pointermove", drag);
    for (const name of ["pointerup", "pointercancel"]) bars?.addEventListener(name, () => { held = -1; });
  }
  const title = document.getElementById("word");
  const entry = encodeURIComponent(title.dataset.entry);
  const version = title.dataset.version ? Number(title.dataset.version) : null;
  const panel = document.getElementById("change");
  const effects = document.getElementById("effects");
  const forms = [...document.querySelectorAll("form.edit")];
  const inputs = (form) => [...form.querySelectorAll("input")];
  const changed = (form) => inputs(form).some((input) => input.value !== input.defaultValue);

  const draw = (form) => {
    const plot = form.closest(".plot");
    const differs = changed(form);
    plot.querySelector(".draft").hidden = !differs;
    plot.querySelector(".draft-only").hidden = !differs;
    if (!differs) return;
    const values = inputs(form).map((input) => Math.max(0, Number(input.value) || 0));
    const total = values.reduce((sum, value) => sum + value, 0) || 1;
    const make = (kind, names) => {
      const node = document.createElementNS("http://www.w3.org/2000/svg", kind);
      for (const [name, value] of Object.entries(names)) node.setAttribute(name, value);
      return node;
    };
    plot.querySelector(".draft svg").replaceChildren(...values.flatMap((value, number) => {
      const share = value / total;
      const usual = 60 - 60 * Number(inputs(form)[number].dataset.usual);
      return [
        make("rect", { x: 12 * number + 1, width: 10, y: 60 - 60 * share, height: 60 * share }),
        make("line", { x1: 12 * number, x2: 12 * (number + 1), y1: usual, y2: usual }),
      ];
    }));
  };
  const look = () => {
    const count = forms.filter(changed).length;
    if (!version) panel.hidden = !count;
    if (count) document.getElementById("changed").textContent =
      `${count} chart${count === 1 ? "" : "s"} changed, not saved yet. Shares are scaled to add up to 100 %.`;
    document.getElementById("save").hidden = !count;
    document.getElementById("undo").hidden = !count;
    effects.replaceChildren();
  };
  const edits = () => forms.filter(changed).map((form) => ({
    feature: form.closest("figure").dataset.feature,
    roles: JSON.parse(form.closest("figure").dataset.roles),
    state: Number(form.closest(".plot").dataset.state),
    shares: inputs(form).map((input) => Number(input.value)),
  }));
  for (const form of forms) {
    form.addEventListener("input", () => { draw(form); look(); });
    form.addEventListener("reset", () => setTimeout(() => { draw(form); look(); })); // values change after the event
    form.addEventListener("submit", (event) => event.preventDefault());
  }
  document.getElementById("undo").addEventListener("click", () => forms.forEach((form) => form.reset()));

  const node = (kind, text = "", name = "") => {
    const made = document.createElement(kind);
    made.textContent = text;
    made.className = name;
    return made;
  };
  // Scores are logarithms; people read shares.
  const share = (score) => { const percent = 100 * Math.min(1, Math.exp(score)); return percent < 1 ? "below 1 %" : `${Math.round(percent)} %`; };
  const judged = (true_) => node("span", true_ ? "likely" : "not likely", true_ ? "yes" : "no");
  const tell = (found) => {
    const table = node("table");
    const head = table.createTHead().insertRow();
    for (const [text, name] of [["Sentence", ""], ["Film", ""], ["Before", "num"], ["After", "num"], ["Judged", ""]]) {
      const cell = node("th", text, name);
      cell.scope = "col";
      head.append(cell);
    }
    const body = table.createTBody();
    for (const one of found.rows) {
      const row = body.insertRow();
      const flips = one.holds_before !== one.holds_after;
      row.className = flips ? "flips" : "";
      const link = node("a", one.name);
      link.href = `/videos/${encodeURIComponent(one.video_id)}`;
      const video = node("td");
      video.append(link);
      const said = node("td", one.sentence);
      if (!one.said) said.append(node("span", " (not said of this film)", "dim"));
      const verdict = node("td");
      verdict.append(judged(one.holds_before), ...(flips ? [" → ", judged(one.holds_after)] : []));
      row.append(said, video, node("td", share(one.before), "num"), node("td", share(one.after), "num"), verdict);
    }
    const whole = node("div", "", "scroll tall");
    whole.append(table);
    const unsaid = found.sentences - found.said;
    effects.replaceChildren(
      node("p", found.flips ? `${found.flips} of ${found.sentences} verdicts flip${found.flips === 1 ? "s" : ""}.` : `None of ${found.sentences} verdicts flips.`, "strong"),
      node("p", `Judged true of their own film: ${found.said_true_before} of ${found.said} sentences before, ${found.said_true_after} after. `
        + `Judged true of another film: ${found.unsaid_true_before} of ${unsaid} before, ${found.unsaid_true_after} after.`, "dim"),
      whole);
  };
  document.getElementById("effect").addEventListener("click", async (event) => {
    event.target.disabled = true;
    effects.replaceChildren();
    try {
      const begun = await studio.post(`/api/v1/lexicon/words/${entry}/compare`, { edits: edits(), version });
      const job = await studio.job(begun.id, studio.waiting(effects, begun.id));
      if (job.state === "done") tell(job.result);
      else throw new Error(job.message || "Comparing was cancelled.");
    } catch (error) {
      studio.fail(effects, error);
    }
    event.target.disabled = false;
  });
  document.getElementById("save").addEventListener("click", async () => {
    try {
      await studio.ask(`/api/v1/lexicon/words/${entry}`, {
        method: "PUT",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ edits: edits() }),
      });
      location.reload();
    } catch (error) {
      studio.fail(effects, error);
    }
  });
  for (const button of document.querySelectorAll("[data-restore]"))
    button.addEventListener("click", async () => {
      try {
        await studio.post(`/api/v1/lexicon/versions/${button.dataset.restore}/restore`);
        location.href = `/lexicon/${entry}`;
      } catch (error) {
        studio.fail(studio.beside(button), error);
      }
    });
})();
