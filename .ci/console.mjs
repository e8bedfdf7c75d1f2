// See .ci/console, which runs this.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";

const { PLAYWRIGHT, CHROMIUM, WRIT, SCRATCH, WRIT_SHOTS } = process.env;
const { chromium } = await import(PLAYWRIGHT);
const root = `${SCRATCH}/vault`, flags = ["--state", `${SCRATCH}/state`, "--ask", "src/**", "--write", "docs/**", root];
const hostileName = `<img src=x onerror="document.title='owned'">\u202e\u200b.md`;
const hostileText = `</td></table><script>document.title='owned'</script>\n\u202edaolyap\u202c\n`;
await mkdir(`${root}/src`, { recursive: true });
await writeFile(`${root}/src/server.go`, 'package main\n\nfunc greet(name string) string {\n\treturn "Hello, " + name\n}\n');

// agent is a client over stdio that can't put a question to anybody.
const agent = spawn(WRIT, ["serve", "--tools", "all", ...flags], { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
createInterface({ input: agent.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  waiting.get(message.id)?.(message.result ?? message.error);
});
let lastID = 0;
const request = (method, params) => new Promise((resolve) => {
  waiting.set(++lastID, resolve);
  agent.stdin.write(JSON.stringify({ jsonrpc: "2.0", id: lastID, method, params }) + "\n");
});
const call = async (name, args) => JSON.parse((await request("tools/call", { name, arguments: args })).content[0].text);
await request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "agent", version: "1" } });
agent.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');

const links = [], heard = [];
const page = spawn(WRIT, ["console", ...flags], { stdio: ["ignore", "inherit", "pipe"] });
createInterface({ input: page.stderr }).on("line", (line) => {
  const link = line.match(/http:\S+/)?.[0];
  if (!link) return console.error(line);
  const waits = heard.shift();
  waits ? waits(link) : links.push(link);
});
const link = async () => links.shift() ?? new Promise((resolve) => heard.push(resolve));

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
const complaints = [];

// open follows a link in a browser of its own.
async function open(options) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const tab = await context.newPage();
  tab.on("console", (m) => ["error", "warning"].includes(m.type()) && complaints.push(m.text()));
  tab.on("pageerror", (e) => complaints.push(e.message));
  tab.on("dialog", (d) => { complaints.push(`a dialog: ${d.message()}`); d.dismiss(); });
  await tab.goto(await link());
  const site = new URL(tab.url()).origin;
  tab.on("request", (r) => r.url().startsWith(site) || complaints.push(`asked of ${r.url()}`));
  return tab;
}
const shoot = (tab, name) => WRIT_SHOTS && tab.screenshot({ path: `${WRIT_SHOTS}/${name}.png`, fullPage: true });

// press moves the focus by the Tab key until it is on what is wanted, and presses Enter.
async function press(tab, selector) {
  const wanted = await tab.locator(selector).first().elementHandle({ timeout: 5000 });
  for (let i = 0; i < 60; i++) {
    await tab.keyboard.press("Tab");
    if (await wanted.evaluate((e) => e === document.activeElement)) {
      const outline = await wanted.evaluate((e) => getComputedStyle(e).outlineStyle);
      assert.notEqual(outline, "none", `${selector} does not show that it has the focus`);
      return tab.keyboard.press("Enter");
    }
  }
  assert.fail(`no Tab leads to ${selector}`);
}

