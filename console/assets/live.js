// A page tells when what it shows is another by now. It is shown anew by itself only where nothing can be pressed by
// mistake while it moves; elsewhere the person says when. Without scripts a reload does the same.
"use strict";
(() => {
  const live = document.getElementById("live");
  const stale = document.getElementById("stale");
  const feed = live.dataset.feed + "?section=" + encodeURIComponent(live.dataset.section);
  const title = document.title.replace(/^\(\d+\) /, "");
  let mark = live.dataset.mark;
  let source = null;
  let timer = 0;

  function showPending(n) {
    document.title = (n ? "(" + n + ") " : "") + title;
    const badge = document.querySelector("[data-badge]");
    badge.textContent = String(n);
    badge.hidden = n === 0;
  }

  // busy tells whether somebody is in the midst of something that would be lost.
  function busy() {
    const at = document.activeElement;
    return live.contains(at) && at !== document.body || live.querySelector("details[open]") || !getSelection().isCollapsed;
  }

  async function swap() {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) return location.reload();
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("live");
    if (!fresh) return;
    if (busy()) return tell();
    live.replaceChildren(...document.importNode(fresh, true).childNodes);
    live.dataset.live = fresh.dataset.live;
    mark = live.dataset.mark = fresh.dataset.mark;
  }

  function tell() { stale.hidden = false; }

  function hear(news) {
    showPending(news.pending);
    if (!live.dataset.live || news.mark === mark) return;
    mark = news.mark;
    if (live.dataset.live === "swap" && !busy()) swap().catch(tell);
    else tell();
  }

  async function poll() {
    try {
      const answer = await fetch(feed);
      if (answer.status === 403) return location.reload();
      if (answer.ok) hear(await answer.json());
    } catch { /* the server is away; the next time may do */ }
    timer = setTimeout(poll, 10000);
  }

  // A browser has few connections for a host, so a page that nobody sees gives its own up.
  function listen() {
    clearTimeout(timer);
    if (source) source.close();
    source = null;
    if (document.hidden) return;
    source = new EventSource(feed);
    source.onmessage = (event) => hear(JSON.parse(event.data));
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(poll, 1000);
    };
  }

  document.addEventListener("visibilitychange", listen);
  addEventListener("pagehide", () => source && source.close());
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  listen();
})();
