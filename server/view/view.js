
// The view of a change, in a host that shows such views. It speaks with the host by messages alone, and puts what others
// wrote into the page as text only. It can't approve anything: what it can ask the host for is a call like the model's.
"use strict";
(() => {
  const words = {
    en: { apply: "Apply", preview: "Preview: nothing is changed yet", succeeded: "Done", waits: "Waits for a person's approval", more: "The rest is not shown here", before: "Before", after: "After" },
    zh: { apply: "应用", preview: "预览：尚未改动", succeeded: "已完成", waits: "等待人工审批", more: "其余部分未在此显示", before: "之前", after: "之后" },
  };
  let say = words.en, input = null, envelope = null, canCall = false, lastID = 0;
  const view = document.getElementById("view");
  const waiting = new Map();

  const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const request = (method, params) => new Promise((resolve, reject) => {
    waiting.set(++lastID, { resolve, reject });
    send({ id: lastID, method, params });
  });

  // visible writes out what does not show or turns a line around.
  const visible = (text) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu, (c) => c === "\t" ? c : "\\u{" + c.codePointAt(0).toString(16) + "}");

  function element(name, className, ...children) {
    const e = document.createElement(name);
    if (className) e.className = className;
    e.append(...children);
    return e;
  }

  // rowsOf lays a unified diff out side by side. Inside a hunk it goes by the counts of the hunk's head.
  function rowsOf(diff) {
    const rows = [];
    let known = true, a = 0, b = 0, aLeft = 0, bLeft = 0, gone = [], fresh = [];
    const pair = () => {
      for (let i = 0; i < Math.max(gone.length, fresh.length); i++) rows.push({ before: gone[i], after: fresh[i] });
      gone = []; fresh = [];
    };
    for (const line of diff.replace(/\n$/, "").split("\n")) {
      const head = aLeft + bLeft > 0 ? null : line.match(/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/);
      if (head) {
        pair();
        [a, aLeft, b, bLeft] = [+head[1], +(head[2] ?? 1), +head[3], +(head[4] ?? 1)];
        known = a + b > 0; // else it is one of ours, of lines that stand nobody knows where
        if (known) rows.push({ note: line });
      } else if (aLeft + bLeft > 0 && line[0] === "-") {
        if (fresh.length) pair();
        gone.push({ line: known ? a++ : 0, text: line.slice(1) }); aLeft--;
      } else if (aLeft + bLeft > 0 && line[0] === "+") {
        fresh.push({ line: known ? b++ : 0, text: line.slice(1) }); bLeft--;
      } else if (aLeft + bLeft > 0 && line[0] === " ") {
        pair();
        rows.push({ same: true, before: { line: a++, text: line.slice(1) }, after: { line: b++, text: line.slice(1) } });
        aLeft--; bLeft--;
      } else if (!/^(---|\+\+\+) /.test(line) && line) {
        pair();
        rows.push({ note: line });
      }
    }
    pair();
    return rows;
  }

  // marked shows a line with what the other one has not.
  function marked(name, text, other) {
    const whole = element(name, "");
    if (other === undefined) { whole.append(visible(text)); return whole; }
    const one = [...text], two = [...other];
    let start = 0, end = 0;
    while (start < Math.min(one.length, two.length) && one[start] === two[start]) start++;
    while (end < Math.min(one.length, two.length) - start && one.at(-1 - end) === two.at(-1 - end)) end++;
    if (start + end === 0) { whole.append(visible(text)); return whole; }
    whole.append(visible(one.slice(0, start).join("")), element("mark", "", visible(one.slice(start, one.length - end).join(""))), visible(one.slice(one.length - end).join("")));
    return whole;
  }

  function tableOf(diff) {
    const body = element("tbody", "");
    for (const r of rowsOf(diff)) {
      if (r.note !== undefined) {
        const cell = element("td", "head", visible(r.note));
        cell.colSpan = 4;
        body.append(element("tr", "wide", cell));
        continue;
      }
      const side = (s, other, name, className) => s
        ? [element("td", "line", s.line ? String(s.line) : ""), r.same ? element("td", "", visible(s.text)) : element("td", className, marked(name, s.text, other?.text))]
        : [element("td", "line"), element("td", "")];
      body.append(element("tr", r.same ? "same" : "", ...side(r.before, r.after, "del", "gone"), ...side(r.after, r.before, "ins", "fresh")));
    }
    const columns = element("colgroup", "", element("col", "line"), element("col", ""), element("col", "line"), element("col", ""));
    const region = element("div", "diff", element("table", "", columns, body));
    region.tabIndex = 0;
    return region;
  }

  // wanted is a diff of what the call asks for, where the answer holds none.
  function wanted() {
    const lines = (text, sign) => text === undefined ? [] : String(text).replace(/\n$/, "").split("\n").map((l) => sign + l);
    const gone = lines(input?.old_text, "-"), fresh = lines(input?.new_text ?? input?.content ?? input?.text, "+");
    if (gone.length + fresh.length === 0) return "";
    return "@@ -0," + gone.length + " +0," + fresh.length + " @@\n" + [...gone, ...fresh].join("\n") + "\n";
  }

  function show() {
    const isPreview = envelope && !("changed" in envelope) && envelope.status === "ok";
    const error = envelope?.errors?.[0];
    const waits = error?.code === "approval-required";
    const state = !envelope ? "" : isPreview ? say.preview : waits ? say.waits : say[envelope.status] ?? envelope.status;
    view.replaceChildren(element("header", "", element("h1", "", visible(String(input?.path ?? envelope?.changed_file ?? ""))), element("span", "state", state)));
    for (const problem of [...(envelope?.errors ?? []), ...(envelope?.warnings ?? [])]) view.append(element("p", "message", visible(String(problem.message))));
    const diff = envelope?.diff ?? (!envelope || waits ? wanted() : "");
    if (diff) view.append(tableOf(diff));
    if (envelope?.truncated) view.append(element("p", "message", say.more));
    if (isPreview && canCall && input) {
      const apply = element("button", "", say.apply);
      apply.addEventListener("click", async () => {
        apply.disabled = true;
        try { take(await request("tools/call", { name: "replace_text", arguments: input })); } catch (e) { apply.replaceWith(element("p", "message", visible(String(e.message ?? e)))); }
      });
      view.append(apply);
    }
  }

  function take(result) {
    try { envelope = result.structuredContent ?? JSON.parse(result.content[0].text); } catch { envelope = null; }
    show();
  }

  function dress(context) {
    if (context.theme) document.documentElement.classList.toggle("dark", context.theme === "dark");
    for (const [name, value] of Object.entries(context.styles?.variables ?? {})) {
      if (/^--[a-z0-9-]+$/.test(name) && typeof value === "string") document.documentElement.style.setProperty(name, value);
    }
    if (context.locale) {
      say = /^zh/i.test(context.locale) ? words.zh : words.en;
      document.documentElement.lang = say === words.zh ? "zh" : "en";
    }
    show();
  }

  addEventListener("message", (event) => {
    const m = event.data;
    if (event.source !== parent || m?.jsonrpc !== "2.0") return;
    if (m.method === undefined) {
      const open = waiting.get(m.id);
      waiting.delete(m.id);
      if (open) m.error ? open.reject(m.error) : open.resolve(m.result);
      return;
    }
    switch (m.method) {
      case "ui/notifications/tool-input": input = m.params?.arguments ?? null; envelope = null; show(); break;
      case "ui/notifications/tool-result": take(m.params ?? {}); break;
      case "ui/notifications/host-context-changed": dress(m.params ?? {}); break;
      case "ping": case "ui/resource-teardown": send({ id: m.id, result: {} }); break;
      default: if (m.id !== undefined) send({ id: m.id, error: { code: -32601, message: "Method not found" } });
    }
  });

  request("ui/initialize", { protocolVersion: "2026-01-26", appInfo: { name: "writ", version: "1" }, appCapabilities: {} }).then((host) => {
    canCall = Boolean(host.hostCapabilities?.serverTools);
    if (!host.hostContext?.theme) document.documentElement.classList.toggle("dark", matchMedia("(prefers-color-scheme: dark)").matches);
    dress(host.hostContext ?? {});
    send({ method: "ui/notifications/initialized" });
    new ResizeObserver(() => {
      const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
      send({ method: "ui/notifications/size-changed", params: { height } });
    }).observe(document.body);
  }, () => {});
})();
