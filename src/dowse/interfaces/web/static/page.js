// What the page does beyond links and forms: search while typing, preview, keyboard, windows of long files, symbols,
// live progress. Everything is rendered by the server; this script fetches parts of pages and puts them in place.
"use strict";

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const box = $("#q");
const results = $("#results");

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

// One request of a kind at a time: a newer one cancels the older, so answers never come out of order.
const running = {};
async function fetchPart(kind, url) {
  running[kind]?.abort();
  const control = (running[kind] = new AbortController());
  const response = await fetch(url, { signal: control.signal, headers: { Accept: "text/html" } });
  const text = await response.text();
  if (control.signal.aborted) throw new DOMException("late", "AbortError");
  if (response.redirected && new URL(response.url).pathname === "/sign-in") location.reload();
  if (!response.ok) throw new Error(response.status === 429 ? "too many requests: wait a second" : `error ${response.status}`);
  return text;
}

function report(error) {
  if (error.name !== "AbortError") say(error.message === "Failed to fetch" ? "the server does not answer" : error.message);
}

// --- search ---

function here(changes) {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  return url;
}

let typing;
async function showResults(url, remember) {
  const part = new URL(url);
  part.searchParams.set("part", "results");
  box.form.classList.add("busy");
  try {
    const html = await fetchPart("results", part);
    // half a filter ("lang:p") is no reason to take the hits away from somebody who is still typing
    if (!(remember === "replace" && html.includes('class="empty unread"') && $(".list", results))) results.innerHTML = html;
    if (remember === "push") history.pushState(null, "", url);
    if (remember === "replace") history.replaceState(null, "", url);
    const query = new URL(url).searchParams.get("q");
    document.title = query ? `${query} \u00b7 dowse` : "dowse";
    if (matchMedia("(max-width: 760px)").matches) $(".facets", results)?.removeAttribute("open");
    scrollTo(0, 0);
    box.form.classList.remove("busy");
  } catch (error) {
    if (error.name !== "AbortError") box.form.classList.remove("busy");
    report(error);
  }
}

let settled = location.href;
box.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => {
    complete();
    if (results) showResults(here({ q: box.value, page: "", hit: "" }), "replace");
  }, 90);
});

box.form.addEventListener("submit", (event) => {
  hideCompletions();
  if (!results) return;
  event.preventDefault();
  clearTimeout(typing);
  const url = here({ q: box.value, page: "", hit: "" });
  if (settled !== url.href) {
    history.replaceState(null, "", settled);
    showResults(url, "push");
    settled = url.href;
  }
  $(".hit") && box.blur();
});

addEventListener("popstate", () => {
  if (!results) return;
  settled = location.href;
  box.value = new URL(location.href).searchParams.get("q") ?? "";
  showResults(location.href);
});

// --- completions ---

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
    completions.hidden = !completions.children.length;
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
  if (completions.hidden) {
    if (event.key === "ArrowDown" && results) {
      box.blur();
      choose($(".hit.chosen") ?? $(".hit"));
      event.preventDefault();
    }
    return;
  }
  const chosen = $("[aria-selected=true]", completions);
  if (event.key === "ArrowDown" || event.key === "ArrowUp") moveCompletion(event.key === "ArrowDown" ? 1 : -1);
  else if ((event.key === "Enter" || event.key === "Tab") && chosen) takeCompletion(chosen);
  else if (event.key === "Escape") hideCompletions();
  else return;
  event.preventDefault();
  event.stopPropagation();
});

// --- hits ---

async function choose(hit) {
  if (!hit) return;
  $$(".hit.chosen").forEach((other) => other.classList.remove("chosen"));
  hit.classList.add("chosen");
  hit.scrollIntoView({ block: "nearest" });
  const number = hit.id.replace("hit-", "");
  history.replaceState(null, "", here({ hit: number === "1" ? "" : number }));
  const preview = $("#preview");
  if (!preview || getComputedStyle(preview).display === "none") return;
  const { repo, path, first, last } = hit.dataset;
  try {
    preview.innerHTML = await fetchPart("preview", `/preview?${new URLSearchParams({ repo, path, first, last, words: $(".hits").dataset.words })}`);
    preview.scrollTop = 0;
  } catch (error) {
    report(error);
  }
}

