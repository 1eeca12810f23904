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
    document.getElementById("problem").textContent = "";
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await save();
      studio.say("The rules are saved.");
      document.getElementById("infer")?.click();
    } catch (error) {
      document.getElementById("problem").textContent = error.message;
    }
  });
  const canvas = document.getElementById("facts");
  if (!canvas) return;
  const film = document.getElementById("film");
  const video = encodeURIComponent(canvas.dataset.video);
  const left = 150, row = 22;
  let found = null;
  const x = (time) => left + (canvas.clientWidth - left - 10) * time / found.duration;
  const draw = () => {
    canvas.hidden = !found;
    if (!found) return;
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
      for (const one of found.facts.filter((fact) => fact.fact === name))
        pen.fillRect(x(one.start), 4 + number * row, Math.max(2, x(one.end) - x(one.start)), row - 5);
    });
    pen.fillStyle = ink;
    for (const one of found.events) {
      pen.globalAlpha = 0.5;
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
  canvas.addEventListener("click", async (event) => {
    const time = Math.max(0, (event.offsetX - left) / (canvas.clientWidth - left - 10) * found.duration);
    film.currentTime = time;
    const place = document.getElementById("why");
    try {
      const why = await studio.ask(`/api/v1/states/videos/${video}/why?at=${time}`);
      place.replaceChildren(
        line(`At ${studio.clock(why.time)}: ${why.facts.join(", ") || "nothing holds"}`, "strong"),
        ...why.violated.map((text) => line(`against: ${text}`, "p", "no")),
        ...why.kept.map((text) => line(`for: ${text}`, "p", "yes")));
    } catch (error) {
      studio.say(error.message);
    }
  });
  film.addEventListener("timeupdate", draw);
  window.addEventListener("resize", draw);
  for (const button of document.querySelectorAll("[data-seek]"))
    button.addEventListener("click", () => { film.currentTime = Number(button.dataset.seek); });
  document.getElementById("infer").addEventListener("click", async () => {
    const done = document.getElementById("done");
    done.hidden = false;
    try {
      await save();
      const begun = await studio.post(`/api/v1/states/videos/${video}`);
      const job = await studio.job(begun.id, (now) => { done.value = now.progress; });
      if (job.state === "done") location.reload();
      else studio.say(job.message);
    } catch (error) {
      document.getElementById("problem").textContent = error.message;
    }
    done.hidden = true;
  });
  draw();
  if (canvas.dataset.found)
    studio.ask(`/api/v1/states/videos/${video}`).then((one) => { found = one; draw(); }, (error) => studio.say(error.message));
})();
