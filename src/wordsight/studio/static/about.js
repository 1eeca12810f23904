// More about one video: scores of all its sentences, names of its things, and looking again.
"use strict";

(() => {
  const film = document.getElementById("film");
  const video = encodeURIComponent(document.getElementById("screen").dataset.video);
  const answer = document.getElementById("answer");
  const number = (id) => { const { value } = document.getElementById(id); return value === "" ? undefined : Number(value); };

  document.getElementById("score-all").addEventListener("click", async () => {
    const asked = document.getElementById("sentence").value.trim();
    const said = [...document.querySelectorAll("[data-sentence]")].map((one) => one.dataset.sentence);
    const sentences = [...new Set([asked, ...said])].filter(Boolean).slice(0, 50);
    if (!sentences.length) { studio.say("Ask a sentence first."); return; }
    try {
      const found = await studio.post(`/api/v1/videos/${video}/score`, { sentences, start: number("from"), end: number("to"), prune: number("prune"), whole: document.getElementById("whole").checked });
      const mark = (holds) => studio.node("span", holds ? "yes" : "no", holds ? "yes" : "no");
      const long = found.some((one) => one.moment); // each is then asked about its own best moment
      answer.replaceChildren(studio.table(["Sentence", "Score", "True", ...(long ? ["Best from"] : [])],
        found.map((one) => [one.sentence, Number(one.score.toFixed(3)), mark(one.holds), ...(long ? [seek(studio.clock(one.start), one.start)] : [])])));
    } catch (error) { studio.say(error.message); }
  });

  const seek = (text, time) => {
    const button = studio.node("button", text, "link");
    button.type = "button";
    button.addEventListener("click", () => { film.currentTime = time; });
    return button;
  };
  const named = document.getElementById("named");
  document.getElementById("name-things")?.addEventListener("click", async () => {
    try {
      const begun = await studio.post(`/api/v1/videos/${video}/names`);
      const job = await studio.watch(begun.id, document.getElementById("naming-now"));
      if (job.state !== "done") { studio.say(job.message || "Naming was cancelled."); return; }
      const things = job.result.things;
      named.replaceChildren(things.length
        ? studio.table(["Thing", "Words", "Of its boxes", "From"], things.map((one) => [one.thing < 0 ? "loose" : one.thing, one.text, `${Math.round(100 * one.share)} %`, seek(studio.clock(one.start), one.start)]))
        : studio.node("p", "No box shows enough pixels.", "dim"));
    } catch (error) { studio.say(error.message); }
  });
  document.getElementById("name-here")?.addEventListener("click", async () => {
    try {
      const found = await studio.post(`/api/v1/videos/${video}/name`, { time: film.currentTime, box: studio.picked?.() ?? null });
      named.replaceChildren(studio.node("p", `At ${studio.clock(film.currentTime)}: ${found.text}`));
    } catch (error) { studio.say(error.message); }
  });

  const look = document.getElementById("look");
  look.addEventListener("submit", async (event) => {
    event.preventDefault();
    const problem = document.getElementById("look-problem");
    problem.textContent = "";
    try {
      const network = await studio.network();
      const body = new FormData(look);
      for (const [name, value] of [...body]) if (value === "" || (value instanceof File && !value.size)) body.delete(name);
      body.delete("network");
      if (network) body.append("network", network);
      if (body.has("detector")) body.append("force", "true");
      const begun = await studio.ask(`/api/v1/videos/${video}/look`, { method: "POST", body });
      const job = await studio.watch(begun.id, document.getElementById("looking-now"));
      if (job.state === "done") location.reload();
      else problem.textContent = job.message || "It was cancelled.";
    } catch (error) { problem.textContent = error.message; }
  });
})();
