// More about one video: scores of all its sentences, names of its things, and looking again.
"use strict";

(() => {
  const film = studio.film;
  const video = encodeURIComponent(document.getElementById("screen").dataset.video);
  const answer = document.getElementById("answer");
  const number = (id) => { const { value } = document.getElementById(id); return value === "" ? undefined : Number(value); };

  document.getElementById("score-all").addEventListener("click", async () => {
    const asked = document.getElementById("sentence").value.trim();
    const said = [...document.querySelectorAll("[data-sentence]")].map((one) => one.dataset.sentence);
    const sentences = [...new Set([asked, ...said])].filter(Boolean).slice(0, 50);
    if (!sentences.length) { studio.fail(answer, "Write a sentence first."); return; }
    try {
      const { scores: found } = await studio.question(`/api/v1/videos/${video}/score`, { sentences, start: number("from"), end: number("to"), prune: number("prune"), whole: document.getElementById("whole").checked }, answer);
      const mark = (verdict) => studio.node("span", verdict, studio.verdicts[verdict]);
      const long = found.some((one) => one.moment); // each is then asked about its own best moment
      answer.replaceChildren(studio.table(["Sentence", "Here", "Probability", ...(long ? ["Best from"] : [])],
        found.map((one) => [one.sentence, mark(one.verdict), `${Math.round(100 * Math.min(1, Math.exp(one.score)))} %`, ...(long ? [seek(studio.clock(one.start), one.start)] : [])])));
    } catch (error) { studio.fail(answer, error); }
  });

  // What is said of the film is corrected where it stands.
  const problem = document.getElementById("said-problem");
  const change = async (address, method, body) => {
    try {
      await studio.ask(address, { method, headers: { "Content-Type": "application/json" }, body: body && JSON.stringify(body) });
      location.reload();
    } catch (error) { studio.fail(problem, error); }
  };
  const said = `/api/v1/videos/${video}/sentences`;
  document.getElementById("say-more").addEventListener("submit", (event) => {
    event.preventDefault();
    change(said, "POST", { text: document.getElementById("more-text").value.trim() });
  });
  document.getElementById("said-of").addEventListener("click", (event) => {
    const item = event.target.closest("li[data-id]");
    if (!item) return;
    if (event.target.matches("[data-unsay]")) change(`${said}/${item.dataset.id}`, "DELETE");
    if (!event.target.matches("[data-correct]")) return;
    const { from, to } = event.target.dataset, form = studio.node("form", "", "row");
    const field = (label, value, type) => {
      const made = studio.node("label", label, type === "text" ? "wide" : ""), input = document.createElement("input");
      Object.assign(input, { type, value, maxLength: 2000, step: "any", required: type === "text" });
      made.append(input);
      form.append(made);
      return input;
    };
    const text = field("Sentence", item.querySelector("[data-sentence]").dataset.sentence, "text");
    const start = field("From second", from, "number"), end = field("To second", to, "number");
    const save = studio.node("button", "Save", "main"), back = studio.node("button", "Cancel");
    back.type = "button";
    back.addEventListener("click", () => location.reload());
    form.append(save, back);
    const second = (input) => (input.value === "" ? null : Number(input.value));
    form.addEventListener("submit", (sent) => {
      sent.preventDefault();
      change(`${said}/${item.dataset.id}`, "PUT", { text: text.value.trim(), start: second(start), end: second(end) });
    });
    item.replaceChildren(form);
    text.focus();
  });

  const seek = (text, time) => {
    const button = studio.node("button", text, "link");
    button.type = "button";
    button.addEventListener("click", () => { film.currentTime = time; });
    return button;
  };
  const named = document.getElementById("named");
  document.getElementById("name-things")?.addEventListener("click", async () => {
    named.replaceChildren();
    try {
      const begun = await studio.post(`/api/v1/videos/${video}/names`);
      const job = await studio.watch(begun.id, document.getElementById("naming-now"));
      if (job.state !== "done") throw new Error(job.message || "Naming was cancelled.");
      const things = job.result.things;
      named.replaceChildren(things.length
        ? studio.table(["Thing", "Words", "Of its boxes", "From"], things.map((one) => [one.thing < 0 ? "not followed" : one.thing, one.text, `${Math.round(100 * one.share)} %`, seek(studio.clock(one.start), one.start)]))
        : studio.node("p", "No box shows enough pixels.", "dim"));
    } catch (error) { studio.fail(named, error); }
  });
  document.getElementById("name-here")?.addEventListener("click", async () => {
    named.replaceChildren();
    try {
      const found = await studio.post(`/api/v1/videos/${video}/name`, { time: film.currentTime, box: studio.picked?.() ?? null });
      named.replaceChildren(studio.node("p", `At ${studio.clock(film.currentTime)}: ${found.text}`));
    } catch (error) { studio.fail(named, error); }
  });

  const look = document.getElementById("look");
  look.addEventListener("submit", async (event) => {
    event.preventDefault();
    const problem = document.getElementById("look-problem");
    problem.replaceChildren();
    try {
      const network = await studio.network(look);
      const body = new FormData(look);
      for (const [name, value] of [...body]) if (value === "" || (value instanceof File && !value.size)) body.delete(name);
      body.delete("network");
      if (network) body.append("network", network);
      if (body.has("detector")) body.append("force", "true");
      const begun = await studio.ask(`/api/v1/videos/${video}/look`, { method: "POST", body });
      const job = await studio.watch(begun.id, document.getElementById("looking-now"));
      if (job.state === "done") location.reload();
      else throw new Error(job.message || "It was cancelled.");
    } catch (error) { studio.fail(problem, error); }
  });
})();
