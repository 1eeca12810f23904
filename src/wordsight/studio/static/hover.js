// What is known of whatever is pointed at in the player: a box, or a word at a moment.
"use strict";

studio.hover = (player) => {
  const place = document.getElementById("hover");
  const moments = new Map(); // answers by frame, so that moving back asks nothing
  let asked = 0;

  const moment = (time) => {
    const key = time.toFixed(3);
    if (!moments.has(key)) {
      if (moments.size > 300) moments.clear();
      moments.set(key, studio.ask(`/api/v1/videos/${player.video}/moment?time=${key}`));
    }
    return moments.get(key);
  };
  const node = (kind, text = "", name = "") => {
    const made = document.createElement(kind);
    made.textContent = text;
    made.className = name;
    return made;
  };
  const facts = (rows) => {
    const list = node("dl", "", "facts");
    for (const { feature, text, about } of rows) {
      const title = node("dt", feature.replaceAll("-", " "));
      title.title = about;
      list.append(title, node("dd", text));
    }
    return list;
  };
  const shared = (one, other) => {
    const width = Math.min(one[2], other[2]) - Math.max(one[0], other[0]);
    const height = Math.min(one[3], other[3]) - Math.max(one[1], other[1]);
    if (width <= 0 || height <= 0) return 0;
    const area = ([x1, y1, x2, y2]) => (x2 - x1) * (y2 - y1);
    return width * height / (area(one) + area(other) - width * height);
  };
  // Boxes that are drawn and things that are measured are matched by where they are.
  const thingOf = (found, box) => {
    const best = found.things.map((thing, number) => [shared(thing.box, box), number]).sort((a, b) => b[0] - a[0])[0];
    return best && best[0] > 0.3 ? best[1] : -1;
  };
  // picked-up(p0,p1) is said of a person and a backpack; a noun is said of what it names anyway.
  const named = (word) => {
    const entry = word.word.split("(")[0];
    const cast = word.participants.map((number) => player.tracks[number]?.label ?? "something");
    return cast.length === 1 && cast[0] === entry ? entry : `${entry}(${cast.join(", ")})`;
  };
  const frameOf = (time) => {
    let best = 0;
    player.times.forEach((each, number) => { if (Math.abs(each - time) < Math.abs(player.times[best] - time)) best = number; });
    return best;
  };
  const stateOf = (word, time) => {
    const likely = word.probabilities[frameOf(time)] ?? [];
    const span = word.spans.find((one) => one.start <= time && time < one.end) ?? word.spans.at(-1);
    if (!span) return { text: "nothing is seen", likely };
    const share = likely[span.state] ?? 0;
    return { text: `state ${span.state + 1} of ${span.states}, probability ${share.toFixed(2)}`, likely };
  };
  const bars = (likely) => {
    const strip = node("span", "", "likely");
    strip.setAttribute("aria-hidden", "true");
    for (const share of likely) {
      const bar = node("span");
      bar.style.height = `${Math.max(4, 100 * share)}%`;
      strip.append(bar);
    }
    return strip;
  };
  const wordLine = (word, time) => {
    const line = node("p", "", "word-at");
    const state = stateOf(word, time);
    const name = node("strong", named(word));
    name.style.borderColor = studio.colours[word.participants[0] % studio.colours.length];
    line.append(name, bars(state.likely), node("span", state.text));
    return line;
  };
  const pairsOf = (found, number, others) =>
    found.pairs.filter((pair) => pair.first === number && (!others || others.includes(pair.second))).map((pair) => {
      const part = node("div");
      part.append(node("h3", `and the ${found.things[pair.second].label}`), facts(pair.features));
      return part;
    });
  const measured = (found, number, title, others) => {
    const part = node("div");
    const thing = found.things[number];
    part.append(node("h3", title), facts([
      { feature: "class", text: `${thing.label}, score ${thing.score.toFixed(2)}`, about: "What the detector takes it for." },
      ...thing.features]));
    return [part, ...pairsOf(found, number, others)];
  };
  const put = (head, parts) => {
    const columns = node("div", "", "columns");
    columns.append(...parts);
    place.replaceChildren(...head, columns);
  };
  // The nearest two are enough to read; who takes part in a sentence comes before all others.
  const nearest = (found, number) => found.pairs.filter((pair) => pair.first === number)
    .sort((a, b) => a.features[0].value - b.features[0].value).slice(0, 2).map((pair) => pair.second);

  return {
    named,
    clear() {
      asked += 1;
      place.replaceChildren();
    },
    async box(picked, time) {
      const mine = ++asked;
      const found = await moment(time).catch(() => null);
      if (mine !== asked || !found) return;
      const number = thingOf(found, picked.box);
      const heading = node("h2", `${picked.label} at ${studio.clock(time)}`);
      const lines = player.words.flatMap((word, row) =>
        picked.track !== undefined && word.participants.includes(picked.track) ? [wordLine(word, time)] : []);
      if (number < 0) {
        put([heading, ...lines, node("p", "Nothing can be measured here.", "dim")], []);
        return;
      }
      const cast = picked.track === undefined ? [] : player.tracks.flatMap((track, other) => {
        const box = other === picked.track ? null : player.boxOf(track, time);
        const at = box ? thingOf(found, box) : -1;
        return at >= 0 ? [at] : [];
      });
      put([heading, ...lines], measured(found, number, "Measured", cast.length ? cast : nearest(found, number)));
    },
    async word(row, time) {
      const mine = ++asked;
      const word = player.words[row];
      const head = [node("h2", `${word.word.split("(")[0]} at ${studio.clock(time)}`), wordLine(word, time)];
      put(head, []);
      const found = await moment(player.times[frameOf(time)] ?? time).catch(() => null);
      if (mine !== asked || !found) return;
      const places = word.participants.map((one) => {
        const box = player.tracks[one] && player.boxOf(player.tracks[one], time);
        return box ? thingOf(found, box) : -1;
      });
      put(head, word.participants.flatMap((one, number) =>
        places[number] < 0 ? [] : measured(found, places[number], player.tracks[one].label, number ? [] : places.slice(1))));
    },
    describe: (row, time) => `${named(player.words[row])}, ${studio.clock(time)}: ${stateOf(player.words[row], time).text}`,
  };
};
