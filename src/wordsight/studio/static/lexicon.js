// Learning, with the objective drawn as it rises: one line per restart.
"use strict";

(() => {
  const learn = document.getElementById("learn");
  const course = document.getElementById("course");
  const ink = () => getComputedStyle(document.body).color;
  const short = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2));

  const plot = (canvas, runs) => {
    canvas.hidden = !runs.some((run) => run.length);
    if (canvas.hidden) return;
    const scale = window.devicePixelRatio || 1;
    const left = 64, bottom = 20, wide = canvas.clientWidth - left - 12, tall = canvas.clientHeight - bottom - 12;
    canvas.width = canvas.clientWidth * scale;
    canvas.height = canvas.clientHeight * scale;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    const values = runs.flat();
    const low = Math.min(...values), high = Math.max(...values);
    const most = Math.max(2, ...runs.map((run) => run.length));
    const x = (step) => left + wide * step / (most - 1);
    const y = (value) => 12 + tall - tall * (value - low) / (high - low || 1);
    pen.font = "12px system-ui";
    pen.fillStyle = pen.strokeStyle = ink();
    pen.globalAlpha = 0.75;
    pen.textAlign = "right";
    pen.fillText(short(high), left - 6, 16);
    if (high > low) pen.fillText(short(low), left - 6, 12 + tall);
    pen.textAlign = "left";
    pen.fillText("1", left, canvas.clientHeight - 5);
    pen.textAlign = "right";
    pen.fillText(`step ${most}`, left + wide, canvas.clientHeight - 5);
    pen.globalAlpha = 0.25;
    pen.strokeRect(left, 12, wide, tall);
    pen.globalAlpha = 1;
    runs.forEach((run, number) => {
      pen.strokeStyle = pen.fillStyle = studio.colours[number % studio.colours.length];
      pen.lineWidth = 2;
      pen.beginPath();
      run.forEach((value, step) => (step ? pen.lineTo(x(step), y(value)) : pen.moveTo(x(step), y(value))));
      pen.stroke();
      if (!run.length) return;
      pen.beginPath();
      pen.arc(x(run.length - 1), y(run.at(-1)), 3.5, 0, 7);
      pen.fill();
    });
  };
  const key = (runs) => document.getElementById("key").replaceChildren(...runs.map((run, number) => {
    const item = document.createElement("li");
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    swatch.style.background = studio.colours[number % studio.colours.length];
    item.append(swatch, `restart ${number + 1}: ${run.length} steps${run.length ? `, ${short(run.at(-1))}` : ""}`);
    return item;
  }));
  let drawing = false;
  const drawCourse = async () => {
    if (drawing) return; // two answers at once might come in the wrong order
    drawing = true;
    const found = await studio.ask("/api/v1/lexicon/history").catch(() => null);
    drawing = false;
    if (!found) return;
    plot(document.getElementById("curve"), found.restarts);
    document.getElementById("curve-about").hidden = document.getElementById("curve").hidden;
    plot(document.getElementById("sharpened"), [found.sharpened]);
    document.getElementById("sharpened-title").hidden = !found.sharpened.length;
    key(found.restarts);
    course.dataset.points = found.restarts.flat().length + found.sharpened.length;
  };
  const watch = async (number) => {
    const button = learn.querySelector("button.main");
    button.disabled = true;
    document.getElementById("running").hidden = false;
    course.dataset.live = "true";
    document.getElementById("cancel").onclick = () => studio.post(`/api/v1/jobs/${number}/cancel`).catch(() => {});
    try {
      const job = await studio.job(number, (now) => {
        document.getElementById("done").value = now.progress;
        document.getElementById("stage").textContent = studio.doing(now);
        drawCourse();
      });
      if (job.state === "done") location.reload();
      else studio.fail(document.getElementById("learn-problem"), job.message || "Learning was cancelled.");
    } catch (error) {
      studio.fail(document.getElementById("learn-problem"), error);
    }
    course.dataset.live = "false";
    document.getElementById("running").hidden = true;
    button.disabled = false;
  };
  const value = (name) => document.getElementById(name).value;
  const grammar = document.getElementById("grammar"), grammarFile = document.getElementById("grammar-file");
  grammar.addEventListener("change", () => { grammarFile.hidden = grammar.value !== "file"; });
  const grammarText = async () => {
    if (grammar.value !== "file") return grammar.value || null;
    const file = grammarFile.querySelector("input").files[0];
    if (!file) throw new Error("Choose the lexicon file, or let it be inferred.");
    return file.text();
  };
  learn.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const begun = await studio.post("/api/v1/lexicon/learn", {
        restarts: Number(document.getElementById("restarts").value),
        phases: Number(document.getElementById("phases").value) || undefined,
        any_order: document.getElementById("any-order").checked,
        two_phase: document.getElementById("two-phase").checked,
        senses: document.getElementById("senses").checked,
        participants: value("participants") || null,
        method: value("method"),
        features: value("features") || null,
        noise: value("noise") === "" ? null : Number(value("noise")),
        check: value("check"),
        attributes: document.getElementById("adjectives").checked,
        seed: Number(document.getElementById("seed").value),
        grammar: await grammarText(),
        states: value("states") || null,
        prune: Number(value("prune")) || null,
        threads: Number(value("threads")),
        engine: value("engine") || null,
        device: value("device") || null,
      });
      watch(begun.id);
    } catch (error) {
      studio.fail(document.getElementById("learn-problem"), error);
    }
  });
  // Who comes back while it learns sees it go on.
  if (course.dataset.job) watch(course.dataset.job);
  drawCourse();
  window.addEventListener("resize", drawCourse);
})();
