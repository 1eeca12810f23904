// The film with what is seen in it, drawn on a canvas in step with the frame that is shown.
"use strict";

(() => {
  const screen = document.getElementById("screen");
  const element = document.getElementById("film");
  const film = element.tagName === "VIDEO" ? element : studio.blank(element); // boxes may come without pictures
  studio.film = film;
  const canvas = document.getElementById("overlay");
  const timeline = document.getElementById("timeline");
  const seek = document.getElementById("seek");
  const video = encodeURIComponent(screen.dataset.video);
  const frame = 1 / Number(screen.dataset.rate || 25);
  let seen = null; // what the detector saw
  let tracks = []; // who is who, once a sentence was asked
  let words = []; // states of its words over time
  let times = []; // of the frames their states are known in
  let picked = null; // the box that is pointed at
  let cursor = null; // the word and the time that are pointed at
  const left = 150; // pixels for the words beside their states
  let shown = 0; // time of the frame on the screen

  const at = (times, time) => {
    // The last entry that is not later than the time, found by halving.
    let low = 0, high = times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time + 1e-3) low = middle + 1; else high = middle;
    }
    return low - 1;
  };

  // Between two frames that were looked at, a box goes straight from one place to the other.
  const boxOf = (track, time) => {
    const place = at(track.times, time);
    if (place < 0 || time - track.times[place] >= 0.5) return null;
    const [here, there] = [track.boxes[place], track.boxes[place + 1]];
    const gap = track.times[place + 1] - track.times[place];
    if (!there || gap > 0.5) return here;
    const share = Math.max(0, (time - track.times[place]) / gap);
    return here.map((side, number) => side + share * (there[number] - side));
  };
  // Everything with a box in the frame that is shown: who is who first, then what is seen besides.
  const boxesHere = () => {
    const here = tracks.flatMap((track, number) => {
      const box = boxOf(track, shown);
      return box ? [{ box, label: track.label, track: number }] : [];
    });
    const row = seen ? at(seen.times, shown) : -1;
    if (row >= 0 && shown - seen.times[row] < 0.5 && document.getElementById("boxes").checked)
      seen.boxes[row].forEach((box, j) => here.push({ box, label: seen.labels[seen.classes[row][j]] ?? "something" }));
    return here;
  };

  const draw = () => {
    const scale = window.devicePixelRatio || 1;
    canvas.width = canvas.clientWidth * scale;
    canvas.height = canvas.clientHeight * scale;
    const pen = canvas.getContext("2d");
    if (!film.videoWidth) return;
    const fit = Math.min(canvas.width / film.videoWidth, canvas.height / film.videoHeight);
    pen.translate((canvas.width - fit * film.videoWidth) / 2, (canvas.height - fit * film.videoHeight) / 2);
    pen.scale(fit, fit);
    pen.lineWidth = 2 * scale / fit;
    pen.font = `${13 * scale / fit}px system-ui`;
    const box = ([x1, y1, x2, y2], colour, text, dashed) => {
      pen.strokeStyle = colour;
      pen.setLineDash(dashed ? [4 * scale / fit, 4 * scale / fit] : []);
      pen.strokeRect(x1, y1, x2 - x1, y2 - y1);
      if (!text) return;
      const width = pen.measureText(text).width + 8 * scale / fit;
      const height = 17 * scale / fit;
      pen.fillStyle = colour;
      pen.fillRect(x1, Math.max(0, y1 - height), width, height);
      pen.fillStyle = dashed ? "#111111" : studio.inkOn(colour); // what is only seen is labelled on light grey
      pen.fillText(text, x1 + 4 * scale / fit, Math.max(height, y1) - 4 * scale / fit);
    };
    const row = seen ? at(seen.times, shown) : -1;
    const fresh = row >= 0 && shown - seen.times[row] < 0.5;
    if (fresh && document.getElementById("boxes").checked)
      seen.boxes[row].forEach((corners, j) =>
        box(corners, "rgba(220,220,220,.8)", tracks.length ? "" : seen.labels[seen.classes[row][j]], true));
    tracks.forEach((track, number) => {
      const corners = boxOf(track, shown);
      if (corners) box(corners, studio.colours[number % studio.colours.length], track.label, false);
    });
    if (picked) {
      pen.lineWidth *= 2;
      box(picked.box, "#ffffff", "", false);
    }
    drawTimeline();
  };

  const drawTimeline = () => {
    timeline.hidden = !words.length;
    if (!words.length) return;
    const scale = window.devicePixelRatio || 1;
    const row = 22;
    timeline.style.height = `${words.length * row + 8}px`;
    timeline.width = timeline.clientWidth * scale;
    timeline.height = timeline.clientHeight * scale;
    const pen = timeline.getContext("2d");
    pen.scale(scale, scale);
    const width = timeline.clientWidth;
    const x = (time) => left + (width - left - 8) * time / film.duration;
    pen.font = "12px system-ui";
    words.forEach((word, number) => {
      const y = 4 + number * row;
      pen.fillStyle = getComputedStyle(document.body).color;
      pen.fillText(hover.named(word).split("(")[0], 8, y + 14, left - 14);
      word.spans.forEach(({ start, end, state, states }) => {
        pen.fillStyle = studio.colours[word.participants[0] % studio.colours.length]; // as its box
        pen.globalAlpha = states > 1 ? 0.3 + 0.7 * state / (states - 1) : 0.6;
        pen.fillRect(x(start), y, Math.max(1, x(end) - x(start)), row - 5);
      });
      pen.globalAlpha = 1;
    });
    pen.fillStyle = getComputedStyle(document.body).color;
    pen.fillRect(x(shown), 0, 1.5, timeline.clientHeight);
    if (!cursor) return;
    pen.strokeStyle = pen.fillStyle;
    pen.setLineDash([3, 3]);
    pen.strokeRect(x(cursor.time), 2, 0, timeline.clientHeight - 4);
    pen.setLineDash([]);
    pen.strokeRect(2, 2 + cursor.row * row, width - 4, row - 1);
  };

  const player = {
    video, boxOf,
    get tracks() { return tracks; },
    get words() { return words; },
    get times() { return times; },
  };
  const hover = studio.hover(player);
  let last = null; // the box that was pointed at last: a button that asks about it takes the pointer away
  studio.picked = () => last;
  let asked = 0; // when features were last asked for
  const pick = (box) => {
    picked = box;
    if (box) last = box.box;
    if (box) { cursor = null; hover.box(box, shown); asked = Date.now(); } else hover.clear();
    draw();
  };
  // While the film runs, what was pointed at moves on: its features follow, but not at every frame.
  const follow = () => {
    if (!picked) return;
    const middle = ({ box: [x1, y1, x2, y2] }) => [(x1 + x2) / 2, (y1 + y2) / 2];
    const [x, y] = middle(picked);
    const away = (one) => Math.hypot(middle(one)[0] - x, middle(one)[1] - y);
    const same = boxesHere().filter((one) => one.track === picked.track && one.label === picked.label);
    picked = same.sort((one, other) => away(one) - away(other))[0] ?? null;
    if (!picked) hover.clear();
    else if (film.paused || Date.now() - asked > 250) { asked = Date.now(); hover.box(picked, shown); }
  };

  const show = (time) => {
    shown = time;
    if (document.activeElement !== seek || film.paused) seek.value = time;
    document.getElementById("time").value = studio.clock(time);
    follow();
    living?.update(time);
    draw();
  };
  // The browser tells the time of the very frame it shows, so boxes never run ahead of it.
  if (film.requestVideoFrameCallback) {
    const each = (_, frameShown) => { show(frameShown.mediaTime); film.requestVideoFrameCallback(each); };
    film.requestVideoFrameCallback(each);
  } else {
    film.addEventListener("timeupdate", () => show(film.currentTime));
  }
  film.addEventListener("seeked", () => show(film.currentTime));
  // Its length and size may have been known before this script ran.
  const known = (then) => (film.readyState >= 1 ? then() : film.addEventListener("loadedmetadata", then, { once: true }));
  film.addEventListener("loadedmetadata", () => { seek.max = film.duration; draw(); });
  window.addEventListener("resize", draw);

  const play = () => (film.paused ? film.play() : film.pause());
  const step = (count) => { film.pause(); film.currentTime = Math.max(0, film.currentTime + count * frame); };
  const jump = (seconds) => { film.currentTime = Math.min(film.duration, Math.max(0, film.currentTime + seconds)); };
  document.getElementById("play").addEventListener("click", play);
  document.getElementById("back").addEventListener("click", () => step(-1));
  document.getElementById("on").addEventListener("click", () => step(1));
  document.getElementById("boxes").addEventListener("change", draw);
  document.getElementById("speed").addEventListener("change", (event) => { film.playbackRate = Number(event.target.value); });
  seek.addEventListener("input", () => { film.currentTime = Number(seek.value); });
  for (const [event, mark, name] of [["play", "❚❚", "Pause"], ["pause", "▶", "Play"]])
    film.addEventListener(event, () => {
      const button = document.getElementById("play");
      button.textContent = mark;
      button.setAttribute("aria-label", name);
    });
  screen.addEventListener("click", play);
  // One box after the other, for those who point with keys: it stays until the last was shown.
  const next = () => {
    const here = boxesHere();
    const now = here.findIndex((one) => picked && one.track === picked.track && one.box.join() === picked.box.join());
    pick(here[now + 1] ?? null);
  };
  document.getElementById("next-box").addEventListener("click", next);
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey) return;
    if (event.target === timeline || (event.key === " " && event.target.matches("button, summary, a"))) return;
    const keys = {
      " ": play, ArrowLeft: () => jump(-2), ArrowRight: () => jump(2), ",": () => step(-1), ".": () => step(1),
      b: next, Escape: () => pick(null),
    };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  let pointer = null; // where it rests on the film
  const pointed = () => {
    if (!pointer || !film.videoWidth) return;
    const within = screen.getBoundingClientRect();
    const fit = Math.min(within.width / film.videoWidth, within.height / film.videoHeight);
    const x = (pointer.x - within.left - (within.width - fit * film.videoWidth) / 2) / fit;
    const y = (pointer.y - within.top - (within.height - fit * film.videoHeight) / 2) / fit;
    const size = ({ box: [x1, y1, x2, y2] }) => (x2 - x1) * (y2 - y1);
    const under = boxesHere().filter(({ box: [x1, y1, x2, y2] }) => x1 <= x && x <= x2 && y1 <= y && y <= y2);
    // Of boxes inside each other the smallest is meant; who is who comes before what is only seen.
    const best = under.sort((one, other) => (one.track === undefined) - (other.track === undefined) || size(one) - size(other))[0] ?? null;
    if (best?.box.join() !== picked?.box.join()) pick(best);
  };
  screen.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return; // a finger plays; the button shows features
    pointer = { x: event.clientX, y: event.clientY };
    pointed();
  });
  screen.addEventListener("pointerleave", () => { pointer = null; if (picked) pick(null); });
  for (const button of document.querySelectorAll("[data-seek]"))
    button.addEventListener("click", () => { film.currentTime = Number(button.dataset.seek); });
  const timeAt = (at) => Math.min(film.duration, Math.max(0, (at - left) / (timeline.clientWidth - left - 8) * film.duration));
  const point = (row, time) => {
    picked = null;
    cursor = { row: Math.min(words.length - 1, Math.max(0, row)), time };
    hover.word(cursor.row, cursor.time);
    timeline.setAttribute("aria-valuemax", film.duration.toFixed(1));
    timeline.setAttribute("aria-valuenow", time.toFixed(2));
    timeline.setAttribute("aria-valuetext", hover.describe(cursor.row, time));
    draw();
  };
  const leave = () => { cursor = null; hover.clear(); draw(); };
  timeline.addEventListener("click", (event) => { film.currentTime = timeAt(event.offsetX); });
  timeline.addEventListener("pointermove", (event) => {
    if (words.length) point(Math.floor((event.offsetY - 4) / 22), timeAt(event.offsetX));
  });
  timeline.addEventListener("pointerleave", () => { if (document.activeElement !== timeline) leave(); });
  timeline.addEventListener("focus", () => { if (words.length && !cursor) point(0, shown); });
  timeline.addEventListener("blur", leave);
  timeline.addEventListener("keydown", (event) => {
    if (!cursor) return;
    const on = (count) => {
      const now = times.findLastIndex((time) => time <= cursor.time + 1e-3);
      point(cursor.row, times[Math.min(times.length - 1, Math.max(0, now + count))] ?? cursor.time);
    };
    const keys = {
      ArrowLeft: () => on(-1), ArrowRight: () => on(1), Home: () => on(-times.length), End: () => on(times.length),
      ArrowUp: () => point(cursor.row - 1, cursor.time), ArrowDown: () => point(cursor.row + 1, cursor.time),
      Enter: () => { film.currentTime = cursor.time; }, " ": play, Escape: leave,
    };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });

  let living = null; // the sentence that was asked, as it lights up
  const livingPlace = document.getElementById("living"), share = document.getElementById("share");
  const ask = document.getElementById("ask");
  const sentence = document.getElementById("sentence");
  const answer = document.getElementById("answer");
  const tell = (nodes) => answer.replaceChildren(...nodes);
  const line = (text, kind = "p", name = "") => {
    const node = document.createElement(kind);
    node.textContent = text;
    node.className = name;
    return node;
  };
  // The part of the film that is asked about: all of it where nothing is said.
  const part = () => Object.fromEntries([["start", "from"], ["end", "to"], ["prune", "prune"]]
    .map(([name, id]) => [name, document.getElementById(id).value]).filter(([, value]) => value !== "")
    .map(([name, value]) => [name, Number(value)]).concat(document.getElementById("whole").checked ? [["whole", true]] : []));
  const goTo = (one) => {
    const button = line(`${studio.clock(one.start)}–${studio.clock(one.end)}`, "button", "link");
    button.type = "button";
    button.addEventListener("click", () => { film.currentTime = one.start; });
    return button;
  };
  // Of a long film the answer is about one moment.
  const about = (found) => {
    if (!found.moment) return [];
    const node = line("The film is long; this is where the sentence fits best: ", "p", "dim");
    node.append(goTo(found));
    return [node];
  };
  const verdicts = { likely: "Likely: this happens here.", unsure: "Unsure whether this happens here.", "not likely": "Not likely: this does not seem to happen here." };
  // Whatever was answered before belongs to another question.
  const forget = () => {
    [tracks, words, times, living] = [[], [], [], null];
    livingPlace.replaceChildren();
    share.hidden = true;
    pick(null);
  };
  const followSentence = async () => {
    forget();
    const found = await studio.question(`/api/v1/videos/${video}/track`, { sentence: sentence.value, ...part() }, answer);
    tracks = found.tracks;
    words = found.words;
    times = found.times;
    living = studio.living(livingPlace, film, { pieces: found.living, times, verdict: found.verdict });
    share.hidden = false;
    if (matchMedia("(max-width: 800px)").matches) livingPlace.scrollIntoView({ block: "nearest" });
    const sure = Math.round(100 * Math.min(1, Math.exp(found.score)));
    tell([line(verdicts[found.verdict], "strong", studio.verdicts[found.verdict]),
      line(`Probability ${sure < 1 ? "below 1" : sure} %.`
      + (found.lost > 0 ? ` Not every box was followed: at most ${found.lost.toPrecision(2)} of all explanations is left out.` : ""), "p", "dim"), ...about(found)]);
    if (tracks[0]?.times.length && !led) film.currentTime = tracks[0].times[0];
    led = false;
    draw();
  };
  document.getElementById("copy-link").addEventListener("click", async () => {
    const link = new URL(location.pathname, location.href);
    link.searchParams.set("sentence", sentence.value);
    for (const id of ["from", "to"]) if (document.getElementById(id).value) link.searchParams.set(id, document.getElementById(id).value);
    link.hash = `t=${film.currentTime.toFixed(2)}`;
    history.replaceState(null, "", link);
    const copied = document.getElementById("copied");
    try { await navigator.clipboard.writeText(link.href); copied.textContent = "Copied."; } catch { copied.textContent = "The address above leads here."; }
  });
  const explain = async () => {
    forget();
    const found = await studio.question(`/api/v1/videos/${video}/explain`, { sentence: sentence.value, ...part() }, answer);
    const table = document.createElement("table");
    for (const word of found.words) {
      const row = table.insertRow();
      const fits = word.evidence >= 0.6 ? "fits" : word.evidence >= 0.25 ? "fits a little" : "does not fit";
      row.append(line(word.word.split("(")[0], "td"), line(fits, "td"));
      if (word.word === found.weakest) row.className = "no";
    }
    const when = found.weakest_span ? `, from ${studio.clock(found.weakest_span[0])} to ${studio.clock(found.weakest_span[1])}` : "";
    const why = found.reason ? [line(`Why: ${found.reason}.`)] : [];
    tell([line(`Weakest word: ${found.weakest.split("(")[0]}${when}.`, "strong"), ...why, table, ...about(found)]);
  };
  ask.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await (event.submitter?.value === "explain" ? explain() : followSentence());
    } catch (error) { studio.fail(answer, error); }
  });
  document.getElementById("describe").addEventListener("click", async () => {
    try {
      forget();
      const found = await studio.question(`/api/v1/videos/${video}/describe`, { ...part(), top: Number(document.getElementById("top").value) || 5 }, answer);
      const row = (one) => {
        const node = line("");
        const text = line(one.text, "button", "link");
        text.type = "button";
        text.addEventListener("click", () => { sentence.value = one.text; ask.requestSubmit(); });
        node.append(text, " ", line(one.verdict, "span", studio.verdicts[one.verdict]));
        if (one.moment) node.append(" ", goTo(one));
        return node;
      };
      tell(found.sentences.length ? found.sentences.map(row) : [line("Nothing that the learned words can say is judged true here.")]);
    } catch (error) { studio.fail(answer, error); }
  });
  for (const button of document.querySelectorAll("[data-sentence]"))
    button.addEventListener("click", async () => {
      sentence.value = button.dataset.sentence;
      try { await followSentence(); } catch (error) { studio.fail(answer, error); }
    });

  screen.setAttribute("aria-busy", "true");
  studio.ask(`/api/v1/videos/${video}/detections?end=600`)
    .then((found) => { seen = found; draw(); pointed(); }, () => {}) // the pointer may have been there first
    .finally(() => screen.removeAttribute("aria-busy"));

  // A search leads to a moment: #t=12.5
  const moment = Number(new URLSearchParams(location.hash.slice(1)).get("t"));
  let led = moment > 0; // the first answer leads nowhere else
  if (led) known(() => { film.currentTime = moment; });
  // A link may carry a sentence; one on another site only writes it down, since asking takes work.
  const linked = new URLSearchParams(location.search).get("sentence");
  if (linked) sentence.value = linked.slice(0, 500);
  for (const id of ["from", "to"]) { // and the part of the film that it is asked of
    const value = new URLSearchParams(location.search).get(id);
    if (linked && value && Number(value) >= 0) document.getElementById(id).value = value;
  }
  if (linked && screen.dataset.foreign === undefined) ask.requestSubmit();
})();
