"use strict";
// Everything here adds to a page that can be read without it.
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const page = document.documentElement;

  // Light and dark. Charts use the colour of the text, so they follow by themselves.
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
  all(".scriptless").forEach((part) => part.remove());

  // Sorting: stable, numbers as numbers, what is empty last either way.
  const words = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const keyOf = (cell) => {
    if (cell.dataset.k !== undefined) return Number(cell.dataset.k);
    const text = cell.textContent.trim();
    if (text === "") return null;
    if (cell.classList.contains("n")) {
      const number = Number(text.replaceAll(",", ""));
      if (!Number.isNaN(number)) return number;
    }
    return text;
  };
  const compare = (one, two) => {
    if (typeof one === "number" && typeof two === "number") return one - two;
    return words.compare(String(one), String(two));
  };
  const sortBy = (table, place, direction) => {
    const body = table.tBodies[0];
    const sign = direction === "ascending" ? 1 : -1;
    const rows = Array.from(body.rows, (row) => [keyOf(row.cells[place]), row]);
    rows.sort(([one], [two]) => {
      if (one === null || two === null) return (one === null) - (two === null);
      return sign * compare(one, two);
    });
    body.append(...rows.map(([, row]) => row));
  };
  // Lines between groups, and the cut, have a meaning in the order of ranks only.
  const drawLines = (table) => {
    let before = null;
    for (const row of table.tBodies[0].rows) {
      if (row.hidden) continue;
      const crossed = before !== null && before.classList.contains("in");
      row.classList.toggle("edge", before !== null && before.dataset.g !== row.dataset.g);
      row.classList.toggle("cut", crossed && !row.classList.contains("in"));
      before = row;
    }
  };
  const makeSortable = (table) => {
    const heads = Array.from(table.tHead.rows[0].cells);
    const ranked = table.id === "ranking-table";
    heads.forEach((head, place) => {
      const button = document.createElement("button");
      button.type = "button";
      // A button is printed on the first page only; the text is on every one.
      head.dataset.label = head.textContent.trim();
      button.append(...head.childNodes);
      head.append(button);
      const other = { ascending: "descending", descending: "ascending" };
      let next = head.dataset.first || "ascending";
      if (ranked && place === 0) {
        head.setAttribute("aria-sort", "ascending");
        next = "descending";
      }
      button.addEventListener("click", () => {
        const direction = next;
        next = other[next];
        sortBy(table, place, direction);
        heads.forEach((one) => one.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", direction);
        const inOrder = ranked && place === 0 && direction === "ascending";
        table.classList.toggle("resorted", !inOrder);
        if (inOrder) drawLines(table);
      });
    });
    table.classList.add("ready");
  };
  all("table.sortable").forEach(makeSortable);

  // Searching.
  const folded = (text) => text.normalize("NFKC").toLowerCase();
  all("input[data-for]").forEach((input) => {
    const table = document.getElementById(input.dataset.for);
    const count = document.querySelector(`[data-count="${input.dataset.for}"]`);
    const rows = Array.from(table.tBodies[0].rows, (row) => [folded(row.querySelector("th").textContent), row]);
    input.addEventListener("input", () => {
      const wanted = folded(input.value.trim());
      let shown = 0;
      for (const [text, row] of rows) {
        row.hidden = !text.includes(wanted);
        shown += row.hidden ? 0 : 1;
      }
      if (!table.classList.contains("resorted") && table.id === "ranking-table") drawLines(table);
      count.textContent = wanted === "" ? "" : `${shown} of ${rows.length} ${count.dataset.noun}s`;
    });
  });

  // Charts: when they come near, and the others when nothing else is to be done, so
  // that all are there to be printed.
  const font = getComputedStyle(document.body).fontFamily;
  const config = {
    background: null, font, aria: false, view: { stroke: null },
    axis: { labelColor: "currentColor", titleColor: "currentColor", gridColor: "currentColor",
      gridOpacity: 0.15, domainColor: "currentColor", domainOpacity: 0.5, tickColor: "currentColor",
      tickOpacity: 0.5, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" },
    legend: { labelColor: "currentColor", titleColor: "currentColor", labelFontSize: 12 },
    header: { labelColor: "currentColor", titleColor: "currentColor" },
    title: { color: "currentColor", subtitleColor: "currentColor" },
    text: { color: "currentColor", fill: "currentColor" },
  };
  const save = async (view, name, kind) => {
    const link = document.createElement("a");
    link.download = `${name}.${kind}`;
    if (kind === "svg") {
      const drawn = await view.toSVG();
      const white = drawn.replace(/(<svg[^>]*>)/, '$1<rect width="100%" height="100%" fill="white"/>');
      link.href = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(white)}`;
    } else {
      const drawn = await view.toCanvas(2);
      const paper = document.createElement("canvas");
      [paper.width, paper.height] = [drawn.width, drawn.height];
      const pen = paper.getContext("2d");
      pen.fillStyle = "white";
      pen.fillRect(0, 0, paper.width, paper.height);
      pen.drawImage(drawn, 0, 0);
      link.href = paper.toDataURL("image/png");
    }
    link.click();
  };
  const draw = async (place) => {
    if (place.dataset.state) return;
    place.dataset.state = "drawing";
    const name = place.dataset.chart;
    const controls = document.createElement("div");
    controls.className = "chart-controls";
    place.before(controls);
    try {
      const spec = JSON.parse(document.getElementById(`spec-${name}`).textContent);
      // The interpreter needs no eval, which the page's policy forbids.
      const { view } = await window.vegaEmbed(place, spec, {
        actions: false, ast: true, renderer: "svg", config, bind: controls, defaultStyle: false,
        tooltip: { disableDefaultStyle: true, offsetX: 12, offsetY: 12 },
      });
      const buttons = place.closest("figure").querySelector(".save");
      all("button", buttons).forEach((button) => {
        button.addEventListener("click", () => save(view, name, button.dataset.save));
      });
      buttons.hidden = false;
      // What it shows is said by the label of the place; its marks have no names.
      all("svg", place).forEach((picture) => picture.setAttribute("aria-hidden", "true"));
      place.dataset.state = "drawn";
    } catch (error) {
      place.dataset.state = "failed";
      place.removeAttribute("role");
      place.removeAttribute("aria-label");
      place.textContent = "The chart could not be drawn. Its numbers are below.";
      console.error(error);
    }
  };
  const charts = all(".chart");
  const watch = new IntersectionObserver((seen) => {
    for (const one of seen) {
      if (one.isIntersecting) { watch.unobserve(one.target); draw(one.target); }
    }
  }, { rootMargin: "600px" });
  charts.forEach((chart) => watch.observe(chart));
  const later = window.requestIdleCallback || ((work) => setTimeout(work, 200));
  const drawRest = () => {
    const left = charts.find((chart) => !chart.dataset.state);
    if (left) draw(left).finally(() => later(drawRest));
  };
  later(drawRest);

  // Paper: what can be opened is open.
  let opened = [];
  window.addEventListener("beforeprint", () => {
    charts.forEach(draw);
    opened = all("details.more:not([open])");
    opened.forEach((part) => { part.open = true; });
  });
  window.addEventListener("afterprint", () => {
    opened.forEach((part) => { part.open = false; });
  });
})();
