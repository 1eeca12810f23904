// Adding films: dropped on any page, each with its own sentences; nothing is sent before "Add".
"use strict";

(() => {
  const isVideo = (file) => !/\.(srt|vtt|jsonl|csv|txt|json|xml)$/i.test(file.name);
  const wanted = /\.(3gp|m4v|mkv|mov|mp4|ogv|webm|avi|flv|m2ts|mpeg|mpg|ts|wmv|srt|vtt|jsonl)$|\.boxes\.(csv|txt|json|xml)$/i;
  const stem = (name) => name.replace(/(\.boxes)?\.[^.]+$/, "");
  let sheet = null, rows = [];

  const open = async () => {
    if (!sheet) {
      const answer = await fetch("/parts/add");
      const place = document.createElement("div");
      place.innerHTML = await answer.text();
      sheet = place.querySelector("dialog");
      document.body.append(sheet);
      studio.detectorFields(sheet);
      sheet.querySelector("#files").addEventListener("change", (event) => show(event.target.files));
      sheet.querySelector("#whole-folder").addEventListener("change", (event) => show([...event.target.files].filter((file) => wanted.test(file.name))));
      sheet.querySelector("[data-close]").addEventListener("click", () => sheet.close());
      sheet.querySelector("form").addEventListener("submit", (event) => { event.preventDefault(); add(); });
    }
    if (!sheet.open) sheet.showModal();
  };
  // Captions and boxes go with the film of the same name; they have no row of their own.
  const show = (files) => {
    const list = sheet.querySelector("#sheet-rows"), all = [...rows.flatMap((row) => [row.file, ...row.beside]), ...files];
    const alone = !all.some(isVideo);
    const films = all.filter((file) => alone || isVideo(file));
    rows = films.map((file) => ({ file, beside: alone ? [] : all.filter((other) => !isVideo(other) && stem(other.name) === stem(file.name)), said: rows.find((row) => row.file === file)?.said?.value ?? "", detector: rows.find((row) => row.file === file)?.detector?.value ?? "" }));
    const together = alone ? [] : all.filter((file) => !isVideo(file) && !films.some((film) => stem(film.name) === stem(file.name)));
    if (together.length && rows.length) rows[0].beside.push(...together); // a metadata.jsonl speaks of all of them
    list.replaceChildren(...rows.map((row, number) => {
      const item = studio.node("li", "", "sheet-row");
      const picture = document.createElement(isVideo(row.file) ? "video" : "span");
      picture.className = "thumb";
      if (isVideo(row.file)) { picture.muted = true; picture.preload = "metadata"; picture.src = `${URL.createObjectURL(row.file)}#t=0.5`; picture.setAttribute("aria-hidden", "true"); }
      const label = studio.node("label", row.file.name + (row.beside.length ? ` with ${row.beside.map((one) => one.name).join(", ")}` : ""), "wide");
      const field = document.createElement("textarea");
      field.className = "short";
      field.value = row.said;
      field.id = `said-${number}`;
      field.placeholder = "The person picked up the backpack.\n0:02-0:05 The person walked.";
      label.append(field);
      row.said = field;
      // A detector of its own; one that needs a network is chosen for all, below.
      const looks = studio.node("label", "Detector"), detector = document.createElement("select");
      detector.append(new Option("as chosen below", ""), ...[...sheet.querySelector("#add-detector").options].filter((one) => one.value !== "onnx").map((one) => new Option(one.text, one.value)));
      detector.value = row.detector;
      detector.id = `detector-${number}`;
      looks.append(detector);
      row.detector = detector;
      const drop = studio.node("button", "Leave out", "quiet");
      drop.type = "button";
      drop.setAttribute("aria-label", `Leave out ${row.file.name}`);
      drop.addEventListener("click", () => { rows = rows.filter((one) => one !== row); show([]); });
      row.state = studio.node("div", "", "sheet-state dim");
      row.state.setAttribute("role", "status");
      item.append(picture, label, looks, drop, row.state);
      return item;
    }));
    sheet.querySelector("button.main").disabled = !rows.length;
    sheet.querySelector("button.main").textContent = rows.length > 1 ? `Add ${rows.length} files` : "Add";
  };
  // "0:02-0:05 text" is said of that time: those lines go along as captions.
  const timed = /^(?:(\d+):)?(\d+(?:\.\d+)?)\s*[-–]\s*(?:(\d+):)?(\d+(?:\.\d+)?)\s+(.+)$/;
  const stamp = (seconds) => new Date(1000 * seconds).toISOString().slice(11, 23);
  const split = (text) => {
    const lines = text.split("\n").map((one) => one.trim()).filter(Boolean);
    const cues = lines.map((line) => line.match(timed)).filter(Boolean)
      .map(([, m1, s1, m2, s2, said]) => `${stamp(60 * (m1 ?? 0) + Number(s1))} --> ${stamp(60 * (m2 ?? 0) + Number(s2))}\n${said}`);
    return { sentences: lines.filter((line) => !timed.test(line)), captions: cues.length ? `WEBVTT\n\n${cues.join("\n\n")}\n` : null };
  };
  const put = (batch, name, body, report) => new Promise((done, fail) => {
    const request = new XMLHttpRequest(); // fetch cannot tell how much was sent
    request.open("PUT", `/api/v1/uploads/${batch}/${encodeURIComponent(name)}`);
    request.upload.onprogress = (event) => report(event.loaded / event.total);
    request.onload = () => {
      if (request.status === 200) return done();
      let said = request.responseText;
      try { said = JSON.parse(said).detail; } catch { /* plain text will do */ }
      fail(new Error(typeof said === "string" ? said : said?.[0]?.msg ?? "It was refused."));
    };
    request.onerror = () => fail(new Error("The file could not be sent."));
    request.send(body);
  });
  // What becomes of a file is told in its own row; the answer is whether it is in the library now.
  const follow = async (begun, place) => {
    try {
      const job = await studio.job(begun.id, studio.waiting(place, begun.id));
      if (job.state !== "done") throw new Error(job.message || "It was cancelled.");
      place.textContent = "Added.";
      return true;
    } catch (error) {
      studio.fail(place, error);
      return false;
    }
  };
  const add = async () => {
    const value = (id) => sheet.querySelector(`#${id}`).value, button = sheet.querySelector("button.main");
    const problem = sheet.querySelector("#add-problem");
    problem.replaceChildren();
    button.disabled = true;
    try {
      const how = {
        detector: value("add-detector"), network: await studio.network(sheet), rate: Number(value("add-rate")) || 10,
        settings: value("add-settings").split(",").map((one) => one.trim()).filter(Boolean), fps: Number(value("add-fps")) || null,
        size: value("add-size").trim() || null, force: sheet.querySelector("#add-force").checked, engine: value("add-engine") || null,
      };
      const sent = [];
      for (const row of [...rows]) {
        const batch = [...crypto.getRandomValues(new Uint8Array(8))].map((one) => one.toString(16).padStart(2, "0")).join("");
        const { sentences, captions } = split(row.said.value);
        const report = (share) => { row.state.textContent = `Sending, ${Math.round(100 * share)} %`; };
        await put(batch, row.file.name, row.file, report);
        for (const other of row.beside) await put(batch, other.name, other, report);
        if (captions) await put(batch, `${stem(row.file.name)}.vtt`, captions, report);
        sent.push(follow(await studio.post(`/api/v1/uploads/${batch}`, { ...how, ...(row.detector.value && { detector: row.detector.value, network: null }), sentences }), row.state));
        rows = rows.filter((one) => one !== row); // it is not sent again
      }
      if ((await Promise.all(sent)).every(Boolean)) {
        sheet.close();
        location.href = "/";
      }
    } catch (error) {
      studio.fail(problem, error);
    }
    button.disabled = !rows.length;
  };
  document.addEventListener("click", (event) => { if (event.target.closest("[data-add]")) open(); });
  const carriesFiles = (event) => event.dataTransfer?.types.includes("Files") && !event.target.closest?.("#drop-picture");
  for (const name of ["dragover", "dragenter"])
    document.addEventListener(name, (event) => { if (carriesFiles(event)) { event.preventDefault(); document.body.classList.add("over"); } });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("over"); });
  document.addEventListener("drop", async (event) => {
    document.body.classList.remove("over");
    if (!carriesFiles(event)) return;
    event.preventDefault();
    const files = [...event.dataTransfer.files];
    await open();
    show(files);
  });
})();