function step(by) {
  const hits = $$(".hit");
  const at = hits.findIndex((hit) => hit.classList.contains("chosen"));
  const next = hits[at < 0 ? 0 : Math.max(0, Math.min(hits.length - 1, at + by))];
  if (next && next !== hits[at]) choose(next);
}

document.addEventListener("click", (event) => {
  const hit = event.target.closest(".hit");
  if (hit && !event.target.closest("a, button, summary, table") && !String(getSelection())) choose(hit);
  if (event.target.closest(".copy-agent")) copyForAgent();
  if (event.target.closest(".copy-link")) copy(location.href, "the link");
  if (event.target.closest(".index-now")) indexNow(event.target.closest(".index-now"));
  if (event.target.closest(".panel .close")) closePanel();
});

function copyForAgent() {
  const template = $("#preview .for-agent");
  if (template) copy(template.content.textContent, "the place and its lines");
}

// --- a file ---

const view = $(".file-view");

async function loadWindow(part) {
  if (!part.classList.contains("waiting")) return;
  part.classList.remove("waiting");
  const url = new URL(location.href);
  url.search = new URLSearchParams({ part: "window", first: part.dataset.first });
  const response = await fetch(url);
  if (response.ok) {
    part.innerHTML = await response.text();
    part.style.height = "";
    markLines();
  } else part.classList.add("waiting");
}

function readLines() {
  const found = location.hash.match(/^#L(\d+)(?:-L?(\d+))?$/);
  if (!found) return null;
  const ends = [Number(found[1]), Number(found[2] ?? found[1])];
  return [Math.min(...ends), Math.max(...ends)];
}

function markLines() {
  $$(".code li.on").forEach((row) => row.classList.remove("on"));
  const lines = readLines();
  if (!lines) return;
  for (let line = lines[0]; line <= Math.min(lines[1], lines[0] + 5000); line++) $(`#L${line}`)?.classList.add("on");
}

async function goToLines() {
  const lines = readLines();
  if (!lines || !view) return;
  const part = $$(".window").find((one) => lines[0] >= one.dataset.first && lines[0] <= one.dataset.last);
  if (part) await loadWindow(part);
  markLines();
  $(`#L${lines[0]}`)?.scrollIntoView({ block: lines[1] - lines[0] > 20 ? "start" : "center" });
}

if (view) {
  const height = parseFloat(getComputedStyle($(".code li") ?? view).height) || 19;
  const watcher = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => loadWindow(entry.target)),
    { rootMargin: "600px" },
  );
  for (const part of $$(".window.waiting")) {
    part.style.height = `${(part.dataset.last - part.dataset.first + 1) * height}px`;
    watcher.observe(part);
  }
  addEventListener("hashchange", goToLines);
  goToLines();
  view.addEventListener("click", (event) => {
    const number = event.target.closest(".code .n");
    const lines = readLines();
    if (number && event.shiftKey && lines) {
      const line = Number(number.textContent);
      location.hash = `L${Math.min(lines[0], line)}-L${Math.max(lines[0], line)}`;
      event.preventDefault();
    }
    const symbol = event.target.closest(".y, .d, .a, .b");
    if (symbol && !String(getSelection())) showSymbol(symbol.textContent.replace(/^[^\w$]+/, ""));
    const ask = event.target.closest(".ask");
    if (ask) showSymbol(ask.dataset.name);
  });
  $(".find", view).addEventListener("submit", (event) => {
    event.preventDefault();
    const text = event.target.elements.find.value;
    if (text.trim()) showFound(text);
  });
  $(".filter", view)?.addEventListener("input", (event) => {
    const wanted = event.target.value.toLowerCase();
    $$(".outline li", view).forEach((row) => (row.hidden = !row.textContent.toLowerCase().includes(wanted)));
  });
}

async function showFound(text) {
  const url = new URL(location.href);
  url.search = new URLSearchParams({ part: "find", find: text });
  url.hash = "";
  try {
    openPanel(await fetchPart("symbol", url));
    $$("#panel .found a").forEach((link) => link.setAttribute("href", link.hash)); // no need to load the page again
  } catch (error) {
    report(error);
  }
}

