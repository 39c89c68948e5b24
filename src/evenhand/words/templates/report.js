"use strict";
// Everything here adds to a page that can be read without it.
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const page = document.documentElement;
  const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLocaleLowerCase();

  // Light and dark, and paper.
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const toggle = document.getElementById("theme");
  const isDark = () => (page.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const showTheme = () => toggle.setAttribute("aria-pressed", String(isDark()));
  toggle.addEventListener("click", () => {
    page.dataset.theme = isDark() ? "light" : "dark";
    showTheme();
  });
  system.addEventListener("change", showTheme);
  showTheme();
  document.getElementById("print").addEventListener("click", () => window.print());
  all(".buttons, .tools").forEach((part) => { part.hidden = false; });

  // Lists: what is searched for, on which side, in which order.
  const words = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const number = (text) => Number(text.replace(/^[<>]|,/g, "").replace("\u2212", "-"));
  const placeOf = (row) => number(row.querySelector(".place").lastChild.textContent);
  const keyOf = (row, by, cutAt) => {
    const cells = row.querySelector("summary").children;
    if (by === "name") return cells[1].textContent;
    if (by === "near") return Math.abs(placeOf(row) - cutAt - 0.5);
    if (by === "width") {
      const bar = cells[2].querySelector("i");
      return bar ? -parseFloat(bar.style.width) : null;
    }
    const text = cells[2 + Number(by)].lastChild.textContent.trim();
    return text === "" ? null : -number(text);
  };
  const before = (one, two) => {
    if (one === null || two === null) return (one === null) - (two === null);
    return typeof one === "number" ? one - two : words.compare(one, two);
  };
  const makeList = (list) => {
    const body = list.querySelector("ol");
    const [search, sort] = all("input, select", list);
    const status = list.querySelector('[role="status"]');
    const whole = Array.from(body.children);
    const rows = whole.filter((one) => one.matches(".row"));
    const lines = whole.filter((one) => !one.matches(".row"));
    const near = sort.querySelector('[value="near"]');
    const texts = new Map(rows.map((row) => [row, folded(row.querySelector(".who").textContent)]));
    let side = "";
    const show = () => {
      const wanted = folded(search.value.trim());
      let shown = 0;
      for (const row of rows) {
        row.hidden = !texts.get(row).includes(wanted) || (side !== "" && !row.classList.contains(side));
        shown += row.hidden ? 0 : 1;
      }
      status.textContent = shown === rows.length ? "" : `${shown} of ${rows.length} shown`;
      const fate = shown === 1 && rows.find((row) => !row.hidden).querySelector(".fate");
      if (fate) status.textContent = fate.textContent;
    };
    const order = () => {
      const by = sort.value;
      list.classList.toggle("resorted", by !== "");
      lines.forEach((line) => { line.hidden = by !== "" || (side !== "" && !line.matches(".cut")); });
      if (by === "") { body.append(...whole); return; }
      const keyed = rows.map((row) => [keyOf(row, by, near && Number(near.dataset.cut)), row]);
      body.append(...keyed.sort(([one], [two]) => before(one, two)).map(([, row]) => row));
    };
    search.addEventListener("input", show);
    sort.addEventListener("change", order);
    // What is too close to call is an agenda: nearest to the cut first.
    const filter = (wanted) => {
      side = wanted;
      if (near) sort.value = side === "open" ? "near" : "";
      show();
      order();
    };
    const middle = (part) => {
      const box = list.querySelector(".boxed");
      if (!part || !box) return;
      const wanted = part.offsetTop - box.clientHeight / 2;
      const top = rows.find((row) => row.offsetTop >= wanted) || rows[0];
      box.scrollTop = top.offsetTop - rows[0].offsetTop;
    };
    const field = list.parentElement.querySelector(".field svg");
    if (field) field.addEventListener("click", (event) => {
      const { left, width } = field.getBoundingClientRect();
      const rank = 1 + Math.floor((event.clientX - left) / width * rows.length);
      const row = rows.find((one) => placeOf(one) === rank);
      if (row) { mark(row); middle(row); }
    });
    const reset = () => { search.value = ""; sort.value = ""; filter(""); };
    return { filter, reset };
  };
  let filters = [];
  const clear = () => filters.forEach((one) => one.setAttribute("aria-pressed", "false"));
  const [first] = all(".list").map(makeList);

  // Counts filter the first list.
  filters = all(".count[data-side]").map((count) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = count.className;
    button.dataset.side = count.dataset.side;
    button.append(...count.childNodes);
    button.setAttribute("aria-pressed", "false");
    count.replaceWith(button);
    return button;
  });
  filters.forEach((button) => button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") === "false";
    clear();
    button.setAttribute("aria-pressed", String(on));
    first.filter(on ? button.dataset.side : "");
  }));

  // The cut is there only in the whole list.
  all('a[href="#cut"]').forEach((link) => link.addEventListener("click", () => { clear(); first.reset(); }));

  // Choosing an item or a reviewer marks it wherever it is.
  const NAMED = 'li[data-item], li[data-reviewer], a[href^="#item-"], a[href^="#reviewer-"]';
  const mark = (chosen) => {
    const { item, reviewer } = chosen.dataset;
    const id = chosen.hash ? chosen.hash.slice(1) : item ? `item-${item}` : `reviewer-${reviewer}`;
    all(".marked").forEach((one) => one.classList.remove("marked"));
    const row = document.getElementById(id).closest(".row");
    [row, ...all(`a[href="#${id}"]`)].forEach((one) => one.classList.add("marked"));
  };
  const choose = (event) => {
    const chosen = event.target.closest(NAMED);
    if (chosen) mark(chosen);
  };
  document.addEventListener("focusin", choose);
  document.addEventListener("toggle", (event) => {
    if (event.target.open && event.target.matches(".row > details")) choose(event);
  }, true);

  // A link opens what it leads to, wherever that is.
  const go = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || !target.matches(".inside")) return false;
    for (let one = target.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
    const row = target.closest(".row");
    if (row) { row.hidden = false; mark(row); }
    (row || target.closest("details")).scrollIntoView({ block: row ? "center" : "start" });
    return true;
  };
  window.addEventListener("hashchange", go);
  go();
})();