async function main() {
  const tab = await open({ colorScheme: "light", locale: "en-US" });
  await tab.getByText("Nothing waits for you.").waitFor();

  // What is asked for shows by itself.
  const before = await call("read_file", { path: "src/server.go" });
  const edit = { path: "src/server.go", old_text: '"Hello, " + name', new_text: '"Good evening, " + name', observed_version: before.version };
  const asked = await call("replace_text", edit);
  assert.equal(asked.errors[0].code, "approval-required");
  await tab.getByText(asked.errors[0].details.approval_id).waitFor();
  assert.match(await tab.title(), /^\(1\) /);
  assert.equal(await tab.locator("del mark").textContent(), "Hello");
  assert.equal(await tab.locator("ins mark").textContent(), "Good evening");
  await shoot(tab, "approval");

  // A page with buttons stays as it is and says that there is more.
  const hostile = await call("create_file", { path: `src/${hostileName}`, content: hostileText });
  assert.equal(hostile.errors[0].code, "approval-required");
  await tab.getByText("There is something new.").waitFor();
  assert.equal(await tab.locator("article").count(), 1);
  await press(tab, "#stale a");
  await tab.getByText("\\u{202e}daolyap").waitFor();
  assert.equal(await tab.locator("article").count(), 2);
  assert.equal(await tab.locator("main img, main script").count(), 0);
  assert.ok((await tab.locator("article").nth(1).textContent()).includes("<img src=x onerror="));
  await shoot(tab, "hostile");

  // Approve, by keyboard alone; the same call goes on.
  await press(tab, "button.yes");
  await tab.getByText("Approved: the same call goes on").waitFor();
  assert.equal((await call("replace_text", edit)).status, "succeeded");
  assert.ok((await readFile(`${root}/src/server.go`, "utf8")).includes("Good evening"));

  // Look at what it did, and undo it.
  await press(tab, 'nav a[href$="/changes"]');
  await press(tab, ".list td:nth-child(2) a");
  await tab.locator("ins mark").waitFor();
  await shoot(tab, "change");
  await press(tab, "button.yes");
  await tab.getByText("Undone.").waitFor();
  assert.ok((await readFile(`${root}/src/server.go`, "utf8")).includes('"Hello, "'));
  await press(tab, 'nav a[href$="/audit"]');
  await tab.getByText("The chain is whole").waitFor();
  assert.ok((await tab.locator("table").textContent()).includes("writ console"));

  // The audit shows what comes by itself.
  await call("create_file", { path: `docs/${hostileName}`, content: hostileText });
  await tab.locator(".audit tr", { hasText: "docs/<img" }).or(tab.locator(".audit tr", { hasText: 'docs/<img' })).first().waitFor();
  assert.ok(!(await tab.title()).includes("owned"));

  // In Chinese and dark, and by choice in English again; every page, and on a small screen.
  for (const [name, options] of [["dark-zh", { colorScheme: "dark", locale: "zh-CN" }], ["small", { colorScheme: "light", locale: "en-US", viewport: { width: 400, height: 800 } }]]) {
    const other = await open(options);
    for (const [section, says] of [["", ["审批", "Approvals"]], ["changes", ["历史", "History"]], ["audit", ["审计", "Audit"]], ["scope", ["权限与限制", "Scope and limits"]]]) {
      await press(other, `nav a[href$="/${section}"]`);
      await other.getByRole("heading", { level: 1, name: says[name === "small" ? 1 : 0], exact: true }).waitFor();
      const wide = await other.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.ok(!wide, `${section} is wider than the screen`);
      await shoot(other, `${name}-${section || "approvals"}`);
    }
    if (name === "dark-zh") {
      const dark = await other.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(dark, "rgb(18, 19, 22)");
      await press(other, '.languages a[lang="en"]');
      await other.getByRole("heading", { name: "Scope and limits" }).waitFor();
    }
    await other.context().close();
  }

  // Without scripts a reload does.
  const plain = await open({ javaScriptEnabled: false });
  await plain.locator("article").first().waitFor();
  await plain.locator("button.no").first().click();
  await plain.getByText("Declined: such a call is refused").waitFor();
  assert.equal((await call("create_file", { path: `src/${hostileName}`, content: hostileText })).errors[0].code, "approval-declined");

  // Who left is out.
  await press(tab, ".side button");
  await tab.getByText("This console is closed").waitFor();
  assert.deepEqual(complaints.filter((c) => !c.includes("403")), []);
}

try {
  await main();
  console.log("ok   the console in Chromium: approve, undo, hostile text, keyboard, two languages, dark and light, without scripts");
} finally {
  await browser.close();
  page.kill();
  agent.stdin.end();
}
