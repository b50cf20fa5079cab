// The search box. index.js sets DAMO_INDEX: a list of [text, address, page, about]; headings and names of all pages.
"use strict";
(() => {
  const box = document.getElementById("query"), list = document.getElementById("found");
  const entries = DAMO_INDEX.map(([text, address, page, about]) => {
    const lower = text.toLowerCase(), name = (lower.match(/^[\w.:]+/) || [""])[0];
    return { text, address, page, about, lower, name, last: name.replace(/^.*[.:]/, ""), all: (text + " " + about).toLowerCase() };
  });
  let chosen = -1, hits = [];

  // How well an entry answers words: less is better; the whole name, its last part, its beginning, anywhere, the text.
  // Pages of other libraries' names say where damo has them, so damo's own entry goes first.
  function rank(entry, query, words) {
    if (!words.every((word) => entry.all.includes(word))) return Infinity;
    if (entry.name === query && query.includes(".") || entry.name === "damo." + query) return 0;
    if (entry.lower === query || entry.name === query || entry.last === query) return 1;
    if (entry.lower.startsWith(query)) return 2;
    if (entry.last.startsWith(query)) return 3;
    if (entry.lower.includes(query)) return 4;
    return words.every((word) => entry.lower.includes(word)) ? 5 : 6;
  }

  function row(entry) {
    const item = document.createElement("li"), link = document.createElement("a");
    const title = document.createElement("b"), more = document.createElement("small");
    title.textContent = entry.text;
    more.textContent = entry.page + (entry.about ? " — " + entry.about : "");
    link.href = entry.address;
    link.append(title, more);
    item.append(link);
    return item;
  }

  function show() {
    const query = box.value.trim().toLowerCase(), words = query.split(/\s+/);
    chosen = -1;
    list.hidden = query === "";
    if (query === "") return;
    hits = entries.map((entry, order) => ({ entry, order, rank: rank(entry, query, words) }))
      .filter((hit) => hit.rank < Infinity)
      .sort((a, b) => a.rank - b.rank || a.order - b.order)
      .slice(0, 30);
    list.replaceChildren(...hits.map((hit) => row(hit.entry)));
    if (hits.length === 0) {
      const none = document.createElement("li");
      none.className = "none";
      none.textContent = "Nothing is called that.";
      list.append(none);
    }
  }

  function choose(step) {
    if (hits.length === 0) return;
    chosen = (chosen + step + hits.length) % hits.length;
    [...list.children].forEach((item, i) => item.classList.toggle("chosen", i === chosen));
    list.children[chosen].scrollIntoView({ block: "nearest" });
  }

  box.addEventListener("input", show);
  box.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      choose(event.key === "ArrowDown" ? 1 : -1);
      event.preventDefault();
    } else if (event.key === "Enter" && hits.length > 0 && !list.hidden) {
      location.href = hits[Math.max(chosen, 0)].entry.address;
      list.hidden = true;
    } else if (event.key === "Escape") {
      list.hidden = true;
      box.blur();
    }
  });
  box.addEventListener("focus", show);
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".search") || event.target.closest("#found a")) list.hidden = true;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== box) {
      box.focus();
      event.preventDefault();
    }
  });
  // On a narrow screen the list of pages begins folded.
  const pages = document.getElementById("pages");
  if (matchMedia("(max-width: 56rem)").matches) pages.open = false;
  const here = document.querySelector("nav li.here");
  if (here && pages.open) here.scrollIntoView({ block: "nearest" });
  // An address that ends in ?find=dot searches at once.
  const asked = new URLSearchParams(location.search).get("find");
  if (asked) {
    box.value = asked;
    show();
  }
})();
