// What every page shares: speaking to the API, telling what happened, dropping files.
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
    const body = await answer.json().catch(async () => ({ detail: answer.statusText }));
    if (!answer.ok) {
      const detail = body.detail;
      throw new Error(typeof detail === "string" ? detail : detail?.[0]?.msg ?? answer.statusText);
    }
    return body;
  },
  post(address, body) {
    return studio.ask(address, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body ?? {}),
    });
  },
  async job(number, told = () => {}) {
    for (;;) {
      const job = await studio.ask(`/api/v1/jobs/${number}`);
      told(job);
      if (["done", "failed", "cancelled"].includes(job.state)) return job;
      await new Promise((wake) => setTimeout(wake, 400));
    }
  },
  // A job that is watched where it was asked for: a bar, what it is at, and a way to stop it.
  async watch(number, place) {
    place.hidden = false;
    place.querySelector("button").onclick = () => studio.post(`/api/v1/jobs/${number}/cancel`).catch(() => {});
    try {
      return await studio.job(number, (now) => {
        place.querySelector("progress").value = now.progress;
        place.querySelector("[role=status]").textContent = now.message || now.state;
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

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-post], [data-delete]");
  if (!button) return;
  if (button.dataset.ask && !confirm(button.dataset.ask)) return;
  try {
    if (button.dataset.post) await studio.post(button.dataset.post);
    else await studio.ask(button.dataset.delete, { method: "DELETE" });
    if (button.dataset.then) location.href = button.dataset.then;
    document.body.dispatchEvent(new Event("jobs-changed"));
  } catch (error) {
    studio.say(error.message);
  }
});

const drop = document.getElementById("drop");
if (drop) {
  const form = document.getElementById("add");
  const sent = document.getElementById("sent");
  let looking = {};
  const look = async () => ({
    detector: document.getElementById("detector").value,
    network: await studio.network(),
    settings: document.getElementById("settings").value.split(",").map((one) => one.trim()).filter(Boolean),
    rate: Number(document.getElementById("rate").value) || 10,
    force: document.getElementById("force").checked,
  });
  const isVideo = (file) => !/\.(srt|vtt|jsonl|csv|txt|json|xml)$/i.test(file.name);
  // Videos with captions, boxes or a description belong together: all are sent, then added at once.
  const sendAll = async (files) => {
    const batch = [...crypto.getRandomValues(new Uint8Array(8))].map((one) => one.toString(16).padStart(2, "0")).join("");
    let done = 0;
    for (const file of files) {
      await studio.ask(`/api/v1/uploads/${batch}/${encodeURIComponent(file.name)}`, { method: "PUT", body: file });
      sent.value = ++done / files.length;
    }
    const said = document.getElementById("sentence").value.trim();
    const engine = document.getElementById("engine").value || null;
    await studio.post(`/api/v1/uploads/${batch}`, { ...looking, engine, sentences: said ? [said] : [] });
  };
  const send = (file) =>
    new Promise((done, fail) => {
      const asked = new URLSearchParams({ name: file.name });
      const sentence = document.getElementById("sentence").value.trim();
      if (sentence) asked.append("sentence", sentence);
      for (const [name, value] of Object.entries(looking))
        for (const one of [value].flat()) if (one !== null && one !== "") asked.append(name === "settings" ? "setting" : name, one);
      const request = new XMLHttpRequest(); // fetch cannot tell how much was sent
      request.open("POST", `/api/v1/uploads?${asked}`);
      request.upload.onprogress = (event) => { sent.value = event.loaded / event.total; };
      request.onload = () => {
        if (request.status === 202) return done();
        let said = request.responseText;
        try { said = JSON.parse(said).detail; } catch { /* plain text will do */ }
        fail(new Error(said));
      };
      request.onerror = () => fail(new Error("The file could not be sent."));
      request.send(file);
    });
  const take = async (files) => {
    sent.hidden = false;
    let single = files;
    try {
      looking = await look();
      if (!files.every(isVideo) || document.getElementById("engine").value) {
        await sendAll(files);
        studio.say(`${files.length} files were taken in.`);
        single = [];
      }
    } catch (error) {
      studio.say(error.message);
      single = [];
    }
    document.body.dispatchEvent(new Event("jobs-changed"));
    for (const file of single) {
      try {
        await send(file);
        studio.say(`${file.name} was taken in.`);
      } catch (error) {
        studio.say(`${file.name}: ${error.message}`);
      }
      document.body.dispatchEvent(new Event("jobs-changed"));
    }
    sent.hidden = true;
    const panel = document.querySelector("details.panel");
    if (panel) panel.open = true;
    watch();
  };
  const watch = async () => {
    const jobs = await studio.ask("/api/v1/jobs?limit=20");
    const busy = jobs.filter((job) => job.kind === "add" && ["queued", "running"].includes(job.state));
    await Promise.all(busy.map((job) => studio.job(job.id)));
    if (busy.length) location.reload();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    take([...document.getElementById("files").files]);
  });
  const kept = /\.(3gp|m4v|mkv|mov|mp4|ogv|webm|avi|flv|m2ts|mpeg|mpg|ts|wmv|srt|vtt|jsonl)$|\.boxes\.(csv|txt|json|xml)$/i;
  document.getElementById("whole").addEventListener("change", (event) =>
    take([...event.target.files].filter((file) => kept.test(file.name))));
  for (const name of ["dragover", "dragenter"])
    drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    take([...event.dataTransfer.files]);
  });
}
