// Boxes without pictures: a clock that is played, paused and set like a video element.
"use strict";

studio.blank = (element) => {
  const clock = new EventTarget();
  let time = 0, paused = true, last = 0, rate = 1;
  const duration = Number(element.dataset.duration);
  element.style.aspectRatio = `${element.dataset.width} / ${element.dataset.height}`;
  const tell = (name) => clock.dispatchEvent(new Event(name));
  const tick = (now) => {
    if (paused) return;
    time = Math.min(duration, time + rate * (now - last) / 1000);
    last = now;
    tell("timeupdate");
    if (time >= duration) clock.pause(); else requestAnimationFrame(tick);
  };
  Object.defineProperties(clock, {
    paused: { get: () => paused },
    duration: { value: duration },
    videoWidth: { value: Number(element.dataset.width) },
    videoHeight: { value: Number(element.dataset.height) },
    playbackRate: { get: () => rate, set: (value) => { rate = value; } },
    currentTime: {
      get: () => time,
      set: (value) => { time = Math.min(duration, Math.max(0, value)); tell("seeked"); },
    },
  });
  clock.pause = () => { if (!paused) { paused = true; tell("pause"); } };
  clock.play = () => {
    if (time >= duration) time = 0;
    paused = false;
    last = performance.now();
    tell("play");
    requestAnimationFrame(tick);
  };
  queueMicrotask(() => tell("loadedmetadata")); // once the player listens
  return clock;
};
