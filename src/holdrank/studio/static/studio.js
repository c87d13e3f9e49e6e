// What the pages of the studio do beyond reading: follow jobs, move sliders, take dropped files.
// The server draws and writes everything; here parts of the same page are exchanged, and text is set as text.

import { boardTools, ladderSlider, readouts } from "/static/holdrank.js";

const followed = new Map();
const delivered = new Map(); // the markup of each part as the server sent it, before anything here touched it
const PAUSE = 400; // milliseconds between two looks at a page that changes
let ladder = null, board = null, looking = null, again = false;

function start() {
  for (const part of document.querySelectorAll("[data-swap]")) delivered.set(part.id, part.outerHTML);
  enhance(document);
  takeDrops();
  chooseKinds();
  for (const form of document.querySelectorAll("form")) form.addEventListener("submit", sent);
}

function enhance(root) {
  const box = root.querySelector("#ladder-box"), data = root.querySelector("#ladder-data");
  if (box && data) ladder = withSlider(box, JSON.parse(data.textContent));
  const table = root.querySelector("[data-board]"), pairs = document.getElementById("pairs-data");
  if (table) board = boardTools(table, board ? board.now : {});
  readouts(root, pairs && JSON.parse(pairs.textContent));
  for (const replay of root.querySelectorAll("[data-replay]")) stepThrough(replay);
  for (const form of root.querySelectorAll("[data-cancel]")) form.addEventListener("submit", cancel);
  for (const job of root.querySelectorAll('[data-job][data-over="no"]')) {
    const seconds = job.querySelector(".job-seconds");
    if (seconds) tick(seconds, parseFloat(seconds.textContent));
    follow(job.dataset.job);
  }
}

function withSlider(box, record) {
  const found = ladderSlider(box, record);
  if (found) found.input.id = "threshold";
  return found && { ...found, reported: Number(found.input.value), record };
}

// Jobs

function follow(id) {
  if (followed.has(id)) return;
  const source = new EventSource(`/jobs/${id}/events`);
  followed.set(id, source);
  let content = -1;
  source.onmessage = (event) => {
    const job = JSON.parse(event.data);
    show(job);
    if (job.content !== content || job.over) look();
    content = job.content;
    if (job.over) source.close();
  };
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) look();
  };
}

function show(job) {
  const box = document.querySelector(`[data-job="${CSS.escape(job.id)}"]`);
  if (!box) return;
  const words = box.querySelector(".job-words"), bar = box.querySelector("progress");
  // Screen readers announce each step once, not of each count.
  if (words.textContent !== job.words) words.textContent = job.words;
  if (bar) bar.value = job.share;
  const count = box.querySelector(".job-count"), seconds = box.querySelector(".job-seconds");
  if (count) count.textContent = job.detail;
  if (seconds) tick(seconds, job.seconds);
}

/** A clock that goes on between two messages: nobody should think that the work has stopped. */
function tick(box, seconds) {
  const began = performance.now() - 1000 * seconds;
  clearInterval(Number(box.dataset.clock));
  const write = () => { box.textContent = `${Math.floor((performance.now() - began) / 1000)} s`; };
  write();
  box.dataset.clock = String(setInterval(() => (box.isConnected ? write() : clearInterval(Number(box.dataset.clock))), 500));
}

async function cancel(event) {
  event.preventDefault();
  const form = event.target;
  for (const button of form.querySelectorAll("button")) button.disabled = true;
  const body = new FormData(form);
  await fetch(form.action, { method: "POST", body, headers: { accept: "application/json" } });
  look();
}

// The page as the server sees it now: parts that differ are exchanged.

function look() {
  if (looking) {
    again = true;
    return;
  }
  again = false;
  looking = exchange().catch(() => {}).then(() => new Promise((done) => setTimeout(done, PAUSE))).then(() => {
    looking = null;
    if (again) look();
  });
}

