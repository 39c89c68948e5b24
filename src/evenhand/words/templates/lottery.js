"use strict";
// The draw, replayed from its secret: SHA-256, NumPy's SeedSequence and PCG64, and
// fractions that are exact. Nothing is sent anywhere.
const lottery = (() => {
  const M32 = 0xffffffffn, M64 = (1n << 64n) - 1n, M128 = (1n << 128n) - 1n;

  const sha256 = (text) => {
    const bytes = [...new TextEncoder().encode(text)];
    const primes = [];
    for (let n = 2; primes.length < 64; n += 1) if (primes.every((p) => n % p)) primes.push(n);
    const bits = (root) => Math.floor((root - Math.floor(root)) * 2 ** 32) | 0;
    let state = primes.slice(0, 8).map((p) => bits(Math.sqrt(p)));
    const keys = primes.map((p) => bits(Math.cbrt(p)));
    const size = bytes.length;
    bytes.push(128);
    while (bytes.length % 64 !== 56) bytes.push(0);
    for (let shift = 56; shift >= 0; shift -= 8) bytes.push(Number((BigInt(size * 8) >> BigInt(shift)) & 255n));
    const turn = (x, n) => (x >>> n) | (x << (32 - n));
    for (let at = 0; at < bytes.length; at += 64) {
      const w = [];
      for (let i = 0; i < 64; i += 1) {
        if (i < 16) { w.push(bytes.slice(at + 4 * i, at + 4 * i + 4).reduce((sum, b) => (sum << 8) | b, 0)); continue; }
        const [x, y] = [w[i - 15], w[i - 2]];
        w.push((w[i - 16] + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + w[i - 7] + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10))) | 0);
      }
      let [a, b, c, d, e, f, g, h] = state;
      for (let i = 0; i < 64; i += 1) {
        const t1 = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + keys[i] + w[i]) | 0;
        const t2 = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        [a, b, c, d, e, f, g, h] = [(t1 + t2) | 0, a, b, c, (d + t1) | 0, e, f, g];
      }
      state = [a, b, c, d, e, f, g, h].map((word, i) => (word + state[i]) | 0);
    }
    return state.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  };

  // NumPy's SeedSequence(seed, spawn_key), as words of 32 bits.
  const words32 = (number) => {
    const words = [];
    do { words.push(number & M32); number >>= 32n; } while (number > 0n);
    return words;
  };
  const seedState = (seed, key) => {
    const entropy = words32(seed);
    while (entropy.length < 4) entropy.push(0n);
    for (const word of key) entropy.push(...words32(word));
    let constant = 0x43b0d7e5n;
    const hash = (value) => {
      value ^= constant;
      constant = (constant * 0x931e8875n) & M32;
      value = (value * constant) & M32;
      return value ^ (value >> 16n);
    };
    const mix = (x, y) => {
      const value = (0xca01f9ddn * x - 0x4973f715n * y) & M32;
      return value ^ (value >> 16n);
    };
    const pool = entropy.slice(0, 4).map(hash);
    for (let from = 0; from < 4; from += 1) {
      for (let to = 0; to < 4; to += 1) if (from !== to) pool[to] = mix(pool[to], hash(pool[from]));
    }
    for (const word of entropy.slice(4)) for (let to = 0; to < 4; to += 1) pool[to] = mix(pool[to], hash(word));
    constant = 0x8b51f9ddn;
    const state = [];
    for (let i = 0; i < 8; i += 1) {
      let value = pool[i % 4] ^ constant;
      constant = (constant * 0x58f38dedn) & M32;
      value = (value * constant) & M32;
      state.push(value ^ (value >> 16n));
    }
    return [0, 2, 4, 6].map((i) => state[i] | (state[i + 1] << 32n));
  };

  // A named stream of raw words of 64 bits: PCG64 (XSL-RR 128/64).
  const stream = (seed, purpose) => {
    const digest = sha256(purpose);
    const key = [0, 8, 16, 24].map((at) => BigInt("0x" + digest.slice(at, at + 8).match(/../g).reverse().join("")));
    const [a, b, c, d] = seedState(seed, key);
    const step = (((c << 64n) | d) << 1n | 1n) & M128;
    let state = 0n;
    const next = () => { state = (state * 0x2360ed051fc65da44385df649fccf645n + step) & M128; };
    next();
    state = (state + ((a << 64n) | b)) & M128;
    next();
    return () => {
      next();
      const value = (state >> 64n) ^ (state & M64), turn = state >> 122n;
      return ((value >> turn) | (value << (64n - turn))) & M64;
    };
  };

  // Whole numbers below a bound, and orders, as evenhand draws them.
  const below = (raw, bound) => {
    const bits = BigInt((bound - 1n).toString(2).length);
    if (bound === 1n) return 0n;
    const words = (bits + 63n) / 64n;
    for (;;) {
      let value = 0n;
      for (let i = 0n; i < words; i += 1n) value = (value << 64n) | raw();
      value >>= words * 64n - bits;
      if (value < bound) return value;
    }
  };
  const permutation = (raw, size) => {
    for (;;) {
      const drawn = Array.from({ length: size }, raw);
      const order = drawn.map((_, i) => i).sort((i, j) => (drawn[i] < drawn[j] ? -1 : drawn[i] > drawn[j] ? 1 : 0));
      if (new Set(drawn).size === size) return order;
    }
  };

  // Systematic sampling: items end to end in a random order, marks one apart.
  const fraction = (text) => { const [top, bottom = "1"] = text.split("/"); return [BigInt(top), BigInt(bottom)]; };
  const gcd = (a, b) => (b ? gcd(b, a % b) : a);
  const draw = (seed, data) => {
    const parts = data.chances.map(fraction);
    const unit = parts.reduce((all, [, bottom]) => all / gcd(all, bottom) * bottom, 1n);
    const lengths = parts.map(([top, bottom]) => top * (unit / bottom));
    const order = permutation(stream(seed, data.streams[0]), lengths.length);
    // Items of a quota, and those of equal cost, stay side by side.
    order.sort((i, j) => data.blocks[i] - data.blocks[j]);
    const start = below(stream(seed, data.streams[1]), unit);
    let end = 0n;
    const decimal = (length) => Number((length * 10n ** 12n) / unit) / 1e12;
    const lineup = order.map((item) => {
      const from = end;
      end += lengths[item];
      // A mark stands in [from, end) if one more of them is below its end.
      const marks = (at) => (at > start ? (at - start - 1n) / unit + 1n : 0n);
      return { item, from: decimal(from), length: decimal(lengths[item]), drawn: marks(end) > marks(from) };
    });
    return { lineup, start: decimal(start) };
  };

  const show = (part, data) => {
    const [input] = part.getElementsByTagName("input"), [button] = part.getElementsByTagName("button");
    const status = part.querySelector("[role=status]"), [svg] = part.getElementsByTagName("svg");
    const [list] = part.getElementsByTagName("ol");
    const add = (name, attributes) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      svg.append(element);
      return element;
    };
    const refuse = (text) => { status.textContent = text; svg.toggleAttribute("hidden", true); list.replaceChildren(); };
    const run = () => {
      const secret = input.value.trim().toLowerCase();
      if (!(data.seal ? /^[0-9a-f]{64}$/ : /^[0-9]+$/).test(secret)) {
        return refuse(data.seal ? "A secret has 64 hexadecimal digits." : "A seed is a whole number.");
      }
      if (data.seal && sha256(data.prefix + secret) !== data.seal) return refuse("This is not the sealed secret: its SHA-256 is another.");
      const { lineup, start } = draw(BigInt(data.seal ? `0x${secret}` : secret), data);
      const chosen = lineup.filter((one) => one.drawn);
      const same = data.drawn.every((drawn, item) => drawn === null || drawn === chosen.some((one) => one.item === item));
      svg.replaceChildren();
      svg.toggleAttribute("hidden", false);
      list.replaceChildren();
      const boxes = new Map(lineup.map((one) => [one.item, add("rect", { x: one.from, y: 2, width: one.length, height: 6 })]));
      status.textContent = data.seal ? "The secret fits the seal. Drawing..." : "Drawing...";
      const wait = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : Math.min(400, 4000 / chosen.length);
      const mark = (place) => {
        if (place === chosen.length) {
          const fits = data.seal ? "The secret fits the seal. " : "";
          const result = data.drawn.includes(null) ? "" : same ? " The same as on this page." : " This is not what the page shows.";
          status.textContent = `${fits}Drawn: ${chosen.length} of ${lineup.length}.${result}`;
          part.dataset.drawn = JSON.stringify(chosen.map((one) => data.items[one.item]).sort());
          return;
        }
        add("path", { d: `M${start + place} 0V10` });
        boxes.get(chosen[place].item).setAttribute("class", "drawn");
        const line = document.createElement("li");
        line.textContent = data.items[chosen[place].item];
        list.append(line);
        if (wait) setTimeout(mark, wait, place + 1); else mark(place + 1);
      };
      mark(0);
    };
    button.addEventListener("click", run);
    input.addEventListener("keydown", (event) => { if (event.key === "Enter") run(); });
    part.hidden = false;
  };
  const data = document.getElementById("lottery");
  if (data) show(document.getElementById("ceremony"), JSON.parse(data.textContent));
  return { sha256, stream, below, permutation, draw };
})();
