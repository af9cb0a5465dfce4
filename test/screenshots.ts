import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { chromium } from 'playwright-core';
import { readConfig } from '../src/operation/config.ts';
import { startService } from '../src/operation/service/start-service.ts';
import { CHROMIUM } from './browser.ts';

/** Takes the screenshots of the README: the documentation of Ibid as a wiki in Ibid. `node test/screenshots.ts`. */
if (!CHROMIUM) throw new Error('Install Chromium first: the screenshots are taken in a real browser.');
const root = fileURLToPath(new URL('../', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'ibid-pictures-'));
const service = await startService(
  readConfig({ PORT: '0', DATA_DIR: folder, RATE_LIMITS: 'off' }),
  pino({ level: 'error' }),
);
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
try {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 760 }, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(`${service.address}/welcome${new URL(service.welcome ?? '').search}`);
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel('Your e-mail').fill('ada@example.com');
  await page.getByLabel('Workspace name').fill('Ibid');
  await page.getByRole('button', { name: 'Create my wiki' }).click();
  const input = page.locator('input[type=file]:not([webkitdirectory])');
  await input.waitFor({ state: 'attached' });
  await page.locator('html.scripted').waitFor();
  const decisions = (await readdir(join(root, 'docs/decisions'))).filter((name) => name !== 'README.md');
  const files = [
    ...['ARCHITECTURE.md', 'README.md', 'CONTRIBUTING.md', 'SECURITY.md'],
    ...decisions.map((name) => `docs/decisions/${name}`),
  ];
  // The files are uploaded without their folders.
  const payload = files.map(async (path) => ({
    name: basename(path),
    mimeType: 'text/markdown',
    buffer: Buffer.from((await readFile(join(root, path), 'utf8')).replaceAll('(docs/decisions/', '(')),
  }));
  await input.setInputFiles(await Promise.all(payload));
  await page.getByRole('link', { name: 'Read the wiki' }).click();
  await page.goto(`${service.address}/ibid/main/architecture`);
  await page.locator('.prose').waitFor();
  await page.screenshot({ path: join(root, 'docs/images/reading.png') });
  const phone = await browser.newContext({
    viewport: { width: 390, height: 760 },
    storageState: await context.storageState(),
    hasTouch: true,
    isMobile: true,
  });
  const small = await phone.newPage();
  await small.goto(page.url());
  await small.locator('.prose').waitFor();
  await small.screenshot({ path: join(root, 'docs/images/phone.png') });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.getByRole('link', { name: 'Edit', exact: true }).click();
  await page.locator('.text-view .rich-h2').first().waitFor();
  await page.screenshot({ path: join(root, 'docs/images/writing.png') });

  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto(new URL('-/upload', `${page.url().split('/-/')[0]}/`).href);
  await page.locator('html.scripted').waitFor();
  await input.setInputFiles(join(root, 'docs/example.pdf'));
  await page.getByRole('link', { name: 'Page created' }).click();
  await page.locator('.prose p').nth(1).hover();
  await page.getByRole('button', { name: 'Where does this come from?' }).click();
  await page.getByRole('link', { name: /Open the PDF at page/ }).click();
  await page.locator('.viewer[data-ready]').waitFor();
  await page.screenshot({ path: join(root, 'docs/images/citations.png') });
} finally {
  await browser.close();
  await service.stop();
  await rm(folder, { recursive: true, force: true });
}