async function exchange() {
  const answer = await fetch(location.pathname, { headers: { accept: "text/html" } });
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const parts = [...fresh.querySelectorAll("[data-swap]")];
  const stage = document.querySelector("[data-stage]"), now = fresh.querySelector("[data-stage]");
  // Sections that came or went, such as the claims once the votes are read: the page is another one.
  const known = new Set(parts.map((part) => part.id));
  const same = parts.every((part) => delivered.has(part.id)) && [...delivered.keys()].every((id) => known.has(id));
  if (!same || stage?.dataset.stage !== now?.dataset.stage) {
    if (!busy()) location.reload();
    return;
  }
  for (const part of parts) {
    const markup = part.outerHTML;
    if (markup === delivered.get(part.id)) continue;
    delivered.set(part.id, markup);
    put(part);
  }
}

/** Whether somebody is filling in a form, which loading the page again would empty. */
function busy() {
  const at = document.activeElement;
  return Boolean(at && at.matches("textarea, select, input:not([type=range])"));
}

function put(part) {
  const old = document.getElementById(part.id);
  const focus = old.contains(document.activeElement) ? document.activeElement.id : "";
  const open = [...old.querySelectorAll("details")].map((one) => one.open);
  const slider = old.querySelector("#threshold") && ladder;
  const moved = slider && Number(slider.input.value) !== slider.reported ? Number(slider.input.value) : null;
  const made = document.importNode(part, true);
  old.replaceWith(made);
  made.querySelectorAll("details").forEach((one, k) => { one.open = Boolean(open[k]); });
  enhance(made);
  // Who has moved the threshold stays there, as long as the path is the one they were looking at.
  if (moved !== null && ladder && slider.input.max === ladder.input.max) ladder.show(moved);
  if (focus === "board-search") board.input.focus();
  else if (focus) document.getElementById(focus)?.focus();
}

// Replay: one position at a time; each was computed and drawn by the server.

function stepThrough(replay) {
  const frames = [...replay.querySelectorAll(".frame")], control = replay.querySelector(".slider");
  const input = control.querySelector("input"), text = control.querySelector(".slider-text");
  const go = (position) => {
    frames.forEach((frame, k) => { frame.hidden = k !== position; });
    const { amount, moved } = frames[position].dataset;
    const told = moved === "0" ? "the consensus is as before" : `${moved} item${moved === "1" ? "" : "s"} at another place`;
    text.textContent = `${amount} ${replay.dataset.replay}: ${told}`;
    input.value = String(position);
    input.setAttribute("aria-valuetext", amount);
    for (const button of control.querySelectorAll("[data-go]")) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.go) === position));
    }
  };
  input.addEventListener("input", () => go(Number(input.value)));
  for (const button of control.querySelectorAll("[data-go]")) {
    button.addEventListener("click", () => go(Number(button.dataset.go)));
  }
  control.hidden = false;
  go(frames.length - 1);
}

// Forms

function takeDrops() {
  const form = document.querySelector("[data-drop]");
  if (!form) return;
  const input = form.querySelector("input[type=file]");
  for (const kind of ["dragover", "dragenter"]) {
    form.addEventListener(kind, (event) => {
      event.preventDefault();
      form.classList.add("over");
    });
  }
  form.addEventListener("dragleave", () => form.classList.remove("over"));
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    form.classList.remove("over");
    if (!event.dataTransfer.files.length) return;
    input.files = event.dataTransfer.files;
    form.requestSubmit();
  });
  input.addEventListener("change", () => {
    if (input.files.length) form.requestSubmit();
  });
}

/** Who fills in one way to make a claim means that way. */
function chooseKinds() {
  const choose = (kind) => { document.querySelector(`input[name=kind][value=${kind}]`).checked = true; };
  for (const field of document.querySelectorAll("[data-kind]")) {
    field.addEventListener("input", () => choose(field.dataset.kind));
  }
  document.getElementById("claim-text")?.addEventListener("input", () => choose("text"));
}

function sent(event) {
  if (event.defaultPrevented) return;
  // After this turn, so that the button's own name and value are still sent.
  setTimeout(() => {
    for (const button of event.target.querySelectorAll("button")) button.disabled = true;
  });
}

// A page that comes back from the browser's memory is not new: its buttons are still off and its stream is closed.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

start();
