"use strict";
// What the report does where scripts run. Without them the page shows the same: tables as they are, and all triplets.

// ---- Tables: a heading sorts by its column, from the highest, then from the lowest, then as it was.
const NUMBER = /^[\s*]*([-+\u2212]?\d[\d,]*(\.\d+)?)/;

function valueOf(row, place) {
  const cell = row.cells[place];
  return cell ? (cell.dataset.value ?? cell.textContent).trim() : "";
}

function numberIn(text) {
  const found = NUMBER.exec(text);
  return found ? parseFloat(found[1].replace("\u2212", "-").replaceAll(",", "")) : NaN;
}

// A row of the paper's numbers stays below the row that it belongs to.
function groupsOf(body) {
  const groups = [];
  for (const row of body.rows) {
    if (groups.length && valueOf(row, 0) === "paper") groups.at(-1).push(row);
    else groups.push([row]);
  }
  return groups;
}

function sort(groups, place, direction) {
  const texts = new Map(groups.map((group) => [group, valueOf(group[0], place)]));
  const filled = groups.filter((group) => texts.get(group));
  const numeric = filled.every((group) => !Number.isNaN(numberIn(texts.get(group))));
  const order = numeric
    ? (a, b) => numberIn(texts.get(a)) - numberIn(texts.get(b))
    : (a, b) => texts.get(a).localeCompare(texts.get(b), "en", { numeric: true });
  filled.sort((a, b) => (direction === "descending" ? -order(a, b) : order(a, b)));
  return [...filled, ...groups.filter((group) => !texts.get(group))];
}

function makeSortable(table) {
  const body = table.tBodies[0];
  const asItWas = body ? groupsOf(body) : [];
  if (asItWas.length < 2 || !table.tHead) return;
  const headings = [...table.tHead.rows[0].cells].filter((one) => one.tagName === "TH" && one.textContent.trim());
  for (const heading of headings) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    heading.scope = "col";
    button.addEventListener("click", () => {
      const next = { descending: "ascending", ascending: "" }[heading.getAttribute("aria-sort")] ?? "descending";
      for (const other of headings) other.removeAttribute("aria-sort");
      if (next) heading.setAttribute("aria-sort", next);
      const groups = next ? sort(asItWas, heading.cellIndex, next) : asItWas;
      body.append(...groups.flat());
    });
  }
}

// ---- Triplets: a few anchors at a time, and those that have the words that somebody looks for.
const AT_ONCE = 5;

function plain(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

function control(name, text, act) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  button.className = name;
  button.addEventListener("click", act);
  return button;
}

function makeLeaves(details) {
  const leaves = [...details.querySelectorAll(".leaf")];
  const dropped = [...details.querySelectorAll(".dropped tbody tr")];
  if (leaves.length + dropped.length < 2) return;
  const texts = new Map([...leaves, ...dropped].map((one) => [one, plain(one.textContent)]));
  const [bar, label, field, told] = ["p", "label", "input", "output"].map((name) => document.createElement(name));
  let first = 0;
  const turn = (by) => () => { first += by * AT_ONCE; show(); };
  const back = control("back", "Previous", turn(-1));
  const on = control("on", "Next", turn(1));
  function show() {
    const words = plain(field.value).split(/\s+/).filter(Boolean);
    const fits = (one) => words.every((word) => texts.get(one).includes(word));
    const found = leaves.filter(fits);
    first = Math.max(0, Math.min(first, found.length - 1));
    const shown = new Set(found.slice(first, first + AT_ONCE));
    for (const leaf of leaves) leaf.hidden = !shown.has(leaf);
    for (const row of dropped) row.hidden = !fits(row);
    back.disabled = first === 0;
    on.disabled = first + AT_ONCE >= found.length;
    const last = Math.min(first + AT_ONCE, found.length);
    told.textContent = found.length ? `${first + 1} to ${last} of ${found.length} anchors` : "no anchor has these words";
  }
  bar.className = "leaves";
  field.type = "search";
  field.addEventListener("input", () => { first = 0; show(); });
  label.append("Search ", field);
  bar.append(label, back, on, told);
  details.querySelector("summary").after(bar);
  show();
}

for (const table of document.querySelectorAll("main table:not(.texts)")) makeSortable(table);
for (const details of document.querySelectorAll("#triplets details")) makeLeaves(details);
