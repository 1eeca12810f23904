// Learning rules from labelled films, and the sets of rules that are kept.
"use strict";

(() => {
  const form = document.getElementById("learn");
  const problem = document.getElementById("learn-problem");
  const now = document.getElementById("learning-now");
  const button = form.querySelector("button.main");

  const watch = async (number) => {
    button.disabled = true;
    try {
      const job = await studio.watch(number, now);
      if (job.state === "done") location.reload();
      else throw new Error(job.message || "Learning was cancelled.");
    } catch (error) {
      studio.fail(problem, error);
    }
    button.disabled = false;
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    problem.replaceChildren();
    const body = new FormData(form);
    const above = document.getElementById("rules").elements;
    for (const name of ["mine", "words"]) body.delete(name);
    if (form.elements.mine.checked) body.append("rules", above.rules.value);
    if (form.elements.words.checked) body.append("vocabulary", above.vocabulary.value);
    if (!form.elements.boxes.files.length) body.delete("boxes"); // no choice is sent as an empty file
    for (const name of ["engine", "tau", "rate"]) if (!form.elements[name].value) body.delete(name);
    try {
      watch((await studio.ask("/api/v1/states/learn", { method: "POST", body })).id);
    } catch (error) {
      studio.fail(problem, error);
    }
  });
  if (form.dataset.job) watch(form.dataset.job);
  if (sessionStorage.getItem("infer")) {
    sessionStorage.removeItem("infer");
    document.getElementById("infer")?.click();
  }

  document.getElementById("things").addEventListener("click", async () => {
    const place = document.getElementById("called");
    const films = [...form.elements.videos.selectedOptions].slice(0, 12);
    place.replaceChildren(studio.node("p", films.length ? "Looking …" : "Choose films of the library first."));
    const lines = await Promise.all(films.map(async (film) => {
      try {
        const found = await studio.ask(`/api/v1/states/videos/${encodeURIComponent(film.value)}/things`);
        return studio.node("p", `${film.textContent.split(",")[0]}: ${found.map((one) => one.name).join(", ")}`);
      } catch (error) {
        return studio.node("p", `${film.textContent}: ${error.message}`, "no");
      }
    }));
    if (lines.length) place.replaceChildren(...lines);
  });

  const share = (one) => `${one.right ? "right" : "wrong"}, ${(100 * one.facts).toFixed(1)} % of facts`;
  const differs = ({ rules }) => rules.filter((one) => one.now !== one.set);
  const shown = (found) => {
    const changed = differs(found);
    const parts = [studio.node("p", `Every change of state costs ${found.costs[0].toPrecision(3)} in use, ${found.costs[1].toPrecision(3)} in this set. `
      + `${found.rules.length - changed.length} rules are the same, ${changed.length} differ.`, "strong")];
    if (found.films.length) {
      const count = (which) => found.films.filter((film) => film[which].right).length;
      parts.push(studio.node("p", `Films whose states come out exactly right: ${count("now")} of ${found.films.length} with the rules in use, ${count("set")} with this set.`),
        studio.table(["Film", "In use", "This set"], found.films.map((film) => [film.film, share(film.now), share(film.set)])));
    }
    if (changed.length)
      parts.push(studio.table(["Rule", "In use", "This set"],
        changed.map((one) => [studio.node("code", one.rule), one.now ?? "–", one.set ?? "–"])));
    return parts;
  };
  document.getElementById("sets")?.addEventListener("click", async (event) => {
    const { compare, use, forget, retitle, title } = event.target.dataset;
    try {
      if (use) {
        await studio.post(`/api/v1/states/sets/${use}/use`);
        sessionStorage.setItem("infer", "again"); // what is shown was inferred with other rules
        location.reload();
      } else if (retitle) {
        const name = prompt("What are these rules called?", title)?.trim();
        if (!name || name === title) return;
        await studio.ask(`/api/v1/states/sets/${retitle}`, { method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ title: name }) });
        location.reload();
      } else if (forget && confirm(`Delete the set ${title}?`)) {
        await studio.ask(`/api/v1/states/sets/${forget}`, { method: "DELETE" });
        location.reload();
      } else if (compare) {
        const row = document.getElementById(`set-${compare}`);
        row.cells[0].replaceChildren();
        row.hidden = false;
        const begun = await studio.post(`/api/v1/states/sets/${compare}/compare`);
        const job = await studio.job(begun.id, studio.waiting(row.cells[0], begun.id));
        const box = studio.node("div", "", "stack scroll tall");
        box.append(...(job.state === "done" ? shown(job.result) : [studio.node("p", job.message || "It was cancelled.", "no")]));
        row.cells[0].replaceChildren(box);
      }
    } catch (error) {
      studio.fail(studio.beside(event.target), error);
    }
  });
})();