function openPanel(html) {
  const panel = $("#panel");
  panel.innerHTML = html;
  if (!$(".close", panel)) panel.insertAdjacentHTML("afterbegin", '<button type="button" class="close" aria-label="close">\u00d7</button>');
  panel.hidden = false;
}

async function showSymbol(name) {
  try {
    openPanel(await fetchPart("symbol", `/symbol?${new URLSearchParams({ repo: view.dataset.repo, path: view.dataset.path, name })}`));
    $("#panel .close")?.focus({ preventScroll: true });
  } catch (error) {
    report(error);
  }
}

function closePanel() {
  $("#panel").hidden = true;
}

// --- a drawing: drag to move ---

const drawing = $(".drawing");
if (drawing) {
  const centre = $(".node.centre", drawing)?.getBoundingClientRect();
  const frame = drawing.getBoundingClientRect();
  if (centre) drawing.scrollTo(centre.x - frame.x - frame.width / 2 + centre.width / 2, centre.y - frame.y - frame.height / 2);
  let start = null;
  drawing.addEventListener("pointerdown", (event) => {
    if (!event.target.closest("a")) start = [event.clientX + drawing.scrollLeft, event.clientY + drawing.scrollTop];
  });
  addEventListener("pointermove", (event) => {
    if (!start) return;
    drawing.classList.add("dragged");
    drawing.scrollTo(start[0] - event.clientX, start[1] - event.clientY);
  });
  addEventListener("pointerup", () => {
    start = null;
    drawing.classList.remove("dragged");
  });
}

// --- indexing, with the events that the server sends ---

async function indexNow(button) {
  const action = button.closest(".index-action");
  const bar = $("progress", action);
  const text = $(".progress-text", action);
  button.disabled = true;
  bar.hidden = false;
  bar.removeAttribute("value");
  try {
    const response = await fetch("/api/v1/index", {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
      body: JSON.stringify({ repository: button.dataset.repo }),
    });
    if (!response.ok) throw new Error((await response.json()).detail);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const events = (rest + part.value).split("\n\n");
      rest = events.pop();
      for (const event of events) {
        const [kind, data] = event.split("\ndata: ");
        const values = JSON.parse(data);
        if (kind === "event: problem") throw new Error(values.detail);
        if (kind === "event: done") location.reload();
        if (values.total) bar.value = (100 * values.done) / values.total;
        if (values.message) text.textContent = values.message;
      }
    }
  } catch (error) {
    text.textContent = error.message;
    bar.hidden = true;
    button.disabled = false;
  }
}

// --- keyboard ---

const places = { s: "/", g: "/graph", i: "/index", e: "/evaluations" };
let prefix = "";

const keys = {
  "/": () => (box.focus(), box.select()),
  j: () => step(1),
  k: () => step(-1),
  ArrowDown: () => $(".hits") && step(1),
  ArrowUp: () => $(".hits") && step(-1),
  Enter: () => $(".hit.chosen .name")?.click(),
  w: () => $(".hit.chosen .why > summary")?.click(),
  o: () => $("#preview .editor, .file-head .editor")?.click(),
  c: () => copyForAgent(),
  f: () => $(".find input")?.focus(),
  l: () => $(".filter")?.focus(),
  "?": () => $("#keys").showModal(),
  Escape: () => (view && !$("#panel").hidden ? closePanel() : document.activeElement?.blur()),
};

addEventListener("keydown", (event) => {
  const field = event.target.closest("input, select, textarea, dialog[open]");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (field) {
    if (event.key === "Escape" && field.matches("input")) field.blur();
    return;
  }
  const onControl = event.target.closest("a, button, summary");
  if (onControl && event.key === "Enter") return;
  if (prefix === "g" && places[event.key]) location.href = places[event.key];
  else if (event.key !== "g") {
    const act = keys[event.key];
    if (!act || ((event.key === "ArrowDown" || event.key === "ArrowUp") && !$(".hits"))) return (prefix = "");
    act();
    event.preventDefault();
  }
  prefix = event.key === "g" && prefix !== "g" ? "g" : "";
});

if (matchMedia("(max-width: 760px)").matches) $(".facets, .outline-side details")?.removeAttribute("open");
