// Learning with the objective drawn as it rises, and editing one word's tables.
"use strict";

(() => {
  const learn = document.getElementById("learn");
  const curve = document.getElementById("curve");
  const drawCurve = async () => {
    const runs = await studio.ask("/api/v1/lexicon/history");
    curve.hidden = !runs.length;
    if (!runs.length) return;
    const scale = window.devicePixelRatio || 1;
    curve.width = curve.clientWidth * scale;
    curve.height = curve.clientHeight * scale;
    const pen = curve.getContext("2d");
    pen.scale(scale, scale);
    const values = runs.flat();
    const low = Math.min(...values), high = Math.max(...values);
    const most = Math.max(...runs.map((run) => run.length));
    runs.forEach((run, number) => {
      pen.strokeStyle = studio.colours[number % studio.colours.length];
      pen.lineWidth = 2;
      pen.beginPath();
      run.forEach((value, step) => {
        const x = 12 + (curve.clientWidth - 24) * step / Math.max(1, most - 1);
        const y = curve.clientHeight - 12 - (curve.clientHeight - 24) * (value - low) / (high - low || 1);
        if (step) pen.lineTo(x, y); else pen.moveTo(x, y);
      });
      pen.stroke();
    });
  };
  if (learn) {
    learn.addEventListener("submit", async (event) => {
      event.preventDefault();
      const button = learn.querySelector("button");
      button.disabled = true;
      document.getElementById("course").hidden = false;
      try {
        const begun = await studio.post("/api/v1/lexicon/learn", {
          restarts: Number(document.getElementById("restarts").value),
          quick: document.getElementById("quick").value === "true",
        });
        const job = await studio.job(begun.id, (now) => {
          document.getElementById("done").value = now.progress;
          document.getElementById("stage").textContent = now.message;
        });
        if (job.state === "done") location.reload();
        else studio.say(job.message || "Learning was cancelled.");
      } catch (error) {
        studio.say(error.message);
      }
      button.disabled = false;
    });
    drawCurve();
  }
  for (const form of document.querySelectorAll("form.edit"))
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const figure = form.closest("figure");
      try {
        const entry = encodeURIComponent(figure.dataset.entry);
        await studio.ask(`/api/v1/lexicon/words/${entry}`, {
          method: "PUT",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({
            feature: figure.dataset.feature,
            roles: JSON.parse(figure.dataset.roles),
            state: Number(form.closest(".plot").dataset.state),
            shares: [...form.querySelectorAll("input")].map((input) => Number(input.value)),
          }),
        });
        location.reload();
      } catch (error) {
        studio.say(error.message);
      }
    });
})();
