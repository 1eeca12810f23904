// The page's scripts run once it is read whole. A button pressed before that would do nothing, or
// send its form as plain HTML and lose what was written: keep the press until the scripts are there.
(() => {
  let pressed = null;
  const keep = (event) => {
    const button = event.target.closest?.("button");
    if (!button || button.form?.hasAttribute("action")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    pressed = button;
  };
  addEventListener("click", keep, true);
  document.addEventListener("DOMContentLoaded", () => {
    removeEventListener("click", keep, true);
    pressed?.click();
  }, { once: true });
})();
