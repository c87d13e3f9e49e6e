// What a page of holdrank can do beyond reading: sort and search the board, move the threshold slider.
// Names of items come from files: they reach the page as text nodes only.

const SVG = "http://www.w3.org/2000/svg";

// The same numbers stand in views/svg/ladders.py and views/svg/canvas.py.
const PLACES = 62, PRICES = 138, LONG_PRICES = 236, MANY = 24, WIDEST = 980, NARROWEST = 330;
const LONG_ON_PAPER = 30, ON_FIRST_PAPER = 18; // rows of a board
const NARROW_PAGE = 500; // on a phone gaps say only the votes
const LONGEST = 40, SIZE = 13, SAFETY = 1.14, BOLD = 1.2;
const NARROW = new Set("fijlrtI.,:;'|!()[]{} -\"`/\\"), BROAD = new Set("mwMW@%—…");
const DOUBLE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\uff01-\uff60]/u;

/** Return a name on one line, not too long, with everything that is not printed escaped. */
export function named(name, width = LONGEST) {
  const safe = Array.from(name).slice(0, width + 1)
    .map((sign) => (sign !== " " && /[\p{C}\p{Z}]/u.test(sign) ? escaped(sign) : sign)).join("");
  const signs = Array.from(safe);
  return signs.length <= width ? safe || "(no name)" : signs.slice(0, width - 1).join("") + "…";
}

function escaped(sign) {
  const plain = { "\t": "\\t", "\n": "\\n", "\r": "\\r" }[sign];
  if (plain) return plain;
  const code = sign.codePointAt(0), hex = code.toString(16);
  if (code < 0x100) return "\\x" + hex.padStart(2, "0");
  return code < 0x10000 ? "\\u" + hex.padStart(4, "0") : "\\U" + hex.padStart(8, "0");
}

function widthOf(text, size = SIZE) {
  let sum = 0;
  for (const sign of text) {
    if (NARROW.has(sign)) sum += 0.32;
    else if (BROAD.has(sign)) sum += 0.9;
    else if (sign < "\x7f") sum += sign >= "A" && sign <= "Z" ? 0.68 : 0.56;
    else if (/\p{M}/u.test(sign)) sum += 0;
    else sum += DOUBLE.test(sign) || sign.codePointAt(0) > 0xffff ? 1 : 0.65;
  }
  return SAFETY * size * sum;
}

function fitted(text, width) {
  if (widthOf(text) <= width) return text;
  const cut = Array.from(text);
  while (cut.length && widthOf(cut.join("") + "…") > width) cut.pop();
  return cut.join("").trimEnd() + "…";
}

/** Return the tiers that the record reports, as lists of items, best first. */
export function reportedTiers(record) {
  const ranks = (record.tiers || record.consensus).ranks;
  const found = new Map([...new Set(ranks)].sort((a, b) => a - b).map((rank) => [rank, []]));
  for (const item of record.consensus.order) found.get(ranks[item]).push(item);
  return [...found.values()];
}

function cutInto(order, sizes) {
  let start = 0;
  return sizes.map((size) => order.slice(start, (start += size)));
}

const measured = new WeakMap(); // names are measured once, not at every move of the slider

function chipsOf(record) {
  if (!measured.has(record)) {
    measured.set(record, record.items.map((name) => ({ text: named(name), wide: widthOf(named(name)) + 20 })));
  }
  return measured.get(record);
}

function shape(parent, tag, look, places, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(places)) {
    made.setAttribute(name, typeof value === "number" ? String(Math.round(value * 10) / 10) : value);
  }
  if (look) made.setAttribute("class", look);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

/**
 * Return the tier ladder as an SVG element.
 * tiers: lists of items, best first; prices: for each gap {votes, share}, or null; label: the same in words.
 */
