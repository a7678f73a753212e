// The page of a file: windows of long files, links to lines, symbols, the tree of files, its history.
"use strict";

const view = $(".file-view");

// --- lines ---

async function loadWindow(part) {
  if (!part.classList.contains("waiting")) return;
  part.classList.remove("waiting");
  const url = here({ part: "window", first: part.dataset.first, line: "", find: "" });
  url.hash = "";
  try {
    const response = await fetch(url, { headers: { Accept: "text/html" } });
    if (!response.ok) throw new Error(`error ${response.status}`);
    part.innerHTML = await response.text();
    part.style.height = "";
    markLines();
  } catch (error) {
    part.classList.add("waiting");
    report(error);
  }
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

async function loadLines([first, last]) {
  const parts = $$(".window").filter((one) => last >= one.dataset.first && first <= one.dataset.last);
  await Promise.all(parts.slice(0, 10).map(loadWindow));
}

async function goToLines() {
  const lines = readLines();
  if (!lines) return;
  await loadLines([lines[0], lines[0]]);
  markLines();
  $(`#L${lines[0]}`)?.scrollIntoView({ block: lines[1] - lines[0] > 20 ? "start" : "center" });
}

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
  const symbol = event.target.closest(".code .y, .code .d, .code .a, .code .b");
  if (symbol && !String(getSelection())) showSymbol(symbol.textContent.replace(/^[^\w$]+/, ""));
  const ask = event.target.closest(".ask");
  if (ask) showSymbol(ask.dataset.name);
  if (event.target.closest(".panel .close")) closePanel();
  if (event.target.closest(".show-history")) showPart("history");
  if (event.target.closest(".copy-permalink")) copyPermalink();
  if (event.target.closest(".copy-agent")) copyLines();
});

// --- copying ---

// A link that shows the same when the file has changed: as the commit that is checked out has it.
async function copyPermalink() {
  try {
    const [commit, changed] = (await fetchPart("commit", here({ part: "commit", line: "", blame: "" }))).split(" ");
    const lines = readLines();
    await copy(String(here({ at: commit, blame: "", find: "", line: lines ? String(lines[0]) : "" })), "a link at this commit");
    if (changed) say("copied, but the file has changes that are not committed");
  } catch (error) {
    report(error);
  }
}

async function copyLines() {
  const { path, repo } = view.dataset;
  const lines = readLines();
  try {
    if (!lines) {
      const at = here({}).searchParams.get("at") ?? "";
      return copy(`${path}\n\n${await fetchPart("raw", `/raw?${new URLSearchParams({ repo, path, at })}`)}`, "the file");
    }
    await loadLines(lines);
    const text = $$(".code li")
      .filter((row) => Number(row.id.slice(1)) >= lines[0] && Number(row.id.slice(1)) <= lines[1])
      .map((row) => $("code", row).textContent)
      .join("\n");
    copy(`${path}:${lines.join("-")}\n\n${text}`, "the place and its lines");
  } catch (error) {
    report(error);
  }
}

// --- the panel: a symbol, what was found, the history ---

$(".find", view).addEventListener("submit", (event) => {
  event.preventDefault();
  const text = event.target.elements.find.value;
  if (text.trim()) showPart("find", { find: text });
});

async function showPart(part, more = {}) {
  const url = here({ part, line: "", ...more });
  url.hash = "";
  try {
    showLooking();
    openPanel(await fetchPart("panel", url));
    $$("#panel .found a").forEach((link) => link.setAttribute("href", link.hash)); // no need to load the page again
  } catch (error) {
    failPanel(error);
  }
}

async function showSymbol(name) {
  try {
    showLooking();
    openPanel(await fetchPart("panel", `/symbol?${new URLSearchParams({ repo: view.dataset.repo, path: view.dataset.path, name })}`));
    $("#panel .close").focus({ preventScroll: true });
  } catch (error) {
    failPanel(error);
  }
}

// The first look at the code graph of a large repository takes a moment.
function showLooking() {
  if ($("#panel").hidden) openPanel('<p class="soft looking">Looking \u2026</p>');
}

function openPanel(html) {
  const panel = $("#panel");
  panel.innerHTML = html;
  if (!$(".close", panel)) panel.insertAdjacentHTML("afterbegin", '<button type="button" class="close" aria-label="close">\u00d7</button>');
  panel.hidden = false;
}

function failPanel(error) {
  if ($("#panel .looking") && error.name !== "AbortError") closePanel();
  report(error);
}

function closePanel() {
  $("#panel").hidden = true;
}

// --- the side ---

$(".filter", view)?.addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  $$(".outline li", view).forEach((row) => (row.hidden = !row.textContent.toLowerCase().includes(wanted)));
});

const tree = $(".file-tree");
tree.addEventListener(
  "toggle",
  async (event) => {
    const folder = event.target;
    const later = $(":scope > .later", folder);
    if (!folder.open || !later) return;
    const asked = new URLSearchParams({ repo: view.dataset.repo, folder: folder.dataset.folder });
    try {
      const response = await fetch(`/tree?${asked}`, { headers: { Accept: "text/html" } });
      if (!response.ok) throw new Error(`error ${response.status}`);
      later.outerHTML = await response.text();
    } catch (error) {
      report(error);
    }
  },
  true,
);

function showInTree() {
  const current = $("[aria-current]", tree);
  if (current) $("nav", tree).scrollTop = current.offsetTop - $("nav", tree).clientHeight / 2;
  return current;
}
showInTree();

// --- keyboard ---

Object.assign(keys, {
  f: () => $(".find input", view).focus(),
  l: () => $(".filter", view)?.focus(),
  t: () => showInTree()?.focus(),
  b: () => $(".show-blame", view)?.click(),
  h: () => showPart("history"),
  y: copyPermalink,
  c: copyLines,
  Escape: () => ($("#panel").hidden ? document.activeElement?.blur() : closePanel()),
});
