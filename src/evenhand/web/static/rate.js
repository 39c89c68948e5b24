// Saves ratings and notes as they are made. What is not received yet waits on this
// device, in localStorage, and is sent again until there is a receipt. Pages work
// without this.
const app = document.getElementById("app");
const here = app.dataset.here;
const store = `evenhand:${here}`;
const plainTitle = document.title, MOST_WAIT = 30000;
let sending = false, failures = 0, timer = 0, refresh = 0;
const pending = new Map();

const read = () => { try { return JSON.parse(localStorage.getItem(store)) || []; } catch { return []; } };
let memory = read();
function write(queue) {
  memory = queue;
  try { localStorage.setItem(store, JSON.stringify(queue)); } catch { /* kept in this tab */ }
  document.title = queue.length ? `(${queue.length} not sent) ${plainTitle}` : plainTitle;
}
function fresh() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
const form = (place) => document.querySelector(`form[data-place="${place}"]`);
const order = document.getElementById("order"), target = (entry) => (entry.order ? order : form(entry.place));
function say(entry, text) {
  const line = target(entry)?.querySelector("[data-state]");
  if (line && line.textContent !== text) line.textContent = text;
}
function shown(one, score) {
  if (score === null || score === undefined || score === "") return "not rated";
  const radio = one.querySelector(`input[type=radio][value="${score}"]`);
  return radio ? radio.parentElement.querySelector("strong").textContent : String(score);
}

