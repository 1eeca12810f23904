// How a detector looks: its network is chosen or sent where it needs one.
"use strict";

(() => {
  const detector = document.getElementById("detector");
  const network = document.getElementById("network");
  const file = document.getElementById("network-file");
  const fit = () => {
    const needed = detector.value === "onnx";
    document.getElementById("network-of").hidden = !needed;
    for (const label of document.querySelectorAll(".network-file")) label.hidden = !needed || network.value !== "";
  };
  detector.addEventListener("change", fit);
  network.addEventListener("change", fit);
  fit();
  // The name of the network to look with; a file that was chosen is sent first.
  studio.network = async () => {
    if (detector.value !== "onnx") return null;
    if (network.value) return network.value;
    if (!file.files.length) throw new Error("Choose an ONNX file for the onnx detector.");
    const body = new FormData();
    body.append("model", file.files[0]);
    const labels = document.getElementById("network-labels").files[0];
    if (labels) body.append("labels", labels);
    const kept = await studio.ask("/api/v1/uploads/networks", { method: "POST", body });
    network.prepend(new Option(kept.title, kept.name, true, true));
    fit();
    return kept.name;
  };
})();
