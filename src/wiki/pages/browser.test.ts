import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderMarkdown } from '@ibid/markdown/render.ts';
import type { Browser, Page } from 'playwright-core';
import { ATTACKS, PLACED_ATTACKS } from '../../../test/attacks.ts';
import { launchBrowser, skip } from '../../../test/browser.ts';
import { extent } from '../../../test/extent.ts';
import { passageOfAllWords } from '../../../test/safe-pages.ts';
import { pageDocument } from './read-page.ts';
import { exampleFullPage } from './schema.ts';

const ORIGIN = 'http://wiki.test';
const WIKI = { wiki_id: 'wiki_01jd8w3v6xf3e8h2k9m4n5p6q9', page_path: 'a/b', findPage: () => ({ path: 'a/c' }) };
const FRAGMENTS_OF_A_PAGE = 250;

/** Forbidden effects of a document in a browser. */
interface Findings {
  /** Calls of alert and similar functions, and dialogs. */
  ran: string[];
  /** Requests other than for the page itself and its pictures. */
  requested: string[];
  /** Dangerous content of the document: script links, names, handlers. */
  held: string[];
}

async function inBrowser(work: (browser: Browser) => Promise<void>): Promise<void> {
  await work(await launchBrowser());
}

/**
 * Loads a document without a content security policy, acts on each element as a reader might, and returns the findings.
 */
async function visit(browser: Browser, document: string): Promise<Findings> {
  const page = await browser.newPage({ bypassCSP: true });
  const findings: Findings = { ran: [], requested: [], held: [] };
  try {
    await watch(page, document, findings);
    await page.goto(`${ORIGIN}/folder/page`, { waitUntil: 'load' });
    findings.held.push(...(await page.evaluate(provoke)));
    return findings;
  } finally {
    await page.close();
  }
}

async function watch(page: Page, document: string, findings: Findings): Promise<void> {
  page.on('dialog', (dialog) => {
    findings.ran.push(dialog.type());
    void dialog.dismiss();
  });
  await page.exposeFunction('sawRun', (what: string) => findings.ran.push(what));
  await page.addInitScript({
    content: `for (const name of ['alert', 'confirm', 'prompt', 'print', 'open', 'msgbox'])
      window[name] = (...args) => sawRun(name + '(' + args + ')');`,
  });
  await page.route('**/*', (route) => {
    const request = route.request();
    if (request.url() === `${ORIGIN}/folder/page`) {
      return route.fulfill({ contentType: 'text/html; charset=utf-8', body: document });
    }
    // Abort pictures, so that their error handlers run.
    if (request.resourceType() !== 'image') findings.requested.push(`${request.resourceType()} ${request.url()}`);
    return route.abort();
  });
}

/**
 * Runs in the browser: loads every picture, dispatches the events that attacks listen for on every element, and checks
 * the links.
 */
async function provoke(): Promise<string[]> {
  const held: string[] = [];
  const { document } = globalThis as unknown as { document: any };
  document.addEventListener('click', (event: any) => event.preventDefault(), true);
  for (const element of document.querySelectorAll('*')) {
    if (element.localName === 'img') element.loading = 'eager';
    for (const { name, value } of element.attributes) {
      if (/^on|^style$|^name$|^srcdoc$|^is$/i.test(name)) held.push(`<${element.localName} ${name}="${value}">`);
    }
    for (const type of 'click mouseover mouseenter pointerenter focus toggle load error start begin animationstart'.split(
      ' ',
    )) {
      element.dispatchEvent(new Event(type, { bubbles: false, cancelable: true }));
    }
    if (element.localName === 'a' && element.hasAttribute('href') && !/^(https?|mailto):$/.test(element.protocol)) {
      // An invalid address such as "http://[" leads nowhere.
      if (element.protocol !== ':') held.push(`link to ${element.href}`);
    }
    if (element.id !== '' && !element.id.startsWith('h-')) held.push(`id ${element.id}`);
  }
  const pictures: any[] = [...document.images];
  await Promise.all(
    pictures.map((picture) =>
      picture.complete ? undefined : new Promise((resolve) => picture.addEventListener('error', resolve)),
    ),
  );
  return held;
}

/** Returns the HTML of everything that is shown of the pages made from these texts. */
function shown(attacks: readonly string[]): string {
  return attacks
    .map((attack) => {
      const { html, title, description, text } = renderMarkdown(attack, WIKI);
      const snippets = [title, description, text].map((words) => `<p>${passageOfAllWords(words)}</p>`);
      return `<div>${html}</div>${snippets.join('')}`;
    })
    .join('\n');
}

function* batches(attacks: readonly string[]): Iterable<string[]> {
  for (let from = 0; from < attacks.length; from += FRAGMENTS_OF_A_PAGE) {
    yield attacks.slice(from, from + FRAGMENTS_OF_A_PAGE);
  }
}

test('a real browser runs the unsanitized attacks, so that the next tests can fail', { skip }, () =>
  inBrowser(async (browser) => {
    const raw = [
      '<img src=x onerror=alert(1)>',
      '<svg onload=alert(2)></svg>',
      '<details open ontoggle=alert(3)>x</details>',
    ];
    const { ran, held } = await visit(browser, [...raw, '<a href="javascript:alert(4)">x</a>'].join('\n'));
    for (const call of ['alert(1)', 'alert(2)', 'alert(3)']) assert.ok(ran.includes(call), `${call} must run`);
    assert.ok(held.includes('link to javascript:alert(4)'));
    assert.ok((await visit(browser, '<iframe src="https://evil.example"></iframe>')).requested.length > 0);
  }),
);

test('a real browser runs nothing from any attack, loads only pictures and finds no script links', { skip }, (t) =>
  inBrowser(async (browser) => {
    const attacks = [...ATTACKS, ...PLACED_ATTACKS].filter((_, i) => i % extent(1, 6) === 0);
    let pages = 0;
    for (const batch of batches(attacks)) {
      const fragment = shown(batch);
      const parsed = `<!doctype html><meta charset="utf-8"><body>${fragment}`;
      // Assign the HTML as an application would: parsing it, serializing it and parsing it again must not change its
      // meaning.
      const json = JSON.stringify(fragment).replaceAll('<', '\\u003c');
      const assigned = `<!doctype html><meta charset="utf-8"><body><script>
        const html = ${json};
        document.body.innerHTML = html;
        const second = document.createElement('div');
        second.innerHTML = document.body.innerHTML;
        document.body.append(second);
      </script>`;
      for (const document of [parsed, assigned]) {
        pages += 1;
        const findings = await visit(browser, document);
        // The assigning script is part of this test. It duplicates ids, which does not affect the checks.
        assert.deepEqual(findings, { ran: [], requested: [], held: [] });
      }
    }
    t.diagnostic(`${attacks.length} attacks in ${pages} pages of Chromium: nothing ran`);
  }),
);

test('a page as a standalone document runs nothing in a real browser either', { skip }, () =>
  inBrowser(async (browser) => {
    for (const attack of [
      '</title><script>alert(1)</script>',
      '"><img src=x onerror=alert(1)>',
      '<svg onload=alert(1)>',
    ]) {
      const page = renderMarkdown(`---\ntitle: ${JSON.stringify(attack)}\n---\n# ${attack}\n\n${attack}`, WIKI);
      const document = pageDocument({ ...exampleFullPage, ...page, path: attack });
      const { ran, requested } = await visit(browser, document);
      assert.deepEqual([ran, requested], [[], []], attack);
    }
  }),
);