export function drawLadder(record, tiers, prices = [], width = WIDEST, label = "") {
  const dense = tiers.length > MANY, slim = width < NARROW_PAGE;
  const [chip, pad, between] = slim && prices.some(Boolean) ? [26, 6, 24] : dense ? [22, 3, 5] : [26, 8, 16];
  const widest = Math.max(0, ...prices.filter(Boolean).map((cost) => widthOf(cost.votes)));
  const right = widest && !slim ? (dense ? LONG_PRICES : Math.max(PRICES, BOLD * widest + 20)) : 0;
  const inside = width - PLACES - right;
  const sheet = document.createElementNS(SVG, "svg"), chips = chipsOf(record);
  let y = 2, first = 1;
  tiers.forEach((tier, k) => {
    const cost = k ? prices[k - 1] : null;
    if (cost) drawGap(sheet, y - between / 2, cost, PLACES + inside, dense, slim);
    const rows = [[]];
    let x = pad;
    for (const item of tier) {
      const wide = Math.min(chips[item].wide, inside - 2 * pad);
      if (x > pad && x + wide > inside - pad) {
        rows.push([]);
        x = pad;
      }
      rows.at(-1).push([x, wide, item]);
      x += wide + 6;
    }
    const high = 2 * pad + rows.length * chip + (rows.length - 1) * 6;
    const last = first + tier.length - 1;
    shape(sheet, "rect", "block", { x: PLACES, y, width: inside, height: high, rx: 7 });
    shape(sheet, "text", "place end", { x: PLACES - 12, y: y + pad + chip / 2 + 4.5 },
      first === last ? String(first) : `${first}–${last}`);
    rows.forEach((row, level) => {
      const top = y + pad + level * (chip + 6);
      for (const [at, wide, item] of row) {
        shape(sheet, "rect", "chip", { x: PLACES + at, y: top, width: wide, height: chip, rx: chip / 2 });
        const name = record.items[item];
        const short = wide < chips[item].wide ? fitted(chips[item].text, wide - 18) : chips[item].text;
        const written = shape(sheet, "text", "middle", { x: PLACES + at + wide / 2, y: top + chip / 2 + 4.5 }, short);
        if (short !== name) shape(written, "title", "", {}, named(name, 400));
      }
    });
    y += high + between;
    first = last + 1;
  });
  const height = Math.ceil(y - between + 2);
  const frame = { class: "picture ladder", role: "img", "aria-label": label, viewBox: `0 0 ${width} ${height}`,
    width: String(width), height: String(height) };
  for (const [name, value] of Object.entries(frame)) sheet.setAttribute(name, value);
  return sheet;
}

function drawGap(sheet, y, cost, end, dense, slim) {
  const whole = cost.share ? `${cost.votes} (${cost.share})` : cost.votes;
  if (slim) { // on a phone the number stands in the gap, so that names have the width
    const start = end - BOLD * widthOf(cost.votes) - 8;
    shape(sheet, "path", "gap", { d: `M${PLACES + 8} ${y}L${Math.round(start)} ${y}` });
    const written = shape(sheet, "text", "price end", { x: end, y: y + 4.5 }, cost.votes);
    if (cost.share) shape(written, "title", "", {}, whole);
    return;
  }
  shape(sheet, "path", "gap", { d: `M${PLACES + 8} ${y}L${end + 10} ${y}` });
  if (dense || !cost.share) {
    shape(sheet, "text", "small price", { x: end + 16, y: y + 4 }, whole);
  } else {
    const written = shape(sheet, "text", "price", { x: end + 16, y: y - 1 }, cost.votes);
    if (widthOf(cost.share, 11.5) <= PRICES - 18) {
      shape(sheet, "text", "small soft", { x: end + 16, y: y + 14 }, cost.share);
    } else {
      shape(written, "title", "", {}, whole);
    }
  }
}

