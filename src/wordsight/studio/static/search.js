// Asking, drawing a region, and previews that play while they are looked at.
"use strict";

(() => {
  const form = document.getElementById("search");
  const place = document.getElementById("found");
  const picture = document.getElementById("picture");
  const region = document.getElementById("region");
  const drawing = document.getElementById("drawing");
  let asking = 0;

  async function show(address, options, again = 0) {
    const mine = ++asking;
    place.setAttribute("aria-busy", "true");
    if (!again) place.innerHTML = '<p class="empty dim">Looking …</p>';
    let body;
    try {
      const answer = await fetch(address, options);
      body = await answer.text();
      if (!answer.ok) {
        let detail = body;
        try { detail = JSON.parse(body).detail; } catch { /* plain text will do */ }
        throw new Error(typeof detail === "string" ? detail : detail?.[0]?.msg ?? answer.statusText);
      }
    } catch (error) {
      if (mine === asking) { studio.fail(place, error); place.setAttribute("aria-busy", "false"); }
      return;
    }
    if (mine !== asking) return; // something else was asked meanwhile
    place.innerHTML = body;
    place.querySelectorAll(".moment").forEach(studio.preview);
    place.querySelectorAll(".moment").forEach(drawPart);
    const waits = place.querySelector("[data-job]");
    place.setAttribute("aria-busy", String(!!waits));
    if (!waits || again > 3) return bringToLife(mine);
    const bar = studio.node("div");
    place.prepend(bar);
    const job = await studio.job(waits.dataset.job, studio.waiting(bar, waits.dataset.job)).catch(() => null);
    if (mine !== asking) return;
    if (!job || job.state === "done") { bar.remove(); show(address, options, again + 1); return; }
    // Asked again, it would only begin anew. What was found before it ended stays.
    place.setAttribute("aria-busy", "false");
    place.querySelector(".empty")?.remove();
    if (job.state === "failed") studio.fail(bar, job.message);
    else bar.replaceChildren(studio.node("p", "The search was cancelled.", "dim"));
    bringToLife(mine);
  }

  // The sentence under a moment that it was judged in: its words light up while the preview plays.
  async function bringToLife(mine) {
    const places = [...place.querySelectorAll(".moment [data-sentence]")].slice(0, 12);
    for (const line of places) {
      const { sentence, video, from, to } = line.dataset, card = line.closest(".moment"), film = card.querySelector("video");
      try {
        const job = await studio.job((await studio.begin(`/api/v1/videos/${encodeURIComponent(video)}/track`, { sentence, start: Number(from), end: Number(to) })).id);
        if (mine !== asking) return;
        if (job.state !== "done") continue; // a question has no words that light up: its text stays
        const living = studio.living(line, film, { pieces: job.result.living, times: job.result.times, verdict: card.querySelector("[data-verdict]").textContent });
        film.addEventListener("timeupdate", () => living.update());
        if (!film.src) living.update((Number(card.dataset.start) + Number(card.dataset.end)) / 2); // as the picture shows it
      } catch { return; } // the moments stand there all the same
    }
  }

  // The part of the picture that counted, drawn where it is: of a part of the example that was drawn
  // by its corners, else by its name. A card shows the middle of a picture that is higher than itself.
  function drawPart(card) {
    const part = card.querySelector(".part");
    if (!part) return;
    const { place } = part.dataset, third = (low, high) => (place.includes(low) ? 0 : place.includes(high) ? 2 : 1) / 3;
    const corners = part.dataset.box.split(",").map(Number), { naturalWidth: wide, naturalHeight: high } = image;
    const [x1, y1, x2, y2] = region.value && wide
      ? [corners[0] / wide, corners[1] / high, corners[2] / wide, corners[3] / high]
      : [third("left", "right"), third("top", "bottom"), third("left", "right") + 1 / 3, third("top", "bottom") + 1 / 3];
    const film = card.querySelector("video"), frame = new Image();
    frame.onload = () => {
      const card = film.clientWidth / film.clientHeight, own = frame.naturalWidth / frame.naturalHeight;
      const cut = (value, share) => 100 * Math.min(1, Math.max(0, (value - 0.5) * share + 0.5));
      const [across, down] = [Math.max(1, own / card), Math.max(1, card / own)]; // how much larger it is than what is seen
      const [left, right, top, bottom] = [cut(x1, across), cut(x2, across), cut(y1, down), cut(y2, down)];
      Object.assign(part.style, { left: `${left}%`, top: `${top}%`, width: `${right - left}%`, height: `${bottom - top}%` });
    };
    frame.src = film.poster;
  }

  document.getElementById("index").addEventListener("click", async () => {
    const value = (name) => document.getElementById(name).value;
    const state = document.getElementById("indexing-state");
    const things = value("taught"), number = (name) => (value(name) === "" ? null : Number(value(name)));
    try {
      const begun = await studio.post("/api/v1/search/index", {
        describe: document.getElementById("describe").checked, attributes: things === "attributes", forget: things === "forget",
        language: value("language") || null, models: value("models") || null, components: number("components"), restarts: number("restarts"), engine: value("engine") || null, device: value("device") || null,
      });
      const job = await studio.job(begun.id, studio.waiting(state, begun.id));
      if (job.state !== "done") throw new Error(job.message || "It was cancelled.");
      state.replaceChildren(studio.node("p", "The index is up to date.", "yes"));
    } catch (error) {
      studio.fail(state, error);
    }
  });

  form.addEventListener("submit", (event) => {
    for (const number of [form.elements.weight, form.elements.prune]) { // an empty number is no number
      number.disabled = !number.value;
      setTimeout(() => { number.disabled = false; });
    }
    const files = [...picture.files];
    if (!files.length) return; // words travel in the address, so that a search can be kept
    event.preventDefault();
    const body = new FormData();
    for (const file of files) body.append("image", file);
    for (const name of ["text", "region", "top", "rank"]) body.append(name, form.elements[name].value.trim());
    if (form.elements.exact.checked) body.append("exact", "true");
    if (form.elements.weight.value) body.append("weight", form.elements.weight.value);
    show("/parts/search", { method: "POST", body });
  });
  // Sent, not fetched: a search may begin a job, which no address that is opened may.
  if (place.dataset.ask) show("/parts/search", { method: "POST", body: new URLSearchParams(place.dataset.ask) });

  // The example picture, and a rectangle on it.
  const image = new Image();
  let box = null;

  function paint() {
    const pen = drawing.getContext("2d");
    drawing.width = image.naturalWidth;
    drawing.height = image.naturalHeight;
    pen.drawImage(image, 0, 0);
    if (!box) return;
    pen.lineWidth = Math.max(2, image.naturalWidth / 160);
    pen.fillStyle = "rgb(0 0 0 / .45)";
    pen.beginPath();
    pen.rect(0, 0, drawing.width, drawing.height);
    pen.rect(...box);
    pen.fill("evenodd");
    pen.strokeStyle = "#ffffff";
    pen.strokeRect(...box);
  }

  function readRegion() {
    const values = region.value.split(",").map(Number);
    box = values.length === 4 && values.every(Number.isFinite) && values[2] > 0 && values[3] > 0 ? values : null;
    if (image.naturalWidth) paint();
  }

  function open(address, title) {
    document.getElementById("example").hidden = false;
    for (const id of ["forget", "part-of"]) document.getElementById(id).hidden = false;
    if (title) document.getElementById("example-title").textContent = title;
    image.onload = readRegion;
    image.src = address;
  }

  picture.addEventListener("change", () => {
    document.getElementById("like")?.remove();
    region.value = "";
    const file = picture.files[0];
    const more = picture.files.length - 1;
    if (file) open(URL.createObjectURL(file), more ? `${file.name} and ${more} more.` : `${file.name}. Draw a rectangle to look for a part of it.`);
  });
  region.addEventListener("input", readRegion);
  document.getElementById("forget").addEventListener("click", () => {
    picture.value = "";
    region.value = "";
    document.getElementById("like")?.remove();
    for (const id of ["example", "forget", "part-of"]) document.getElementById(id).hidden = true;
  });
  if (drawing.dataset.src) open(drawing.dataset.src);

  let from = null;
  const at = (event) => {
    const seen = drawing.getBoundingClientRect();
    const within = (value, most) => Math.round(Math.min(Math.max(value, 0), most));
    return [
      within(((event.clientX - seen.left) / seen.width) * drawing.width, drawing.width),
      within(((event.clientY - seen.top) / seen.height) * drawing.height, drawing.height),
    ];
  };
  drawing.addEventListener("pointerdown", (event) => { from = at(event); drawing.setPointerCapture(event.pointerId); });
  drawing.addEventListener("pointermove", (event) => {
    if (!from) return;
    const to = at(event);
    const corner = [Math.min(from[0], to[0]), Math.min(from[1], to[1])];
    const size = [Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1])];
    region.value = size[0] > 3 && size[1] > 3 ? [...corner, ...size].join(",") : "";
    readRegion();
  });
  for (const name of ["pointerup", "pointercancel"]) drawing.addEventListener(name, () => { from = null; });

  const target = document.getElementById("drop-picture");
  for (const name of ["dragover", "dragenter"])
    target.addEventListener(name, (event) => { event.preventDefault(); target.classList.add("over"); });
  target.addEventListener("dragleave", () => target.classList.remove("over"));
  target.addEventListener("drop", (event) => {
    event.preventDefault();
    target.classList.remove("over");
    picture.files = event.dataTransfer.files;
    picture.dispatchEvent(new Event("change"));
  });
})();
