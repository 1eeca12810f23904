// Teaching with pictures and a microphone or words, and naming new pictures.
"use strict";

(() => {
  const problem = document.getElementById("teach-problem");
  const fail = (text) => studio.fail(problem, text);
  const record = document.getElementById("record");
  const heard = document.getElementById("heard");
  let spoken = null, recorder = null;

  // Recordings become plain WAV files, which need no decoder to read.
  const toWav = async (blob) => {
    const context = new AudioContext({ sampleRate: 16000 });
    const sound = await context.decodeAudioData(await blob.arrayBuffer());
    const samples = sound.getChannelData(0);
    const view = new DataView(new ArrayBuffer(44 + 2 * samples.length));
    const text = (at, value) => [...value].forEach((c, i) => view.setUint8(at + i, c.charCodeAt(0)));
    text(0, "RIFF"); view.setUint32(4, 36 + 2 * samples.length, true); text(8, "WAVEfmt ");
    view.setUint32(16, 16, true); view.setUint16(20, 1, true); view.setUint16(22, 1, true);
    view.setUint32(24, 16000, true); view.setUint32(28, 32000, true); view.setUint16(32, 2, true);
    view.setUint16(34, 16, true); text(36, "data"); view.setUint32(40, 2 * samples.length, true);
    samples.forEach((value, i) => view.setInt16(44 + 2 * i, 32767 * Math.max(-1, Math.min(1, value)), true));
    await context.close();
    return new Blob([view], { type: "audio/wav" });
  };
  record.addEventListener("click", async () => {
    if (recorder) { recorder.stop(); return; }
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      const pieces = [];
      recorder = new MediaRecorder(stream);
      recorder.ondataavailable = (event) => pieces.push(event.data);
      recorder.onstop = async () => {
        stream.getTracks().forEach((track) => track.stop());
        recorder = null;
        record.textContent = "● Record";
        record.setAttribute("aria-pressed", "false");
        spoken = await toWav(new Blob(pieces));
        heard.src = URL.createObjectURL(spoken);
        heard.hidden = false;
      };
      recorder.start();
      record.textContent = "■ Stop";
      record.setAttribute("aria-pressed", "true");
    } catch {
      fail("No microphone can be used here; write the word instead.");
    }
  });
  const teach = (picture, word, sound, like) => {
    const body = new FormData();
    body.append("image", picture);
    if (word) body.append("word", word);
    if (like) body.append("like", like);
    if (sound) body.append("sound", sound, "word.wav");
    return studio.ask("/api/v1/attributes/lessons", { method: "POST", body });
  };
  // A folder: what stands or sounds beside a picture is its word, else the folder's name is.
  document.getElementById("folder").addEventListener("change", async (event) => {
    const said = document.getElementById("folder-said");
    const files = [...event.target.files];
    const beside = new Map(files.map((file) => [file.webkitRelativePath, file]));
    const pictures = files.filter((file) => /\.(png|jpe?g)$/i.test(file.name));
    let done = 0;
    try {
      for (const picture of pictures) {
        const stem = picture.webkitRelativePath.replace(/\.[^.]+$/, "");
        const text = beside.get(`${stem}.txt`), sound = beside.get(`${stem}.wav`);
        const word = text ? (await text.text()).trim() : sound ? "" : picture.webkitRelativePath.split("/").at(-2);
        await teach(picture, word, sound);
        said.textContent = `${++done} of ${pictures.length} lessons`;
      }
      location.reload();
    } catch (error) {
      said.textContent = `${done} of ${pictures.length} lessons, then: ${error.message}`;
    }
  });
  document.getElementById("lesson").addEventListener("submit", async (event) => {
    event.preventDefault();
    const word = document.getElementById("word").value.trim();
    if (!word && !spoken) { fail("Say or write a word for the picture."); return; }
    try {
      for (const picture of document.getElementById("pictures").files) await teach(picture, word, spoken);
      location.reload();
    } catch (error) {
      fail(error);
    }
  });
  // Of the pictures chosen, the one whose word would teach most is shown, with likely answers.
  document.getElementById("pool")?.addEventListener("change", async (event) => {
    const files = [...event.target.files];
    const place = document.getElementById("question");
    place.replaceChildren();
    if (!files.length) return;
    const body = new FormData();
    for (const file of files) body.append("images", file);
    try {
      const asked = await studio.ask("/api/v1/attributes/ask", { method: "POST", body });
      const picture = files[asked.picture];
      const image = document.createElement("img");
      image.src = URL.createObjectURL(picture);
      image.alt = picture.name;
      image.width = 160;
      const said = document.createElement("p");
      said.textContent = `${picture.name}. ${asked.text}`;
      const answer = async (word) => {
        if (!word) return;
        try {
          await teach(picture, word, null, asked.like);
          location.reload();
        } catch (error) { fail(error); }
      };
      const buttons = (asked.like ? asked.words : []).map((word) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = word;
        button.addEventListener("click", () => answer(word));
        return button;
      });
      const other = document.createElement("button");
      other.type = "button";
      other.textContent = "Another word";
      other.addEventListener("click", () => answer(prompt(asked.text)?.trim()));
      place.append(image, said, ...buttons, other);
    } catch (error) { fail(error); }
  });
  document.getElementById("learn").addEventListener("click", async () => {
    problem.replaceChildren();
    try {
      const begun = await studio.post("/api/v1/attributes/learn", {
        attributes: Number(document.getElementById("count").value) || null,
        method: document.getElementById("method").value, pictures: document.getElementById("described").value || null,
        maps: document.getElementById("maps").value, seed: Number(document.getElementById("seed").value),
      });
      const job = await studio.job(begun.id, studio.waiting(problem, begun.id));
      if (job.state === "done") location.reload();
      else fail(job.message || "It was cancelled.");
    } catch (error) {
      fail(error);
    }
  });
  const lesson = (image) => `/api/v1/attributes/lessons/${encodeURIComponent(image)}`;
  document.querySelector("ul.cards")?.addEventListener("click", async (event) => {
    const { word, unteach } = event.target.dataset;
    try {
      if (unteach) await studio.ask(lesson(unteach), { method: "DELETE" });
      else if (word) {
        const name = prompt("Which word is it?", event.target.textContent)?.trim();
        if (!name || name === event.target.textContent) return;
        await studio.ask(lesson(word), { method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ word: name }) });
      } else return;
      location.reload();
    } catch (error) { fail(error); }
  });
  for (const button of document.querySelectorAll("[data-rename]"))
    button.addEventListener("click", async () => {
      const name = prompt("How is this word written?", button.dataset.rename)?.trim();
      if (!name || name === button.dataset.rename) return;
      try {
        await studio.post("/api/v1/attributes/rename", { word: button.dataset.rename, name });
        location.reload();
      } catch (error) {
        studio.fail(document.getElementById("learned-problem"), error);
      }
    });
  for (const button of document.querySelectorAll("[data-play]"))
    button.addEventListener("click", () => {
      const played = document.getElementById("played");
      played.src = `/api/v1/attributes/words/${encodeURIComponent(button.dataset.play)}/sound`;
      played.hidden = false;
      played.play();
    });
  for (const id of ["merge", "split"])
    document.getElementById(id)?.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        await studio.post(`/api/v1/attributes/${id}`, Object.fromEntries(new FormData(event.target)));
        location.reload();
      } catch (error) {
        studio.fail(document.getElementById("learned-problem"), error);
      }
    });
  const shown = () => {
    const body = new FormData();
    body.append("image", document.getElementById("new").files[0]);
    body.append("box", document.getElementById("part").value.trim());
    return body;
  };
  const names = document.getElementById("names");
  document.getElementById("name").addEventListener("submit", async (event) => {
    event.preventDefault();
    names.replaceChildren();
    try {
      const found = await studio.ask("/api/v1/attributes/name", { method: "POST", body: shown() });
      names.replaceChildren(...found.attributes.map((one) => studio.node("p", one.known
        ? `${one.word} (${Math.round(100 * one.confidence)} %)`
        : `No taught word fits; the nearest is ${one.word}.`, one.known ? "yes" : "dim")));
    } catch (error) {
      studio.fail(names, error);
    }
  });
  document.getElementById("say").addEventListener("click", async () => {
    const voice = document.getElementById("said-names");
    voice.hidden = true;
    names.replaceChildren();
    try {
      if (!document.getElementById("new").files.length) throw new Error("Choose a picture first.");
      const answer = await fetch("/api/v1/attributes/say", { method: "POST", body: shown() });
      if (!answer.ok) throw await studio.refused(answer);
      voice.src = URL.createObjectURL(await answer.blob());
      voice.hidden = false;
      voice.play();
    } catch (error) {
      studio.fail(names, error);
    }
  });
})();