function many(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Return every position of the slider: {theta, tiers}, and which of them the record reports. */
function positions(record) {
  const { order } = record.consensus, path = record.path;
  const found = path.theta.map((theta, k) => ({ theta, tiers: cutInto(order, path.sizes[k]), k }));
  const reported = reportedTiers(record);
  if (record.tiers) {
    const theta = record.tiers.theta + 1e-9;
    const start = Math.max(found.findLastIndex((one) => one.theta <= theta), 0);
    found[start] = { ...found[start], theta: record.tiers.theta, tiers: reported };
    return { found, start };
  }
  // Ties that the threshold 0 makes are more than none.
  if (reported.length !== found[0].tiers.length) found.unshift({ theta: null, tiers: reported, k: -1 });
  return { found, start: 0 };
}

/** Return what a position of the slider says, for eyes and for screen readers. */
function said(record, one) {
  const what = one.theta === null ? "no ties" : `threshold ${Number(one.theta.toPrecision(3))}`;
  return `${what}: ${many(one.tiers.length, "tier")}`;
}

/**
 * Put the threshold slider, and the ladder that follows it, into a container; a ladder that is there is replaced.
 * Returns {input, show(position)}, or null where there is only one position.
 */
export function ladderSlider(container, record) { // what `ladders.slider_data` gives
  if (!record.path || record.path.theta.length < 2) return null;
  const { found, start } = positions(record);
  const before = container.querySelector("svg.ladder");
  const original = before ? before.getAttribute("aria-label") : "";
  const stage = document.createElement("div");
  stage.className = "stage";
  const control = document.createElement("div");
  control.className = "slider";
  const label = document.createElement("label");
  label.textContent = "Threshold";
  const input = document.createElement("input");
  Object.assign(input, { type: "range", min: "0", max: String(found.length - 1), step: "1", value: String(start) });
  const text = document.createElement("span");
  text.className = "slider-text";
  const back = document.createElement("button");
  back.type = "button";
  back.textContent = "as reported";
  label.append(input);
  control.append(label, back, text);

  let drawn = "";
  function show(position) {
    const one = found[position], told = said(record, one);
    const more = (position === start && record.as_reported) || record.weighed[one.k] || "";
    const wide = Math.round(Math.min(Math.max(container.clientWidth || WIDEST, NARROWEST), WIDEST));
    if (drawn === `${position} ${wide}`) return;
    drawn = `${position} ${wide}`;
    const names = (tier) => tier.map((item) => named(record.items[item])).join(", ");
    const words = position === start && original ? original : `${told}.\n${one.tiers.map(names).join("\n")}`;
    // What breaks a gap is known for the tiers that are reported.
    stage.replaceChildren(drawLadder(record, one.tiers, position === start ? record.prices : [], wide, words));
    input.value = String(position);
    input.setAttribute("aria-valuetext", told);
    text.textContent = (more ? `${told}; ${more}` : told).replace(/(\d) %/g, "$1\u00a0%");
    back.disabled = position === start;
  }
  input.addEventListener("input", () => show(Number(input.value)));
  back.addEventListener("click", () => {
    show(start);
    input.focus();
  });
  if (before) before.remove();
  container.prepend(control, stage);
  show(start);
  if (window.ResizeObserver) new ResizeObserver(() => show(Number(input.value))).observe(container);
  return { input, show };
}

// The board: without this script all rows are there, in the order of the ranking.

function made(tag, look, text) {
  const one = document.createElement(tag);
  if (look) one.className = look;
  if (text !== undefined) one.textContent = text;
  return one;
}

function valueOf(cell) {
  if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
  const text = cell.textContent.trim();
  return text === "" || Number.isNaN(Number(text)) ? null : Number(text);
}

/** Make a board sortable and searchable; it begins with its first rows. `state` is what it was like before. */
export function boardTools(box, state = {}) {
  const table = box.querySelector("table.board"), body = table.tBodies[0], first = Number(box.dataset.board);
  const rows = [...body.rows], heads = [...table.tHead.rows[0].cells];
  const names = rows.map((row) => row.querySelector("th.item").textContent.toLowerCase());
  const now = { all: rows.length <= first, query: "", by: -1, down: false, ...state };
  const tools = made("div", "board-tools"), input = made("input"), told = made("p", "told");
  const more = made("button", "board-more");
  input.type = "search";
  input.id = "board-search";
  input.placeholder = "Search";
  input.setAttribute("aria-label", "Search the ranking");
  told.setAttribute("role", "status");
  more.type = "button";

  function show() {
    const found = rows.filter((row, k) => {
      row.hidden = !names[k].includes(now.query);
      return !row.hidden;
    });
    table.classList.toggle("short", !now.all && !now.query);
    told.textContent = now.query ? `${found.length} of ${rows.length}` : "";
    more.hidden = Boolean(now.query) || rows.length <= first;
    more.textContent = now.all ? `Show the first ${first}` : `Show all ${rows.length}`;
    more.setAttribute("aria-expanded", String(now.all));
  }
  function sort() {
    heads.forEach((head, k) => {
      if (k === now.by) head.setAttribute("aria-sort", now.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    const ranked = now.by < 0 || ["rank", "tier"].includes(heads[now.by].classList[0]);
    table.classList.toggle("mixed", !ranked || now.down);
    if (now.by < 0) return;
    const words = heads[now.by].classList.contains("item");
    const keyed = rows.map((row, k) => [words ? names[k] : valueOf(row.cells[now.by]), k]);
    const sign = now.down ? -1 : 1;
    keyed.sort(([a, i], [b, j]) => {
      if (a === null || b === null) return (a === null) - (b === null) || i - j;
      return sign * (words ? a.localeCompare(b) : a - b) || i - j;
    });
    body.append(...keyed.map(([, k]) => rows[k]));
  }
  heads.forEach((head, k) => {
    if (head.classList.contains("places")) return;
    const button = made("button");
    button.type = "button";
    button.setAttribute("aria-label", `Sort by ${head.textContent}`);
    button.addEventListener("click", () => {
      // Numbers where much is good come largest first.
      const down = ["rating", "battles", "overtake"].includes(head.classList[0]);
      [now.down, now.by] = now.by === k ? [!now.down, k] : [down, k];
      sort();
      show();
    });
    head.append(button);
  });
  input.value = now.query;
  input.addEventListener("input", () => {
    now.query = input.value.trim().toLowerCase();
    show();
  });
  more.addEventListener("click", () => {
    now.all = !now.all;
    show();
    if (!now.all) box.scrollIntoView({ block: "nearest" });
  });
  if (rows.length > first) {
    tools.append(input, told);
    table.before(tools);
    table.after(more);
  }
  sort();
  show();
  return { now, input };
}

/** On paper, the first page is a summary: a long board ends there, and continues at the end of `main`. */
export function continueOnPaper(box, main) {
  const table = box.querySelector("table.board"), body = table.tBodies[0];
  const note = made("p", "soft small");
  let rest = null;
  window.addEventListener("beforeprint", () => {
    const later = [...body.rows].slice(ON_FIRST_PAPER);
    if (rest || body.rows.length <= LONG_ON_PAPER) return;
    const copy = table.cloneNode(false), below = made("tbody");
    below.append(...later);
    copy.append(table.tHead.cloneNode(true), below);
    rest = made("section", "rest");
    rest.append(made("h2", "", `The other ${later.length} items`), copy);
    main.append(rest);
    note.textContent = `The other ${later.length} items are on the last pages.`;
    table.after(note);
  });
  window.addEventListener("afterprint", () => {
    if (!rest) return;
    body.append(...rest.querySelector("tbody").rows);
    rest.remove();
    rest = null;
    note.remove();
  });
}

// Pictures say the number of what somebody points at or taps, in the line below them.

/** Show the titles of shapes in the line below a picture, and the pairs of a matrix: `pairs` is what `pairs_data` gives. */
export function readouts(root, pairs) {
  for (const figure of root.querySelectorAll("figure")) {
    const line = figure.querySelector(".readout");
    if (!line) continue;
    const tell = (event) => {
      const shape = event.target.closest("svg.picture *");
      const title = shape && shape.querySelector(":scope > title");
      const matrix = event.target.closest("svg.heatmap");
      const text = title ? title.textContent : matrix && pairs ? pairText(matrix, pairs, event) : "";
      if (text) line.textContent = text;
    };
    figure.addEventListener("pointermove", tell);
    figure.addEventListener("click", tell);
    const matrix = figure.querySelector("svg.heatmap");
    if (matrix && pairs) {
      line.textContent = "Point at a cell, or tap it, for its number.";
      narrow(matrix, figure.clientWidth);
    }
  }
}

/** On a phone the rows of a matrix are numbered, not named: the numbers are those of the board. */
function narrow(matrix, width) {
  if (!width || width >= NARROW_PAGE) return;
  const names = Number(matrix.dataset.names), [, , wide, high] = matrix.getAttribute("viewBox").split(" ").map(Number);
  matrix.setAttribute("viewBox", `${names} 0 ${wide - names} ${high}`);
  matrix.setAttribute("width", String(wide - names));
  matrix.classList.add("narrow");
}

function pairText(matrix, pairs, event) {
  const { left, top, cell, items } = matrix.dataset, back = matrix.getScreenCTM().inverse();
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(back);
  const [i, j] = [point.y - top, point.x - left].map((x) => Math.floor(x / cell));
  if (i < 0 || j < 0 || i >= items || j >= items || i === j) return "";
  const count = pairs.compared[i][j], [upper, lower] = [pairs.names[i], pairs.names[j]];
  if (!count) return `${i + 1} ${upper} and ${j + 1} ${lower}: never compared`;
  const of = pairs.unit ? ` of ${count.toLocaleString("en")} ${count === 1 ? pairs.unit.slice(0, -1) : pairs.unit}` : "";
  return `${i + 1} ${upper} above ${j + 1} ${lower}: ${Number((100 * pairs.share[i][j]).toPrecision(3))} %${of}`;
}
