// Facts as bands over time, the rules beside them, and why a moment is as it is.
"use strict";

(() => {
  const form = document.getElementById("rules");
  const save = async () => {
    const value = (name) => form.elements[name].value;
    await studio.ask("/api/v1/states/rules", {
      method: "PUT",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({
        rules: value("rules"), vocabulary: value("vocabulary"), events: value("events"),
        cost: Number(value("cost")), hands: value("hands").split(",").map((one) => one.trim()).filter(Boolean),
        steady: form.elements.steady.checked,
        kinds: value("kinds").split("\n").map((one) => one.trim()).filter(Boolean),
      }),
    });
    document.getElementById("problem").replaceChildren();
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await save();
      studio.say("The rules are saved.");
      document.getElementById("infer")?.click();
    } catch (error) {
      studio.fail(document.getElementById("problem"), error);
    }
  });
  const canvas = document.getElementById("facts");
  if (!canvas) return;
  const film = document.getElementById("film");
  const video = encodeURIComponent(canvas.dataset.video);
  const left = 150, row = 22;
  let found = null, living = null;
  const x = (time) => left + (canvas.clientWidth - left - 10) * time / found.duration;
  const draw = () => {
    canvas.hidden = !found?.facts.length;
    if (canvas.hidden) return;
    const names = [...new Set(found.facts.map((one) => one.fact))];
    canvas.style.height = `${Math.max(1, names.length) * row + 30}px`;
    const scale = window.devicePixelRatio || 1;
    canvas.width = canvas.clientWidth * scale;
    canvas.height = canvas.clientHeight * scale;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.font = "12px system-ui";
    const ink = getComputedStyle(document.body).color;
    names.forEach((name, number) => {
      pen.fillStyle = ink;
      pen.fillText(name, 8, 4 + number * row + 14, left - 12);
      pen.fillStyle = studio.colours[number % studio.colours.length];
      // The surer, the darker; what is unsure is only half as high.
      for (const one of found.facts.filter((fact) => fact.fact === name)) {
        const unsure = one.answer === "unsure";
        pen.globalAlpha = 0.15 + 0.85 * one.probability;
        pen.fillRect(x(one.start), 4 + number * row + (unsure ? (row - 5) / 4 : 0), Math.max(2, x(one.end) - x(one.start)), unsure ? (row - 5) / 2 : row - 5);
      }
      pen.globalAlpha = 1;
    });
    pen.fillStyle = ink;
    for (const one of found.events) {
      pen.globalAlpha = 0.1 + 0.5 * one.probability;
      pen.fillRect(x(one.start), names.length * row + 8, Math.max(2, x(one.end) - x(one.start)), 12);
      pen.globalAlpha = 1;
    }
    pen.fillRect(x(film.currentTime), 0, 1.5, canvas.clientHeight);
  };
  const line = (text, kind = "p", name = "") => {
    const node = document.createElement(kind);
    node.textContent = text;
    node.className = name;
    return node;
  };
  canvas.addEventListener("click", (event) =>
    found && why(Math.min(found.duration, Math.max(0, (event.offsetX - left) / (canvas.clientWidth - left - 10) * found.duration))));
  // By keys: from one beginning or end of a fact to the next; enter says why.
  canvas.addEventListener("keydown", (event) => {
    if (!found) return;
    const edges = [...new Set(found.facts.flatMap((one) => [one.start, one.end]))].sort((one, other) => one - other);
    const now = film.currentTime, go = (time) => {
      if (time === undefined) return;
      film.currentTime = time;
      const there = found.facts.filter((one) => one.start <= time && time < one.end).map((one) => `${one.fact} ${one.answer === "unsure" ? "unsure, " : ""}${Math.round(100 * one.probability)} %`);
      canvas.setAttribute("aria-valuenow", time.toFixed(2));
      canvas.setAttribute("aria-valuetext", `${studio.clock(time)}: ${there.join(", ") || "nothing holds"}`);
    };
    const keys = {
      ArrowLeft: () => go(edges.filter((time) => time < now - 0.01).at(-1)), ArrowRight: () => go(edges.find((time) => time > now + 0.01)),
      Home: () => go(edges[0]), End: () => go(edges.at(-1)), Enter: () => why(now),
    };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  const why = async (time) => {
    film.currentTime = time;
    const place = document.getElementById("why");
    place.replaceChildren(studio.node("p", "Looking …", "dim"));
    try {
      const answer = await studio.ask(`/api/v1/states/videos/${video}/why?at=${time}`);
      place.replaceChildren(
        line(`At ${studio.clock(answer.time)}: ${answer.facts.join(", ") || "nothing holds"}`, "strong"),
        ...answer.violated.map((text) => line(`against: ${text}`, "p", "no")),
        ...answer.kept.map((text) => line(`for: ${text}`, "p", "yes")));
    } catch (error) {
      studio.fail(place, error);
    }
  };
  film.addEventListener("timeupdate", () => { draw(); living?.update(); });
  window.addEventListener("resize", draw);
  for (const button of document.querySelectorAll("[data-seek]"))
    button.addEventListener("click", () => { film.currentTime = Number(button.dataset.seek); });
  document.getElementById("infer").addEventListener("click", async () => {
    const state = document.getElementById("infer-state");
    state.replaceChildren();
    try {
      await save();
      const begun = await studio.post(`/api/v1/states/videos/${video}`);
      const job = await studio.job(begun.id, studio.waiting(state, begun.id));
      if (job.state !== "done") throw new Error(job.message || "It was cancelled.");
      location.href = `/states?video=${video}`;
    } catch (error) {
      studio.fail(state, error);
    }
  });
  draw();
  if (canvas.dataset.found)
    studio.ask(`/api/v1/states/videos/${video}`).then((one) => {
      found = one;
      const names = [...new Set(found.facts.map((fact) => fact.fact))];
      living = studio.living(document.getElementById("living"), film, { pieces: names.map((name, number) => (
        { text: `${name} `, participant: number, spans: found.facts.filter((fact) => fact.fact === name).map((fact) => ({ ...fact, confidence: fact.probability })) })) });
      document.querySelector("#living .living").classList.add("rows");
      draw();
    }, (error) => studio.fail(document.getElementById("why"), error));
})();
