// Comforts for organisers: signing in, copying links, the live preview, fresh progress.
const enter = document.querySelector("form[data-enter]");
if (enter && location.hash === "#enter") {
  // evenhand serve opened this page itself; a program that opens links has no such end.
  history.replaceState(null, "", location.pathname);
  enter.submit();
}

for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  });
}

const plan = document.getElementById("plan");
if (plan) {
  const zone = plan.elements.zone, own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone.value === "UTC" && plan.dataset.new && [...zone.options].some((it) => it.value === own)) zone.value = own;
  let timer = 0, asked = 0;
  const look = async () => {
    const number = (asked += 1);
    const data = new URLSearchParams();
    for (const [name, value] of new FormData(plan)) if (typeof value === "string") data.append(name, value);
    if (!data.get("items") || !(data.get("reviewers") || Number(data.get("places")))) return;
    if (!data.get("title")) data.set("title", "Untitled");
    const part = document.getElementById("preview");
    part.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch("/e/preview", { method: "POST", body: data, headers: { "X-Part": "preview" } });
      const text = await answer.text();
      if (number === asked && answer.ok) part.innerHTML = text;
    } catch { /* the button does it too */ }
    part.removeAttribute("aria-busy");
  };
  plan.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(look, 700); });
  look();
}

const poll = document.querySelector("[data-live]");
if (poll) {
  let mark = "";
  const busy = () => document.querySelector("main :focus") || document.querySelector("main details[open] input");
  const look = async () => {
    try {
      const answer = await fetch(poll.dataset.poll, { headers: mark ? { "If-None-Match": mark } : {}, cache: "no-store" });
      const now = answer.headers.get("etag") || mark;
      if (answer.ok && mark && now !== mark && !busy()) {
        const text = await (await fetch(location.href)).text();
        const page = new DOMParser().parseFromString(text, "text/html");
        document.querySelector("main").replaceChildren(...page.querySelector("main").childNodes);
        document.title = page.title;
        if (!document.querySelector("[data-live]")) return;
        mark = now;
      } else if (!mark) mark = now;
    } catch { /* the next one does it */ }
    setTimeout(look, document.hidden ? 15000 : 2000);
  };
  look();
}
