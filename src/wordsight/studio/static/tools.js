// Tools for files: converting one, ranking for many queries, measuring a ranking.
"use strict";

(() => {
  // What is empty in a form was not chosen.
  const filled = (form) => {
    const body = new FormData(form);
    for (const [name, value] of [...body]) if (value === "") body.delete(name);
    return body;
  };
  const problem = (id) => document.getElementById(`${id}-problem`);
  const clear = (id) => problem(id).replaceChildren();

  document.getElementById("convert").addEventListener("submit", async (event) => {
    event.preventDefault();
    clear("convert");
    const answer = await fetch("/api/v1/convert", { method: "POST", body: filled(event.target) });
    if (!answer.ok) { studio.fail(problem("convert"), await studio.refused(answer)); return; }
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await answer.blob());
    link.download = answer.headers.get("Content-Disposition").match(/filename="(.+)"/)[1];
    link.click();
    URL.revokeObjectURL(link.href);
  });

  document.getElementById("queries").addEventListener("submit", async (event) => {
    event.preventDefault();
    clear("making");
    try {
      const begun = await studio.ask("/api/v1/search/queries", { method: "POST", body: filled(event.target) });
      const job = await studio.watch(begun.id, document.getElementById("making-now"));
      if (job.state === "done") studio.say(`${job.result.queries} queries, ${job.result.hits} shots.`);
      else throw new Error(job.message || "It was cancelled.");
    } catch (error) {
      studio.fail(problem("making"), error);
    }
    document.body.dispatchEvent(new Event("made"));
  });

  document.getElementById("evaluate").addEventListener("submit", async (event) => {
    event.preventDefault();
    clear("evaluate");
    const place = document.getElementById("scores");
    place.replaceChildren();
    try {
      const found = await studio.ask("/api/v1/search/evaluate", { method: "POST", body: filled(event.target) });
      const names = Object.keys(found.means);
      const row = (name, values) => [name, ...names.map((one) => values[one].toFixed(4))];
      place.append(studio.node("p", `Queries with judgements: ${found.queries}` + (found.missing ? `, of which not in the ranking, counted as 0: ${found.missing}` : "")
        + (found.unjudged ? `; queries of the ranking without, left out: ${found.unjudged}` : "") + "."),
        studio.table(["Query", ...names], [row("mean", found.means), ...Object.entries(found.per_query).map(([name, values]) => row(name, values))]));
    } catch (error) {
      studio.fail(problem("evaluate"), error);
    }
  });
})();
