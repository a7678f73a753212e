// The hits of a search: they come while somebody types, and each can be previewed, expanded, explained and copied.
"use strict";

const REST_PAUSE_MS = 140; // after the first hits, before the rest of them and the preview are asked for
const results = $("#results");

// --- search while typing ---

let resting;
let shown = location.href; // whose hits are there
async function showResults(url, remember) {
  const isTyping = remember === "replace";
  const part = new URL(url);
  part.searchParams.set("part", isTyping ? "first" : "results");
  box.form.classList.add("busy");
  clearTimeout(resting);
  running.rest?.abort();
  try {
    const html = await fetchPart("results", part);
    // half a filter ("lang:p") is no reason to take the hits away from somebody who is still typing
    const isHalf = isTyping && html.includes('class="empty unread"') && $(".list", results);
    if (!isHalf) putResults(html);
    if (remember === "push") history.pushState(null, "", url);
    if (remember === "replace") history.replaceState(null, "", url);
    const query = new URL(url).searchParams.get("q");
    document.title = query ? `${query} \u00b7 dowse` : "dowse";
    if (matchMedia("(max-width: 760px)").matches) $(".facets", results)?.removeAttribute("open");
    scrollTo(0, 0);
    box.form.classList.remove("busy");
    shown = isHalf ? "" : String(url);
    if (isTyping) resting = setTimeout(() => showRest(url), REST_PAUSE_MS);
  } catch (error) {
    if (error instanceof BuildingError) {
      clearTimeout(typing);
      typing = setTimeout(() => showResults(url, remember), BUILDING_PAUSE_MS);
    } else if (error.name !== "AbortError") box.form.classList.remove("busy");
    report(error);
  }
}

// The answer to somebody who types has no preview: the one that is there stays, paler, until its own is asked for.
function putResults(html) {
  const old = $("#preview");
  results.innerHTML = html;
  const preview = $("#preview");
  if (!old?.children.length || !preview || preview.children.length) return;
  preview.replaceWith(old);
  old.classList.toggle("late", old.dataset.place !== describePlace($(".hit.chosen")));
}

async function showRest(url) {
  const part = new URL(url);
  part.searchParams.set("part", "rest");
  showPreview($(".hit.chosen"));
  const list = $(".hits", results);
  if (!list) return;
  try {
    list.insertAdjacentHTML("beforeend", await fetchPart("rest", part));
  } catch (error) {
    report(error);
  }
}

let settled = location.href;
let typing;
if (results) {
  box.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => showResults(here({ q: box.value, page: "", hit: "" }), "replace"), TYPING_PAUSE_MS);
  });
  box.form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(typing);
    const url = here({ q: box.value, page: "", hit: "" });
    if (settled !== url.href) {
      history.replaceState(null, "", settled);
      if (shown === url.href) history.pushState(null, "", url);
      else showResults(url, "push");
      settled = url.href;
    }
    $(".hit") && box.blur();
  });
  addEventListener("popstate", () => {
    settled = location.href;
    box.value = new URL(location.href).searchParams.get("q") ?? "";
    showResults(location.href);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" || event.defaultPrevented || !completions.hidden) return;
    box.blur();
    choose($(".hit.chosen") ?? $(".hit"));
    event.preventDefault();
    event.stopPropagation();
  });
}

// --- one hit ---

function choose(hit) {
  if (!hit) return;
  $$(".hit.chosen").forEach((other) => other.classList.remove("chosen"));
  hit.classList.add("chosen");
  hit.scrollIntoView({ block: "nearest" });
  const number = hit.id.replace("hit-", "");
  history.replaceState(null, "", here({ hit: number === "1" ? "" : number }));
  showPreview(hit);
}

function describePlace(hit) {
  if (!hit) return "";
  const { repo, path, first, last } = hit.dataset;
  return String(new URLSearchParams({ repo, path, first, last, words: $(".hits").dataset.words }));
}

async function showPreview(hit) {
  const preview = $("#preview");
  const place = describePlace(hit);
  if (!place || !preview || preview.dataset.place === place || getComputedStyle(preview).display === "none") return;
  try {
    preview.innerHTML = await fetchPart("preview", `/preview?${place}`);
    preview.dataset.place = place;
    preview.classList.remove("late");
    preview.scrollTop = 0;
  } catch (error) {
    report(error);
  }
}

// All lines of a hit in the list itself, where there is no room for a preview, or to compare hits.
async function expand(hit) {
  if (!hit) return;
  const open = $(".expanded", hit);
  const button = $(".expand-hit", hit);
  if (open) open.remove();
  else {
    try {
      const html = await fetchPart("expanded", `/preview?${describePlace(hit)}`);
      $(".where", hit).insertAdjacentHTML("afterend", `<div class="expanded">${html}</div>`);
    } catch (error) {
      return report(error);
    }
  }
  hit.classList.toggle("is-expanded", !open);
  button?.setAttribute("aria-expanded", String(!open));
}

async function copyForAgent() {
  const hit = $(".hit.chosen");
  let template = $(".hit.chosen .for-agent") ?? $("#preview:not(.late) .for-agent");
  try {
    if (hit && !template) {
      const parsed = new DOMParser().parseFromString(await fetchPart("preview", `/preview?${describePlace(hit)}`), "text/html");
      template = $(".for-agent", parsed);
    }
    if (template) copy(template.content.textContent, "the place and its lines");
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
  if (event.target.closest(".expand-hit")) expand(hit);
  if (hit && !event.target.closest("a, button, summary, table, .expanded") && !String(getSelection())) choose(hit);
  if (event.target.closest(".copy-agent")) {
    if (hit) choose(hit);
    copyForAgent();
  }
});

Object.assign(keys, {
  j: () => step(1),
  k: () => step(-1),
  ArrowDown: () => step(1),
  ArrowUp: () => step(-1),
  Enter: () => $(".hit.chosen .name")?.click(),
  w: () => $(".hit.chosen .why > summary")?.click(),
  x: () => expand($(".hit.chosen")),
  c: copyForAgent,
});

const preview = $("#preview");
if (preview?.children.length) preview.dataset.place = describePlace($(".hit.chosen"));