function enqueue(entry) {
  const queue = read().length >= memory.length ? read() : memory;
  const same = (it) => !it.sent && !!it.order === !!entry.order && it.place === entry.place;
  // A note does not take the place of a rating that waits, but goes with it.
  if (entry.kind === "note") entry = { ...entry, ...queue.find(same), note: entry.note };
  write([...queue.filter((it) => !same(it)), { ...entry, key: fresh(), nonce: fresh(), at: Date.now() }]);
  const words = { score: shown(target(entry), entry.score), note: "your note", recuse: "cannot rate", clear: "not rated" };
  say(entry, `○ on this device: ${entry.order ? "this order" : words[entry.kind]}`);
  kick();
}
function post(entry) {
  // Versions follow what this tab has seen, so that another tab's change is noticed.
  const body = { ...entry.body, note: entry.note, kind: entry.kind, score: entry.score, order: entry.order, nonce: entry.nonce };
  write(read().map((it) => (it.key === entry.key ? { ...it, sent: true } : it)));
  return fetch(entry.order ? `${here}/order` : `${here}/items/${entry.place}`, {
    method: "POST", keepalive: true, body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", "Accept": "application/json", "Idempotency-Key": entry.key },
  });
}
function flush() {
  // The page may be gone in a moment: what waits goes out now, and once more by its
  // key if no answer comes.
  for (const [place, wait] of pending) { clearTimeout(wait.timer); pending.delete(place); enqueue(wait.entry()); }
  const queue = read(), busy = new Set(queue.filter((it) => it.sent).map((it) => it.place));
  for (const entry of queue) if (!entry.sent && !busy.has(entry.place)) post(entry).catch(() => {});
}
const kick = (wait = 0) => { clearTimeout(timer); timer = setTimeout(send, wait); };
async function send() {
  const entry = read()[0] || memory[0];
  if (sending || !entry) return;
  sending = true;
  say(entry, "◐ sending …");
  let answer, told = {};
  try {
    answer = await post(entry);
    told = await answer.json();
  } catch { answer = null; }
  sending = false;
  if (!answer || answer.status >= 500 || answer.status === 429 || told.code === "paused") {
    failures += 1;
    const wait = Math.min(MOST_WAIT, 1000 * 2 ** (failures - 1)) * (0.75 + Math.random() / 2);
    say(entry, `○ on this device. ${told.message || "No connection."} It is sent again by itself.`);
    return kick(wait);
  }
  failures = 0;
  write(read().filter((it) => it.key !== entry.key));
  if (answer.ok) received(entry, told);
  else if (told.code === "changed") conflict(entry, told);
  else {
    say(entry, `✗ not counted: ${told.message}`);
    // A score that is not on the scale must not take its note with it.
    if (told.code === "not_on_scale" && entry.note !== undefined) enqueue({ ...entry, kind: "note", score: null });
  }
  kick();
}
function received(entry, told) {
  keep(told.entries);
  if (entry.nonce && told.entries.some((it) => it.nonce !== entry.nonce)) return say(entry, "✗ the server logged another nonce than this device drew: tell the organiser.");
  for (const it of told.entries) {
    rebase(it.place, it.version);
    const mark = document.querySelector(`[data-mark="${it.place}"]`);
    if (mark) {
      mark.textContent = { rated: "●", recused: "–", empty: "○" }[it.state];
      const words = it.state === "recused" ? "cannot rate" : shown(form(it.place), it.score);
      document.querySelector(`[data-value="${it.place}"]`).textContent = words;
    }
  }
  const last = told.entries[told.entries.length - 1];
  const time = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const rating = entry.order ? "this order" : last.state === "recused" ? "cannot rate" : shown(target(entry), last.score);
  const words = `${rating}${last.has_note ? ", with your note" : ""}`;
  if (entry.note !== undefined) noteOf(target(entry)).dataset.saved = entry.note;
  if (!read().some((it) => it.place === entry.place && !!it.order === !!entry.order)) say(entry, `● received ${time}: ${words}`);
  others();
  clearTimeout(refresh);
  refresh = setTimeout(summary, 300);
}
// Receipts are kept here too: a log that was written anew has others.
const kept = () => { try { return JSON.parse(localStorage.getItem(`${store}:receipts`)) || {}; } catch { return {}; } };
function keep(entries) {
  const all = kept();
  for (const it of entries) all[it.place] = { n: it.n, text: [it.receipt, it.nonce].filter(Boolean).join(" ") };
  try { localStorage.setItem(`${store}:receipts`, JSON.stringify(all)); } catch { /* the page has them */ }
}
const changed = (all, page) => Object.keys(all).filter((place) => {
  const line = page.querySelector(`[data-receipt="${place}"]`), n = Number(line?.dataset.n || 0);
  return n < all[place].n || (n === all[place].n && line.querySelector("code").textContent.trim() !== all[place].text);
}).map((place) => all[place].n);
function alarm(events) {
  const line = document.getElementById("other-receipts");
  line.hidden = !events.length;
  line.textContent = events.length ? `The server's log has other receipts than this device kept (event ${events.join(", ")}): ratings were changed or lost. Tell the organiser and the other reviewers.` : "";
}
function rebase(place, version) {
  const one = form(place);
  if (one) { one.dataset.base = version; one.elements.base.value = version; one.elements.key.value = fresh(); }
  if (order) order.elements[`base_${place}`].value = version;
  write(read().map((it) => {
    if (it.sent || (!it.order && it.place !== place)) return it;
    const name = it.order ? `base_${place}` : "base";
    return { ...it, body: { ...it.body, [name]: version } };
  }));
}
async function summary() {
  const all = kept();
  try {
    const text = await (await fetch(here)).text();
    const page = new DOMParser().parseFromString(text, "text/html");
    for (const part of ["#summary", ".receipts"]) {
      const now = document.querySelector(part), next = page.querySelector(part);
      if (now && next && !now.contains(document.activeElement)) {
        if (now.open) next.open = true;
        now.replaceWith(next);
      }
    }
    alarm(changed(all, page));
  } catch { /* the next one does it */ }
}
function conflict(entry, told) {
  const one = target(entry);
  say(entry, "✗ not saved: another tab or device was faster.");
  if (entry.order) { location.reload(); return; }
  if (entry.kind === "note" && told.note === savedNote(one)) {
    // The other one changed the rating, which a note leaves as it is.
    rebase(entry.place, told.version);
    return enqueue({ ...entry, sent: false, body: { base: told.version } });
  }
  one.querySelector(".conflict")?.remove();
  const box = document.createElement("div"), text = document.createElement("p");
  box.className = "conflict";
  box.setAttribute("role", "alert");
  const isNote = entry.kind === "note";
  const there = isNote ? "the other note" : told.state === "recused" ? "cannot rate" : told.state === "hidden" ? "what is not shown here" : shown(one, told.score);
  const mine = isNote ? "this note" : shown(one, entry.score);
  text.textContent = isNote
    ? `Another tab or device saved another note: “${told.note}” Which one counts?`
    : `Another tab or device saved ${there}. Here it is ${mine}. Which one counts?`;
  box.append(text);
  rebase(entry.place, told.version);
  const choose = (label, act) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.addEventListener("click", () => { box.remove(); act(); });
    box.append(button, " ");
  };
  choose(`Keep ${there}`, () => {
    if (entry.note !== undefined) { noteOf(one).value = told.note; noteOf(one).dataset.saved = told.note; }
    if (!isNote) put(one, told.score);
    say(entry, `● received: ${there}`);
    others();
  });
  choose(`Use ${mine}`, () => enqueue({ ...entry, sent: false, body: { base: told.version } }));
  one.append(box);
}

