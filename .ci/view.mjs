// The view of a change in a small host, which does what hosts of MCP Apps do: the page from ui:// in a sandboxed frame
// without an origin, and messages. See .ci/console, which runs this.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";

const { PLAYWRIGHT, CHROMIUM, WRIT, SCRATCH, WRIT_SHOTS } = process.env;
const { chromium } = await import(PLAYWRIGHT);
const root = `${SCRATCH}/seen`;
await mkdir(`${root}/src`, { recursive: true });
await writeFile(`${root}/a.md`, "# Plan\n\nwe meet on Monday\n\nall of us\n");
await writeFile(`${root}/src/b.md`, "one\n");

const server = spawn(WRIT, ["serve", "--write", "*", "--ask", "src/**", "--state", `${SCRATCH}/seen-state`, root], { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
createInterface({ input: server.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  waiting.get(message.id)?.(message.result ?? message.error);
});
let lastID = 0;
const request = (method, params) => new Promise((resolve) => {
  waiting.set(++lastID, resolve);
  server.stdin.write(JSON.stringify({ jsonrpc: "2.0", id: lastID, method, params }) + "\n");
});
const call = (name, args) => request("tools/call", { name, arguments: args });
const ui = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
await request("initialize", { protocolVersion: "2025-11-25", capabilities: { extensions: ui }, clientInfo: { name: "host", version: "1" } });
const tool = (await request("tools/list", {})).tools.find((t) => t.name === "preview_replace");
const [page] = (await request("resources/read", { uri: tool._meta.ui.resourceUri })).contents;
assert.equal(page.mimeType, "text/html;profile=mcp-app");

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
const complaints = [];

// host shows a call and its answer as a host does.
async function host(context, args, result) {
  const tab = await browser.newPage({ viewport: { width: 900, height: 420 }, colorScheme: context.theme });
  tab.on("console", (m) => m.type() === "error" && complaints.push(m.text()));
  tab.on("pageerror", (e) => complaints.push(e.message));
  tab.on("request", (r) => /^(about|data|blob):/.test(r.url()) || complaints.push(`asked for ${r.url()}`));
  await tab.exposeFunction("serverCall", (params) => call(params.name, params.arguments));
  await tab.setContent(`<body style="margin:0;background:${context.theme === "dark" ? "#1a1c20" : "#fff"}"><iframe sandbox="allow-scripts" style="border:0;width:100%;height:400px"></iframe>`);
  await tab.evaluate(({ html, context, args, result }) => {
    const frame = document.querySelector("iframe");
    const send = (m) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...m }, "*");
    window.sizes = [];
    addEventListener("message", async ({ data, source }) => {
      if (source !== frame.contentWindow) return;
      if (data.method === "ui/initialize") send({ id: data.id, result: { protocolVersion: "2026-01-26", hostInfo: { name: "host", version: "1" }, hostCapabilities: { serverTools: {} }, hostContext: context } });
      if (data.method === "ui/notifications/size-changed") window.sizes.push(data.params.height);
      if (data.method === "ui/notifications/initialized") {
        send({ method: "ui/notifications/tool-input", params: { arguments: args } });
        send({ method: "ui/notifications/tool-result", params: result });
      }
      if (data.method === "tools/call") send({ id: data.id, result: await window.serverCall(data.params) });
    });
    frame.srcdoc = html;
  }, { html: page.text, context, args, result });
  return tab;
}

try {
  const version = JSON.parse((await call("read_file", { path: "a.md" })).content[0].text).version;
  const args = { path: "a.md", old_text: "on Monday", new_text: "<img src=x onerror=alert(1)>\u202e on Tuesday", observed_version: version };
  const preview = await call("preview_replace", args);
  const tab = await host({ theme: "light", locale: "en-US" }, args, preview);
  const view = tab.frameLocator("iframe");
  await view.getByText("Preview: nothing is changed yet").waitFor();
  assert.ok((await view.locator("ins").textContent()).includes("<img src=x onerror=alert(1)>\\u{202e} on Tuesday"));
  assert.ok((await view.locator("del").textContent()).includes("we meet on Monday"));
  assert.equal(await view.locator("img").count(), 0);
  assert.ok((await tab.evaluate(() => window.sizes)).at(-1) > 50);
  if (WRIT_SHOTS) await tab.screenshot({ path: `${WRIT_SHOTS}/view-preview.png` });
  await view.getByRole("button", { name: "Apply" }).focus();
  await tab.keyboard.press("Enter");
  await view.getByText("Done").waitFor();
  assert.ok((await readFile(`${root}/a.md`, "utf8")).includes("Tuesday"));
  assert.equal(await view.getByRole("button").count(), 0);

  // What waits for a person is shown, and can't be approved here.
  const one = JSON.parse((await call("read_file", { path: "src/b.md" })).content[0].text).version;
  const asks = { path: "src/b.md", old_text: "one", new_text: "two", observed_version: one };
  const waits = await host({ theme: "dark", locale: "zh-CN" }, asks, await call("replace_text", asks));
  const dark = waits.frameLocator("iframe");
  await dark.getByText("等待人工审批").waitFor();
  assert.equal(await dark.locator("ins").textContent(), "two");
  assert.ok((await dark.locator(".message").first().textContent()).includes("writ approvals"));
  assert.equal(await dark.getByRole("button").count(), 0);
  if (WRIT_SHOTS) await waits.screenshot({ path: `${WRIT_SHOTS}/view-waits.png` });
  assert.deepEqual(complaints, []);
  console.log("ok   the view of a change in a host of MCP Apps: preview, apply, hostile text, what waits, dark and light");
} finally {
  await browser.close();
  server.stdin.end();
}
