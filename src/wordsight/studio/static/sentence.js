// The living sentence: each piece lights up while it is true in the film, and leads to where it begins.
"use strict";

// place: an element; film: what plays; pieces: texts with a belief for each of the times, or with
// spans in which they are true. Lines of an alignment and facts are pieces like words are.
studio.living = (place, film, { pieces, times = [], verdict = "likely" }) => {
  const at = (time) => {
    let low = 0, high = times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time + 1e-3) low = middle + 1; else high = middle;
    }
    return low - 1;
  };
  const mean = (values) => values.reduce((sum, one) => sum + one, 0) / values.length;
  const belief = (piece, time) => {
    if (piece.spans) return piece.spans.find((one) => one.start <= time && time < one.end)?.confidence ?? 0;
    const row = at(time);
    return row >= 0 && time - times[row] < 0.5 ? piece.belief[row] ?? 0 : 0;
  };
  const seek = (time) => {
    if (film.dataset?.src && !film.src) film.src = film.dataset.src; // a preview that has not played yet
    film.currentTime = time;
  };
  const said = pieces.filter((piece) => piece.spans || piece.belief?.length);
  // The word that fails is that which is least true of all; of a likely sentence none does.
  const failing = verdict === "likely" ? null
    : said.filter((piece) => piece.reason && piece.failing).sort((one, other) => mean(one.belief) - mean(other.belief))[0] ?? null;
  const line = studio.node("p", "", "living");
  const shown = [];
  for (const piece of pieces) {
    if (!said.includes(piece)) { line.append(studio.node("span", piece.text, "plain")); continue; }
    const lead = piece.text.match(/^\s*/)[0];
    if (lead) line.append(lead);
    const [, letters, rest] = piece.text.trim().match(/^(.*?)([.,;!?]*)$/s); // its full stop is not part of a word
    const word = studio.node("button", letters || rest, "lives");
    word.type = "button";
    const colour = studio.colours[(piece.participant ?? 0) % studio.colours.length];
    word.style.setProperty("--own", colour);
    word.style.setProperty("--on-own", studio.inkOn(colour));
    const begins = piece.spans ? piece.spans[0]?.start : piece.begins;
    word.disabled = begins === null || begins === undefined;
    word.title = word.disabled ? piece.reason || "Not true anywhere here" : `From ${studio.clock(begins)}`;
    word.addEventListener("click", () => { seek(begins + 1e-3); });
    if (piece === failing) word.classList.add("fails");
    line.append(word, letters ? studio.node("span", rest, "plain") : "");
    shown.push([piece, word]);
  }
  place.replaceChildren(line);
  if (failing) {
    const name = failing.text.trim().replace(/[.,;!?]+$/, "");
    const why = studio.node("p", `“${name}” fails: ${failing.reason} `, "why no"), span = studio.node("span", "(", "together");
    const [from, to] = failing.failing.map(studio.clock);
    const when = studio.node("button", from === to ? from : `${from}–${to}`, "link");
    when.type = "button";
    when.addEventListener("click", () => { seek(failing.failing[0]); });
    span.append(when, ").");
    why.append(span);
    place.append(why);
  } else if (verdict === "not likely" && said.length)
    place.append(studio.node("p", "No single word fails, but together they fit less well than where such a sentence is true.", "why no"));
  const update = (time = film.currentTime) => {
    for (const [piece, word] of shown) {
      const share = belief(piece, time);
      word.style.setProperty("--share", `${Math.round(100 * share)}%`);
      word.classList.toggle("lit", share >= 0.5);
      word.setAttribute("aria-pressed", String(share >= 0.5));
    }
  };
  update();
  return { update, failing };
};
