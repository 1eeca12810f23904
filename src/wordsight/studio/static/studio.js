// What every page shares: speaking to the API, saying what happened, waiting, playing films.
"use strict";

const studio = {
  say(text) {
    const place = document.getElementById("said");
    place.textContent = text;
    place.classList.add("on");
    clearTimeout(studio.timer);
    studio.timer = setTimeout(() => place.classList.remove("on"), 5000);
  },
  async ask(address, options = {}) {
    let answer;
    try {
      answer = await fetch(address, options);
    } catch {
      throw new Error("The studio does not answer; is it still running?");
    }
    if (!answer.ok) throw await studio.refused(answer);
    return answer.json().catch(() => ({}));
  },
  // Why an answer is none, in words.
  async refused(answer) {
    const { detail } = await answer.json().catch(() => ({}));
    return new Error(typeof detail === "string" ? detail : detail?.[0]?.msg ?? answer.statusText);
  },
  post(address, body) {
    return studio.ask(address, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body ?? {}),
    });
  },
  async job(number, report = () => {}) {
    for (let pause = 60; ; pause = Math.min(400, 2 * pause)) {
      const job = await studio.ask(`/api/v1/jobs/${number}`);
      report(job);
      if (["done", "failed", "cancelled"].includes(job.state)) return job;
      await new Promise((wake) => setTimeout(wake, pause));
    }
  },
  // What went wrong, where it was asked: it stays, and a caret below a line points where it should.
  fail(place, error) {
    const said = studio.node("pre", error.message ?? String(error), "problem");
    said.setAttribute("role", "alert");
    if (/\n\s*\^/.test(said.textContent)) said.classList.add("pointing"); // wrapped, a caret points elsewhere
    place.replaceChildren(said);
  },
  // A place for what went wrong, right behind the button that was pressed.
  beside(button) {
    const kept = button.nextElementSibling;
    if (kept?.classList.contains("beside-problem")) return kept;
    const made = studio.node("div", "", "beside-problem");
    button.after(made);
    return made;
  },
  doing: (job) => job.message || (job.state === "queued" ? "Waiting for its turn …" : "Working …"),
  // A bar, what is being done and a way to stop it, in a place that is empty until then.
  waiting(place, number) {
    const box = studio.node("div", "", "stack waiting");
    const bar = document.createElement("progress");
    bar.max = 1;
    bar.setAttribute("aria-label", "Working");
    const row = studio.node("div", "", "row"), state = studio.node("p", "Waiting …", "dim"), stop = studio.node("button", "Cancel", "quiet");
    state.setAttribute("role", "status");
    stop.type = "button";
    stop.onclick = () => studio.post(`/api/v1/jobs/${number}/cancel`).catch(() => {});
    row.append(state, stop);
    box.append(bar, row);
    place.replaceChildren(box);
    return (now) => {
      if (now.progress > 0) bar.value = now.progress;
      state.textContent = studio.doing(now);
    };
  },
  // A question as a job, which is the answer for now.
  begin(address, body) {
    return studio.ask(address, {
      method: "POST",
      headers: { "Content-Type": "application/json", Prefer: "respond-async" },
      body: JSON.stringify(body),
    });
  },
  // A question that may take a while: what was answered before is gone as soon as it is asked.
  async question(address, body, place) {
    place.replaceChildren();
    const begun = await studio.begin(address, body);
    const job = await studio.job(begun.id, studio.waiting(place, begun.id));
    if (job.state !== "done") throw new Error(job.message || "It was cancelled.");
    place.replaceChildren();
    return job.result;
  },
  verdicts: { likely: "yes", unsure: "maybe", "not likely": "no" },
  // A film that the browser cannot play gets a copy that it can; what is wrong is said on the screen.
  playable(film) {
    const screen = film.closest(".screen"), video = encodeURIComponent(film.dataset.video);
    const place = studio.node("div", "", "unplayable");
    let tried = false;
    const repair = async () => {
      screen.append(place);
      try {
        if (tried) throw new Error("This film cannot be shown here.");
        tried = true;
        const begun = await studio.post(`/api/v1/videos/${video}/playable`);
        const job = await studio.job(begun.id, studio.waiting(place, begun.id));
        if (job.state !== "done") throw new Error(job.message || "It was cancelled.");
        film.src = `/api/v1/videos/${video}/file?copy`;
        film.load();
        place.remove();
      } catch (error) {
        studio.fail(place, error);
      }
    };
    film.addEventListener("error", repair);
    if (film.error) repair();
  },
  // A card whose film plays while it is looked at.
  preview(card) {
    const film = card.querySelector("video");
    const start = Number(card.dataset.start ?? 0), end = Number(card.dataset.end ?? Infinity);
    const play = () => {
      if (!film.src) film.src = film.dataset.src;
      film.play().catch(() => {}); // left again before it could play
    };
    // A fragment says where to stop, but nothing begins again by itself there.
    film.addEventListener("timeupdate", () => {
      if (film.currentTime >= end || film.currentTime < start - 0.5) film.currentTime = start;
    });
    film.addEventListener("pause", () => { if (card.matches(":hover") && film.currentTime >= end - 0.1) play(); });
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return; // the link opens the player
    for (const name of ["mouseenter", "focusin"]) card.addEventListener(name, play);
    for (const name of ["mouseleave", "focusout"]) card.addEventListener(name, () => film.pause());
  },
  // A job that is watched where it was asked for: a bar, what it is at, and a way to stop it.
  async watch(number, place) {
    place.hidden = false;
    place.querySelector("button").onclick = () => studio.post(`/api/v1/jobs/${number}/cancel`).catch(() => {});
    try {
      return await studio.job(number, (now) => {
        place.querySelector("progress").value = now.progress;
        place.querySelector("[role=status]").textContent = studio.doing(now);
      });
    } finally {
      place.hidden = true;
    }
  },
  node(kind, text = "", name = "") {
    const made = document.createElement(kind);
    made.textContent = text;
    if (name) made.className = name;
    return made;
  },
  // Rows of cells as a table with a heading; a cell may be a text, a number or a node.
  table(heads, rows) {
    const table = document.createElement("table");
    table.createTHead().insertRow().append(...heads.map((head) => studio.node("th", head)));
    const body = table.createTBody();
    for (const cells of rows) {
      const row = body.insertRow();
      for (const cell of cells) {
        const made = row.insertCell();
        if (typeof cell === "number") made.className = "num";
        made.append(cell ?? "");
      }
    }
    return table;
  },
  clock(seconds) {
    const tenths = Math.round(seconds * 10);
    const minutes = Math.floor(tenths / 600);
    const rest = ((tenths % 600) / 10).toFixed(1).padStart(4, "0");
    return `${minutes}:${rest}`;
  },
  // On white and on dark ground each stands out by 3 to 1, and its label by 4.5 to 1.
  colours: ["#e4572e", "#2e86ab", "#3d9360", "#9460ae", "#b08300", "#17807a", "#d43a74", "#74861a"],
  inkOn(colour) {
    const light = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] > 0.19 ? "#111111" : "#ffffff";
  },
};

