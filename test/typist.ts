import assert from 'node:assert/strict';
import { mkdtemp, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { CHROMIUM, PAGE_TIMEOUT_MS } from './browser.ts';
import { until } from './until.ts';
import { text as textOf } from './web-steps.ts';

type Editor = HTMLElement & { text: string };

/**
 * A simulated writer: types words into the editor of one page. Its browser has a profile on disk, and can be killed and
 * reopened.
 */
export class Typist {
  readonly url: string;
  readonly #cookie: { name: string; value: string; url: string };
  readonly #folder: string;
  #context: BrowserContext | undefined;
  #words = 0;
  /** The typed text. `#times` has the time of each character. */
  typed = '';
  /** The text that the page has saved. */
  saved = '';
  #times: number[] = [];

  private constructor(url: string, cookie: { name: string; value: string; url: string }, folder: string) {
    this.url = url;
    this.#cookie = cookie;
    this.#folder = folder;
  }

  /** `url`: the editor of an empty page. `secret`: the secret of a signed-in browser. */
  static async start(url: string, secret: string): Promise<Typist> {
    const folder = await mkdtemp(join(tmpdir(), 'ibid-typist-'));
    const typist = new Typist(url, { name: 'ibid', value: secret, url: new URL(url).origin }, folder);
    await typist.openBrowser();
    return typist;
  }

  async openBrowser(): Promise<void> {
    this.#context = await chromium.launchPersistentContext(this.#folder, {
      executablePath: CHROMIUM ?? '',
      args: ['--no-sandbox', '--disable-gpu'],
      reducedMotion: 'reduce',
    });
    this.#context.setDefaultTimeout(PAGE_TIMEOUT_MS);
    await this.#context.addCookies([this.#cookie]);
  }

  get context(): BrowserContext {
    return this.#context as BrowserContext;
  }
  get page(): Page {
    return this.context.pages().at(-1) as Page;
  }

  /** Kills the browser like a crash: none of its code runs any more. */
  async killBrowser(): Promise<void> {
    const pid = Number((await readlink(join(this.#folder, 'SingletonLock'))).split('-').at(-1));
    const closed = new Promise((done) => this.context.once('close', done));
    process.kill(pid, 'SIGKILL');
    await closed;
  }

  /** Kills the process that renders the page. */
  async killTab(): Promise<void> {
    const { page } = this;
    const crashed = new Promise((done) => page.once('crash', done));
    const session = await this.context.newCDPSession(page);
    // The command gets no answer.
    session.send('Page.crash').catch(() => undefined);
    await crashed;
    // Settings of the context are sent to each of its tabs, and the crashed tab would refuse them.
    await this.context.newPage();
    await page.close();
  }

  /** Opens the page in a new tab, and closes the others. */
  async open(): Promise<void> {
    const old = this.context.pages();
    const page = await this.context.newPage();
    await page.goto(this.url);
    for (const tab of old) await tab.close();
    await page.locator('ibid-editor .cm-content').waitFor();
  }

  text(page = this.page): Promise<string> {
    return page.locator('ibid-editor').evaluate((editor: Editor) => editor.text);
  }

  /** Types words for about this time. */
  async type(milliseconds: number): Promise<void> {
    const { page } = this;
    await textOf(page).focus();
    await page.keyboard.press('Control+End');
    for (const end = performance.now() + milliseconds; performance.now() < end; ) {
      this.#words += 1;
      for (const key of `w${this.#words}${this.#words % 9 === 0 ? '\n' : ' '}`) {
        await page.keyboard.press(key === '\n' ? 'Enter' : key === ' ' ? 'Space' : key);
        // Enter begins a paragraph.
        for (const written of key === '\n' ? '\n\n' : key) {
          this.typed += written;
          this.#times.push(performance.now());
        }
      }
    }
  }

  /** Returns the text that had been typed this long ago, which is the least that must survive a crash. */
  typedBefore(milliseconds: number): string {
    const at = performance.now() - milliseconds;
    return this.typed.slice(0, this.#times.filter((time) => time <= at).length);
  }

  /** Waits until at least `must` is in the editor again. Typing continues from that text. */
  async assertKept(must: string, where: string, page = this.page): Promise<void> {
    const { typed } = this;
    const kept = await until(
      `${where}: “…${must.slice(-40)}” of “…${typed.slice(-60)}” is there again`,
      () => this.text(page),
      (text) => text.length >= must.length && text.startsWith(must),
    );
    assert.ok(typed.startsWith(kept), `${where}: “…${kept.slice(-80)}” was not typed so: “…${typed.slice(-80)}”`);
    if (page !== this.page) return;
    this.typed = kept;
    this.#times.length = kept.length;
    this.#words = kept.match(/w\d+(?=\s)/g)?.length ?? 0;
    // Complete a word that was cut off.
    const cut = /w?\d*$/.exec(kept)?.[0] ?? '';
    const rest = `w${this.#words + 1} `.slice(cut.length);
    if (cut === '') return;
    await textOf(page).focus();
    await page.keyboard.press('Control+End');
    await page.keyboard.type(rest);
    this.typed += rest;
    this.#times.push(...Array.from(rest, () => performance.now()));
    this.#words += 1;
  }

  async stop(): Promise<void> {
    await this.context.close();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
