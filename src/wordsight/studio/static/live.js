// A watch: what is seen, the sentences that are true just now, and hits as they come.
"use strict";

(() => {
  const GLOW = 4; // seconds that a sentence stays lit after it was true
  const part = (id) => document.getElementById(id);
  const clock = (seconds) => `${Math.floor(seconds / 60)}:${(seconds % 60).toFixed(1).padStart(4, "0")}`;
  let timer = 0, told = 0, drawn = ""; // the job whose end was told, and the hits that are shown

  const light = (state) => {
    part("sentences").replaceChildren(...state.sentences.map((text) => {
      const last = state.hits.find((hit) => hit.text === text);
      const lit = last && state.now - last.end < GLOW;
      return studio.node("li", last ? `${text} ${Math.round(100 * last.probability)} %` : text, lit ? "lit" : "");
    }));
  };

  const look = async () => {
    const state = await studio.ask("/api/v1/live").catch(() => null);
    const runs = state?.job && ["queued", "running"].includes(state.job.state);
    part("stop").hidden = !runs;
    if (state?.job) {
      part("stop").onclick = () => studio.post(`/api/v1/jobs/${state.job.id}/cancel`).catch(() => {});
      light(state);
      const hits = JSON.stringify(state.hits);
      if (drawn !== hits) part("hits").replaceChildren(studio.table(["When", "Probability", "Delay", "Sentence"], state.hits.map((hit) =>
        [`${clock(hit.start)} – ${clock(hit.end)}`, `${Math.round(100 * hit.probability)} %`, `${hit.delay.toFixed(1)} s`, hit.text])));
      drawn = hits; // what is read aloud is not written anew when nothing has changed
      part("warnings").replaceChildren(...state.warnings.map((text) => studio.node("li", text)));
      part("seen").textContent = `${runs ? "Watching" : "Over"}: ${clock(state.now)}, frames looked at: ${state.frames}`;
      if (state.job.state === "failed" && told !== state.job.id) {
        told = state.job.id;
        studio.fail(part("watch-problem"), state.job.message);
      }
      part("picture").hidden = !state.frames;
      if (state.frames) part("picture").src = `/api/v1/live/picture?${state.job.id}-${state.frames}`;
    }
    clearTimeout(timer);
    timer = setTimeout(look, runs ? 300 : 3000);
  };

  part("watch").addEventListener("submit", async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const sentences = form.get("sentences").split("\n").map((line) => line.trim()).filter(Boolean);
    part("watch-problem").replaceChildren();
    try {
      await studio.post("/api/v1/live", { sentences, source: form.get("source").trim(), video: form.get("video"),
        detector: form.get("detector"), rate: Number(form.get("rate")) });
      look();
    } catch (error) {
      studio.fail(part("watch-problem"), error);
    }
  });
  look();
})();
