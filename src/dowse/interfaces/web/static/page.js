// What every page does beyond links and forms: completions, keyboard, copying. Everything is rendered by the server;
// scripts fetch parts of pages and put them in place. hits.js, file.js, graph.js and index.js have what one page does.
"use strict";

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const box = $("#q");

function say(text) {
  const said = $("#said");
  said.textContent = text;
  said.classList.add("on");
  clearTimeout(say.timer);
  say.timer = setTimeout(() => said.classList.remove("on"), 1800);
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`copied ${what}`);
  } catch {
    say("the browser does not allow copying here");
  }
}

// The index that a page needs is being built: the server said how far it is.
const BUILDING_PAUSE_MS = 1000;
class BuildingError extends Error {
  constructor(html) {
    const page = new DOMParser().parseFromString(html, "text/html");
    super(`the index is being built: ${$("#building .lead", page).textContent}`);
    this.howFar = $("#building .lead", page).textContent;
    this.percent = $("#building progress", page).value;
  }
}

// One request of a kind at a time: a newer one cancels the older, so answers never come out of order.
const running = {};
async function fetchPart(kind, url) {
  running[kind]?.abort();
  const control = (running[kind] = new AbortController());
  const response = await fetch(url, { signal: control.signal, headers: { Accept: "text/html" } });
  const text = await response.text();
  if (control.signal.aborted) throw new DOMException("late", "AbortError");
  if (response.redirected && new URL(response.url).pathname === "/sign-in") location.reload();
  if (response.status === 503 && text.includes('id="building"')) throw new BuildingError(text);
  if (!response.ok) throw new Error(response.status === 429 ? "too many requests: wait a second" : `error ${response.status}`);
  return text;
}

function report(error) {
  if (error.name !== "AbortError") say(error.message === "Failed to fetch" ? "the server does not answer" : error.message);
}

async function waitForIndex() {
  try {
    await fetchPart("building", location.href);
    location.reload();
  } catch (error) {
    if (error instanceof BuildingError) {
      $("#building .lead").textContent = error.howFar;
      $("#building progress").value = error.percent;
    } else if (error.message !== "Failed to fetch") return location.reload();
    setTimeout(waitForIndex, BUILDING_PAUSE_MS);
  }
}

if ($("#building")) setTimeout(waitForIndex, BUILDING_PAUSE_MS);

function here(changes) {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  return url;
}

// --- completions ---

const TYPING_PAUSE_MS = 90;
let waiting;
box.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(complete, TYPING_PAUSE_MS);
});
box.form.addEventListener("submit", () => {
  clearTimeout(waiting);
  hideCompletions();
});

const completions = $("#completions");

function hideCompletions() {
  completions.hidden = true;
  completions.replaceChildren();
  box.setAttribute("aria-expanded", "false");
  box.removeAttribute("aria-activedescendant");
}

async function complete() {
  if (!box.value.trim() || box.value.endsWith(" ") || document.activeElement !== box) return hideCompletions();
  try {
    completions.innerHTML = await fetchPart("complete", `/complete?${new URLSearchParams({ q: box.value, repo: here({}).searchParams.get("repo") ?? "" })}`);
    completions.hidden = !completions.children.length || document.activeElement !== box;
    box.setAttribute("aria-expanded", String(!completions.hidden));
  } catch (error) {
    if (error.name !== "AbortError") hideCompletions();
  }
}

function moveCompletion(step) {
  const rows = [...completions.children];
  const at = rows.findIndex((row) => row.getAttribute("aria-selected") === "true");
  rows[at]?.setAttribute("aria-selected", "false");
  const next = rows[(at + step + rows.length + (at < 0 && step < 0 ? 1 : 0)) % rows.length];
  next?.setAttribute("aria-selected", "true");
  box.setAttribute("aria-activedescendant", next?.id ?? "");
}

function takeCompletion(row) {
  box.value = row.dataset.query + (row.dataset.query.endsWith(":") ? "" : " ");
  hideCompletions();
  box.focus();
  box.dispatchEvent(new Event("input"));
}

box.addEventListener("blur", () => setTimeout(hideCompletions, 150));
completions.addEventListener("mousedown", (event) => {
  const row = event.target.closest("li");
  if (row) takeCompletion(row);
  event.preventDefault();
});
box.addEventListener("keydown", (event) => {
  if (completions.hidden) return;
  const chosen = $("[aria-selected=true]", completions);
  if (event.key === "ArrowDown" || event.key === "ArrowUp") moveCompletion(event.key === "ArrowDown" ? 1 : -1);
  else if ((event.key === "Enter" || event.key === "Tab") && chosen) takeCompletion(chosen);
  else if (event.key === "Escape") hideCompletions();
  else return;
  event.preventDefault();
  event.stopPropagation();
});

// --- keyboard ---

const places = { s: "/", g: "/graph", i: "/index", e: "/evaluations" };
let prefix = "";

// What a key does, unless a field has the focus; the scripts of single pages add theirs.
const keys = {
  "/": () => (box.focus(), box.select()),
  o: () => $("#preview .editor, .file-head .editor")?.click(),
  "?": () => $("#keys").showModal(),
  Escape: () => document.activeElement?.blur(),
};

addEventListener("keydown", (event) => {
  const field = event.target.closest("input, select, textarea, dialog[open]");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (field) {
    if (event.key === "Escape" && field.matches("input")) {
      event.preventDefault(); // which would empty the box
      field.blur();
    }
    return;
  }
  const onControl = event.target.closest("a, button, summary");
  if (onControl && event.key === "Enter") return;
  if (prefix === "g" && places[event.key]) location.href = places[event.key];
  else if (event.key !== "g") {
    const act = keys[event.key];
    if (!act) return (prefix = "");
    act();
    event.preventDefault();
  }
  prefix = event.key === "g" && prefix !== "g" ? "g" : "";
});

document.addEventListener("click", (event) => {
  if (event.target.closest(".copy-link")) copy(location.href, "the link");
});

if (matchMedia("(max-width: 760px)").matches) $$(".facets, .pane").forEach((part) => part.removeAttribute("open"));