for (const film of document.querySelectorAll("video#film[data-video]")) studio.playable(film);
for (const card of document.querySelectorAll(".card[data-preview]")) studio.preview(card);

document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && document.querySelector("details.menu[open]");
  if (menu) { menu.open = false; menu.querySelector("summary").focus(); return; }
  if (event.key !== "/" || event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey) return;
  const field = document.querySelector("main input[type=search]");
  event.preventDefault();
  if (field) field.focus(); else location.href = "/search";
});

document.addEventListener("click", async (event) => {
  const menu = document.querySelector("details.menu[open]");
  if (menu && !menu.contains(event.target)) menu.open = false;
  const button = event.target.closest("[data-post], [data-delete]");
  if (!button) return;
  if (button.dataset.ask && !confirm(button.dataset.ask)) return;
  try {
    if (button.dataset.post) await studio.post(button.dataset.post);
    else await studio.ask(button.dataset.delete, { method: "DELETE" });
    if (button.dataset.then) location.href = button.dataset.then;
    document.body.dispatchEvent(new Event("jobs-changed"));
  } catch (error) {
    studio.fail(studio.beside(button), error);
  }
});

// On a small screen the row of pages is scrolled to the one that is shown.
document.querySelector(".top nav > [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

// What can be scrolled can be reached by keys.
const scrolled = new ResizeObserver((seen) => {
  for (const { target: one } of seen) {
    if (one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight) one.tabIndex = 0;
    else one.removeAttribute("tabindex");
  }
});
for (const one of document.querySelectorAll(".scroll")) scrolled.observe(one);
