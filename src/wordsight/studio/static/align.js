// Aligning a text, and dragging the boundaries of what was found.
"use strict";

(() => {
  const problem = document.getElementById("align-problem");
  const run = async (wanted) => {
    problem.replaceChildren();
    try {
      const begun = await studio.post("/api/v1/alignments", wanted);
      const job = await studio.job(begun.id, studio.waiting(problem, begun.id));
      if (job.state !== "done") throw new Error(job.message || "Aligning was cancelled.");
      location.href = `/align/${job.result.alignment}`;
    } catch (error) {
      studio.fail(problem, error);
    }
  };
  const form = document.getElementById("align");
  if (form)
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const value = (name) => document.getElementById(name).value;
      const text = async (name) => document.getElementById(name).files[0]?.text();
      const video = document.getElementById("video").value;
      const others = [...document.getElementById("others").selectedOptions].map((one) => one.value);
      run({
        video, text: value("text"), others: others.filter((one) => one !== video), mistakes: document.getElementById("mistakes").checked,
        pins: value("pins").split("\n").map((one) => one.trim()).filter(Boolean), learned: value("learned") || null, model: value("model") || null,
        seen: await text("seen"), parses: await text("parses"),
      });
    });

  const bands = document.getElementById("bands");
  if (!bands) return;
  const film = document.getElementById("film");
  let kept = null, spans = [], pins = new Map(), held = null, living = null;
  const edge = 10;
  const x = (time) => edge + (bands.clientWidth - 2 * edge) * time / kept.duration;
  const time = (at) => Math.min(kept.duration, Math.max(0, (at - edge) / (bands.clientWidth - 2 * edge) * kept.duration));
  const colour = (line) => studio.colours[(line - 1) % studio.colours.length];

  const draw = () => {
    if (!kept) return;
    const scale = window.devicePixelRatio || 1;
    bands.width = bands.clientWidth * scale;
    bands.height = bands.clientHeight * scale;
    const pen = bands.getContext("2d");
    pen.scale(scale, scale);
    for (const span of spans) {
      pen.globalAlpha = 0.25 + 0.75 * span.confidence;
      pen.fillStyle = colour(span.line);
      pen.fillRect(x(span.start), 14, Math.max(1, x(span.end) - x(span.start)), 50);
      pen.globalAlpha = 1;
      pen.fillStyle = getComputedStyle(document.body).color;
      pen.font = "12px system-ui";
      if (x(span.end) - x(span.start) > 16) pen.fillText(String(span.line), x(span.start) + 4, 80);
    }
    for (const at of pins.values()) {
      pen.fillStyle = getComputedStyle(document.body).color;
      pen.beginPath();
      pen.moveTo(x(at) - 5, 2); pen.lineTo(x(at) + 5, 2); pen.lineTo(x(at), 12);
      pen.fill();
      pen.fillRect(x(at) - 1, 2, 2, 62);
    }
    pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--bad");
    pen.fillRect(x(film.currentTime) - 0.5, 0, 1.5, bands.clientHeight);
  };
  const near = (at) => spans.find((span) => Math.abs(x(span.start) - at) < 7);
  bands.addEventListener("pointerdown", (event) => {
    if (!kept) return; // it is not there yet
    held = near(event.offsetX);
    if (held) bands.setPointerCapture(event.pointerId);
    else film.currentTime = time(event.offsetX);
  });
  bands.addEventListener("pointermove", (event) => {
    bands.style.cursor = near(event.offsetX) ? "ew-resize" : "pointer";
    if (!held) return;
    const before = spans[spans.indexOf(held) - 1];
    held.start = time(event.offsetX);
    if (before) before.end = held.start;
    pin(held);
  });
  const pin = (span) => {
    pins.set(span.line, span.start);
    film.currentTime = span.start;
    document.getElementById("again").disabled = false;
    draw();
  };
  // By keys: from line to line, and with shift the beginning of a line moves by a tenth of a second.
  let place = 0;
  const goTo = (number) => {
    place = Math.min(spans.length - 1, Math.max(0, number));
    if (!spans[place]) return;
    film.currentTime = spans[place].start;
    bands.setAttribute("aria-valuenow", spans[place].start.toFixed(2));
    bands.setAttribute("aria-valuetext", `line ${spans[place].line}, ${studio.clock(spans[place].start)} to ${studio.clock(spans[place].end)}: ${kept.result.lines[spans[place].line - 1].text}`);
    draw();
  };
  const shift = (by) => {
    const span = spans[place], before = spans[place - 1];
    if (!span) return;
    span.start = Math.min(span.end, Math.max(before?.start ?? 0, span.start + by));
    if (before) before.end = span.start;
    pin(span);
    goTo(place);
  };
  bands.addEventListener("focus", () => kept && goTo(place));
  bands.addEventListener("keydown", (event) => {
    const keys = {
      ArrowLeft: () => (event.shiftKey ? shift(-0.1) : goTo(place - 1)), ArrowRight: () => (event.shiftKey ? shift(0.1) : goTo(place + 1)),
      Home: () => goTo(0), End: () => goTo(spans.length), Enter: () => film.play(), " ": () => (film.paused ? film.play() : film.pause()),
    };
    if (kept && keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  bands.addEventListener("pointerup", () => { held = null; });
  film.addEventListener("timeupdate", () => {
    draw();
    const here = spans.find((span) => span.start <= film.currentTime && film.currentTime < span.end);
    living?.update();
    document.getElementById("now").textContent = here ? kept.result.lines[here.line - 1].text : "\u00a0";
  });
  document.getElementById("retext").addEventListener("submit", (event) => {
    event.preventDefault();
    if (kept) run({ video: kept.video, text: document.getElementById("new-text").value, others: kept.others, name: kept.name, mistakes: kept.mistakes, model: kept.model, learned: kept.learned, pins: [] });
  });
  const again = (wanted) =>
    kept && run({ video: kept.video, text: kept.text, others: kept.others, name: kept.name, mistakes: kept.mistakes, model: kept.model, parses: kept.parses, seen: kept.seen, learned: kept.learned, pins: wanted });
  document.getElementById("again").addEventListener("click", () =>
    again([...pins].map(([line, at]) => `${line}=${at.toFixed(3)}`)));
  document.getElementById("clear").addEventListener("click", () => again([]));
  window.addEventListener("resize", draw);
  bands.setAttribute("aria-busy", "true");
  studio.ask(`/api/v1/alignments/${bands.dataset.name}`).then((found) => {
    kept = found;
    spans = kept.result.lines.flatMap((line) => line.spans.map((span) => ({ ...span, line: line.line })));
    spans.sort((one, other) => one.start - other.start);
    for (const pin of kept.pins) {
      const [line, at] = pin.split("=");
      if (!Number.isNaN(Number(at))) pins.set(Number(line), Number(at));
    }
    const happened = (line) => (line.happened ? line.spans.map((one) => `${studio.clock(one.start)}–${studio.clock(one.end)}`).join(", ") : "did not happen");
    const chances = kept.result.belongs?.happens ?? [];
    const judged = chances.some((chance) => chance !== null);
    const doubt = (line) => (judged && chances[line.line - 1] === null ? "; cannot tell whether it happens" : "");
    living = studio.living(document.getElementById("living"), film, { pieces: kept.result.lines.map((line) => (
      { text: `${line.line}. ${line.text} (${happened(line)}${doubt(line)})`, participant: line.line - 1, spans: line.spans })) });
    document.querySelector("#living .living").classList.add("rows");
    draw();
    bands.removeAttribute("aria-busy");
  }).catch((error) => studio.fail(problem, error));
})();
