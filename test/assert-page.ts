import assert from 'node:assert/strict';
import { AxeBuilder } from '@axe-core/playwright';
import type { BrowserContext, Page } from 'playwright-core';

/** What Chromium says of a response with an error status, which is told here by its address and status. */
const ERROR_STATUS = /^Failed to load resource: the server responded/;

/** What no page may show: scripts that fail, what the policy forbids, and requests that are refused. */
export function collectComplaints(page: Page, complaints: string[]): void {
  const complain = (what: string) => complaints.push(`${page.url()}: ${what}`);
  page.on('pageerror', (error) => complain(error.message));
  page.on('response', (response) => {
    if (response.status() >= 400) complain(`${response.url()} was answered ${response.status()}`);
  });
  page.on('console', (message) => {
    if (message.type() === 'error' && !ERROR_STATUS.test(message.text())) complain(message.text());
  });
}

/** Opens a new page and collects its complaints. */
export async function openWatched(context: BrowserContext): Promise<{ page: Page; complaints: string[] }> {
  const page = await context.newPage();
  const complaints: string[] = [];
  collectComplaints(page, complaints);
  return { page, complaints };
}

interface Look {
  colorScheme: 'light' | 'dark';
  width: number;
  dir: 'ltr' | 'rtl';
}

/** Each value of each dimension once. */
const LOOKS: readonly Look[] = [
  { colorScheme: 'dark', width: 390, dir: 'rtl' },
  { colorScheme: 'light', width: 1_440, dir: 'ltr' },
];

export const EVERY_LOOK: readonly Look[] = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [1_440, 768, 390].flatMap((width) => (['ltr', 'rtl'] as const).map((dir) => ({ colorScheme, width, dir }))),
);

/**
 * Asserts that a page has no accessibility violation, in light and dark mode, wide and narrow, left to right and right to
 * left, and is not wider than its window. The page is loaded once; it is 1,440 px wide afterwards.
 */
export async function assertAccessible(page: Page, name: string, looks: readonly Look[] = LOOKS): Promise<void> {
  for (const { colorScheme, width, dir } of looks) {
    const look = `${name}, ${colorScheme}, ${width} px, ${dir}`;
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height: 900 });
    // From its beginning: what is half below a bar that stays is too small to hit.
    await page.evaluate(`document.documentElement.dir = '${dir}'; scrollTo(0, 0)`);
    const { violations } = await new AxeBuilder({ page })
      .withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'])
      // Without frames there is nothing to join, for which axe would open another page each time.
      .setLegacyMode(page.frames().length === 1)
      .analyze();
    const grave = violations.filter(({ impact }) => impact === 'critical' || impact === 'serious');
    const said = grave.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
    );
    assert.deepEqual(said, [], look);
    const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    assert.ok(Number(wider) <= 0, `${look} is ${wider} px wider than its window`);
  }
  await page.evaluate("document.documentElement.removeAttribute('dir')");
  for (const width of [360, 768, 1_440]) {
    await page.setViewportSize({ width, height: 900 });
    const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    assert.ok(Number(wider) <= 0, `${name} is ${wider} px wider than a window of ${width}`);
  }
}
