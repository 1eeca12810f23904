// How a detector looks: its network is chosen or sent where it needs one.
"use strict";

// The fields of a detector inside a form or a dialog.
studio.detectorFields = (place) => {
  const detector = place.querySelector("[name=detector]"), network = place.querySelector("[name=network]");
  const fit = () => {
    const needed = detector.value === "onnx";
    place.querySelector(".network-of").hidden = !needed;
    for (const label of place.querySelectorAll(".network-file")) label.hidden = !needed || network.value !== "";
  };
  detector.addEventListener("change", fit);
  network.addEventListener("change", fit);
  fit();
};
// The name of the network to look with; a file that was chosen is sent first.
studio.network = async (place) => {
  const network = place.querySelector("[name=network]"), file = place.querySelector("[data-file=model]");
  if (place.querySelector("[name=detector]").value !== "onnx") return null;
  if (network.value) return network.value;
  if (!file.files.length) throw new Error("Choose an ONNX file for the onnx detector.");
  const body = new FormData();
  body.append("model", file.files[0]);
  const labels = place.querySelector("[data-file=labels]").files[0];
  if (labels) body.append("labels", labels);
  const kept = await studio.ask("/api/v1/uploads/networks", { method: "POST", body });
  network.prepend(new Option(kept.title, kept.name, true, true));
  return kept.name;
};
for (const form of document.querySelectorAll("form[data-looks]")) studio.detectorFields(form);
