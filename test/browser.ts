import { existsSync } from 'node:fs';
import { after } from 'node:test';
import { type Browser, chromium } from 'playwright-core';
import { skipUnless } from './needs.ts';

/** The path of an installed browser, which playwright-core does not bring; undefined where there is none. */
export const CHROMIUM: string | undefined = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => existsSync(path));

/** The option of each test that needs a real browser. */
export const skip: string | false = skipUnless(
  CHROMIUM !== undefined,
  'Install Chromium (apt-get install chromium): tests of web pages and of attacks need it at /usr/bin.',
);

/** How long a page may take for what a test does in it: time enough for a busy machine. */
export const PAGE_TIMEOUT_MS = 60_000;

/** A real browser, until the tests of the file have ended. */
export async function launchBrowser(): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox', '--disable-gpu'] });
  after(() => browser.close());
  return browser;
}
