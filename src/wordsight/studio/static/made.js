// Files made of a video: asked for by a form or a button, watched while they are made, downloaded.
"use strict";

(() => {
  const place = document.getElementById("making");
  const problem = document.getElementById("making-problem");

  // The seconds that are asked about, where some were chosen.
  const part = () => Object.fromEntries([["start", "from"], ["end", "to"]].map(([name, id]) => [name, document.getElementById(id)?.value])
    .filter(([, value]) => value).map(([name, value]) => [name, Number(value)]));
  const make = async (wanted) => {
    problem.replaceChildren();
    try {
      const begun = await studio.post("/api/v1/made", { video: place.dataset.video, ...wanted });
      const job = await studio.watch(begun.id, document.getElementById("making-now"));
      if (job.state === "done") studio.say(`${job.result.file} is ready.`);
      else throw new Error(job.message || "It was cancelled.");
    } catch (error) {
      studio.fail(problem, error);
    }
    document.body.dispatchEvent(new Event("made"));
  };
  document.addEventListener("click", async (event) => {
    const { make: what, ending, alignment, unmake } = event.target.dataset ?? {};
    if (what) {
      document.getElementById("away").open = true;
      const sentence = what === "film-sentence" && document.getElementById("sentence").value.trim();
      make({ what, ...(ending && { ending }), ...(alignment && { alignment }), ...(sentence && { sentence, ...part() }) });
    }
    if (!unmake) return;
    try {
      await studio.ask(`/api/v1/made/${unmake}`, { method: "DELETE" });
    } catch (error) {
      studio.fail(problem, error);
    }
    document.body.dispatchEvent(new Event("made"));
  });

  const form = document.getElementById("make");
  if (!form) return;
  const what = form.elements.what, ending = form.elements.ending;
  // Only the endings that the chosen file can have.
  const fit = () => {
    ending.replaceChildren(...what.selectedOptions[0].dataset.endings.split(" ").map((one) => new Option(one, one)));
    ending.closest("label").hidden = ending.options.length < 2;
  };
  what.addEventListener("change", fit);
  fit();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    // A film is of the part that is asked about, and of the sentence that stands there.
    const wanted = { what: what.value, ending: ending.value, ...(what.value.startsWith("film") && part()) };
    if (what.value === "film-sentence") {
      wanted.sentence = document.getElementById("sentence").value.trim() || undefined;
      wanted.whole = document.getElementById("whole").checked;
    }
    if (form.elements.everything?.checked) wanted.everything = true;
    make(wanted);
  });
})();
