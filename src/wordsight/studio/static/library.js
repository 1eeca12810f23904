// The library: filters that stay in the address, several films at once, and the demo.
"use strict";

(() => {
  for (const field of document.querySelectorAll("#sort, #said-filter")) field.addEventListener("change", () => field.form.requestSubmit());
  // Who goes back finds what the address says, not what was chosen last.
  addEventListener("pageshow", () => document.getElementById("filter").reset());
  const chosen = () => [...document.querySelectorAll("[data-select]:checked")].map((one) => one.value);
  const bar = document.getElementById("selection"), problem = document.getElementById("selection-problem");
  const count = () => {
    const number = chosen().length;
    bar.hidden = !number;
    document.getElementById("selected").textContent = `${number} selected`;
  };
  document.addEventListener("change", (event) => { if (event.target.matches("[data-select]")) count(); });
  count(); // the browser may have kept the boxes of an earlier visit
  document.getElementById("clear-selected").addEventListener("click", () => {
    for (const one of document.querySelectorAll("[data-select]:checked")) one.checked = false;
    count();
  });
  document.getElementById("remove-selected").addEventListener("click", async () => {
    const films = chosen();
    if (!confirm(`Remove ${films.length} film${films.length === 1 ? "" : "s"} from the library?`)) return;
    try {
      for (const film of films) await studio.ask(`/api/v1/videos/${encodeURIComponent(film)}`, { method: "DELETE" });
      location.reload();
    } catch (error) { studio.fail(problem, error); }
  });
  document.getElementById("infer-selected").addEventListener("click", async () => {
    problem.replaceChildren();
    try {
      for (const film of chosen()) await studio.post(`/api/v1/states/videos/${encodeURIComponent(film)}`);
      document.getElementById("work").open = true;
      document.body.dispatchEvent(new Event("jobs-changed"));
    } catch (error) { studio.fail(problem, error); }
  });
  const clip = document.querySelector("video.clip");
  if (clip && !matchMedia("(prefers-reduced-motion: reduce)").matches) clip.play().catch(() => {});
  const demo = document.getElementById("demo"), state = document.getElementById("demo-state");
  demo?.addEventListener("click", async () => {
    demo.disabled = true;
    try {
      const begun = await studio.post("/api/v1/jobs/demo");
      const job = await studio.job(begun.id, studio.waiting(state, begun.id));
      if (job.state !== "done") throw new Error(job.message || "It was cancelled.");
      location.reload();
    } catch (error) { studio.fail(state, error); demo.disabled = false; }
  });
})();
