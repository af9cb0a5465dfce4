import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';
import type { BrowserContext, Page } from 'playwright-core';
import { PACKAGE } from '../../../src/platform/core/package/package-files.ts';
import type { Views } from './page.ts';
import type { Step } from './steps.ts';

const ADDRESS = 'http://editor.test/';
declare const views: Views;

/** Opens a tab with the editor's text views, without the service, to run many sequences of edits. */
export async function openViews(context: BrowserContext): Promise<{
  page: Page;
  /** Runs a sequence of edits in both views. Throws an error with the broken guarantee. */
  check(sequence: { text: string; steps: Step[] }): Promise<void>;
  /** Shows all of a text in both views. Returns whether each byte is unchanged, and the editor's fault, if any. */
  lookThrough(text: string): Promise<{ isSame: boolean; fault: string | undefined }>;
}> {
  const script = await bundle();
  const page = await context.newPage();
  await page.route(`${ADDRESS}**`, (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === '/') return route.fulfill({ contentType: 'text/html', body: '<!doctype html><body></body>' });
    if (pathname === '/views.js') return route.fulfill({ contentType: 'text/javascript', body: script });
    if (pathname.endsWith('.css')) return route.fulfill({ contentType: 'text/css', body: '' });
    return route.fulfill({ contentType: 'application/json', body: '[]' });
  });
  const keyboard = await context.newCDPSession(page);
  await page.exposeFunction('typeText', (text: string) =>
    text.length === 1
      ? keyboard.send('Input.dispatchKeyEvent', { type: 'char', text })
      : keyboard.send('Input.insertText', { text }),
  );
  await page.exposeFunction('composeText', async (text: string) => {
    for (let end = 1; end <= text.length; end += 1) {
      const composed = text.slice(0, end);
      await keyboard.send('Input.imeSetComposition', { text: composed, selectionStart: end, selectionEnd: end });
    }
    await keyboard.send('Input.insertText', { text });
  });
  await page.goto(ADDRESS);
  await page.addScriptTag({ url: `${ADDRESS}views.js`, type: 'module' });
  await page.waitForFunction('globalThis.views');
  return {
    page,
    async check(sequence) {
      const fault = await page.evaluate(({ text, steps }) => views.runSequence(text, steps), sequence);
      if (fault !== undefined) throw new Error(fault);
    },
    lookThrough: (text) => page.evaluate((it) => views.lookThrough(it), text),
  };
}

async function bundle(): Promise<string> {
  try {
    const entryPoints = [fileURLToPath(new URL('test/fuzz/editor-views/page.ts', PACKAGE))];
    const { outputFiles } = await build({ entryPoints, bundle: true, write: false, format: 'esm', target: ['es2022'] });
    return outputFiles[0]?.text ?? '';
  } finally {
    // The bundler is a child process, which would outlive the test.
    await stop();
  }
}