const noteOf = (one) => one.elements.note;
const savedNote = (one) => noteOf(one).dataset.saved ?? noteOf(one).defaultValue;
function value(one) {
  const radio = one.querySelector("input[type=radio]:checked");
  if (radio) return Number(radio.value);
  const field = one.querySelector("input[type=text]");
  const text = field ? field.value.trim().replace(",", ".") : "";
  return text === "" || Number.isNaN(Number(text)) ? null : Number(text);
}
function put(one, score) {
  const radio = one.querySelector(`input[type=radio][value="${score}"]`);
  if (radio) radio.checked = true;
  const field = one.querySelector("input[type=text]");
  if (field) { field.value = score === null || score === undefined ? "" : score; sync(one); }
}
function sync(one) {
  const slider = one.querySelector("[data-slider]");
  if (!slider) return;
  const score = value(one);
  slider.classList.toggle("unset", score === null);
  slider.setAttribute("aria-valuetext", score === null ? "not rated" : String(score));
  if (score !== null) slider.value = score;
}
function save(one, kind = "score", wait = 0) {
  const place = Number(one.dataset.place), score = value(one), before = pending.get(place);
  const changed = () => noteOf(one).value !== savedNote(one);
  clearTimeout(before?.timer);
  pending.delete(place);
  if (kind === "note" && before) kind = before.kind;
  if (kind === "score" && score === null) kind = "note";
  if (kind === "note" && !changed()) return;
  // A note goes with it if it was changed here; else the one that is there stays.
  const entry = () => ({
    place, kind, score: kind === "score" ? score : null,
    note: changed() ? noteOf(one).value : undefined, body: { base: Number(one.dataset.base) },
  });
  pending.set(place, { kind, entry, timer: setTimeout(() => { pending.delete(place); enqueue(entry()); }, wait) });
}
function others() {
  const all = [...document.querySelectorAll("form[data-kind=number]")];
  for (const one of all) {
    const box = one.querySelector("[data-others]"), slider = one.querySelector("[data-slider]");
    const low = Number(slider.min), high = Number(slider.max);
    const groups = new Map();
    for (const it of all) if (it !== one && value(it) !== null) groups.set(value(it), [...(groups.get(value(it)) || []), it.dataset.label]);
    box.replaceChildren(...[...groups].map(([score, labels]) => {
      const mark = document.createElement("span");
      mark.textContent = labels.join(", ");
      mark.style.left = `${Math.max(4, Math.min(96, (100 * (score - low)) / (high - low)))}%`;
      return mark;
    }));
  }
}
function step(one, by) {
  const slider = one.querySelector("[data-slider]");
  const size = Number(slider.step), low = Number(slider.min), high = Number(slider.max);
  const from = value(one) ?? (low + high) / 2;
  const next = Math.max(low, Math.min(high, low + Math.round((from + by * size - low) / size) * size));
  put(one, Number(next.toFixed(9)));
  save(one, "score", 600);
}

if (changed(kept(), document).length) summary();
document.addEventListener("submit", (event) => { const nonce = event.target.elements.nonce; if (nonce) nonce.value = fresh(); });
if (app.dataset.open === "yes") {
  for (const one of document.querySelectorAll("form[data-place]")) {
    const slider = one.querySelector("[data-slider]"), field = one.querySelector("input[type=text]");
    one.addEventListener("submit", (event) => {
      event.preventDefault();
      save(one, event.submitter?.value || "score");
      if (event.submitter?.value === "clear") setTimeout(() => location.reload(), 1500);
    });
    one.addEventListener("change", (event) => {
      if (event.target.type === "radio") save(one);
    });
    for (const [name, wait] of [["input", 900], ["change", 0]]) noteOf(one).addEventListener(name, () => save(one, "note", wait));
    // What was typed before this script came counts too.
    const typed = field ? field.value !== field.defaultValue : one.querySelector("input[type=radio]:checked:not([checked])");
    if (typed || noteOf(one).value !== noteOf(one).defaultValue) save(one);
    if (!slider) continue;
    slider.hidden = false;
    const take = () => { field.value = slider.value; sync(one); save(one, "score", 600); };
    for (const name of ["input", "click"]) slider.addEventListener(name, take);
    field.addEventListener("input", () => { sync(one); save(one, "score", 900); });
    field.addEventListener("keydown", (event) => {
      const by = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
      if (by) { event.preventDefault(); step(one, by); }
      if (event.key === "Enter") {
        event.preventDefault();
        save(one);
        const next = one.closest("section").nextElementSibling?.querySelector("input[type=text]");
        (next || field).focus();
      }
    });
    sync(one);
  }
  order?.addEventListener("submit", (event) => {
    event.preventDefault();
    const [place, way] = (event.submitter?.value || "").split(":");
    const item = order.querySelector(`li[data-place="${place}"]`);
    if (way === "up") item?.previousElementSibling?.before(item);
    if (way === "down") item?.nextElementSibling?.after(item);
    const items = [...order.querySelectorAll("li")];
    items.forEach((it, at) => {
      it.querySelector("[value$=up]").disabled = at === 0;
      it.querySelector("[value$=down]").disabled = at === items.length - 1;
    });
    if (event.submitter?.disabled) item.querySelector("button:not(:disabled)")?.focus();
    const places = items.map((it) => Number(it.dataset.place)), body = {};
    for (const it of places) body[`base_${it}`] = Number(order.elements[`base_${it}`].value);
    enqueue({ order: places, body });
  });
  others();
  write(read().map((it) => ({ ...it, sent: false })));
  for (const entry of read()) {
    const one = entry.order ? null : form(entry.place);
    if (one && entry.kind === "score") put(one, entry.score);
    if (one && entry.note !== undefined) noteOf(one).value = entry.note;
    say(entry, "○ on this device");
  }
  for (const name of ["online", "pageshow"]) addEventListener(name, () => kick());
  addEventListener("pagehide", flush);
  addEventListener("visibilitychange", () => (document.hidden ? flush() : kick()));
  addEventListener("beforeunload", (event) => { if (read().length) event.preventDefault(); });
  kick();
  app.dataset.ready = "yes";
}
