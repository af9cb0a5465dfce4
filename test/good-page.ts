import assert from 'node:assert/strict';
import { AxeBuilder } from '@axe-core/playwright';
import type { BrowserContext, Page } from 'playwright-core';

/** What no page may show: scripts that fail, what the policy forbids, and what is not there. */
export function watch(page: Page, complaints: string[]): void {
  page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${page.url()}: ${message.text()}`);
  });
}

/** A new page, and what it complains of from now on. */
export async function openWatched(context: BrowserContext): Promise<{ page: Page; complaints: string[] }> {
  const page = await context.newPage();
  const complaints: string[] = [];
  watch(page, complaints);
  return { page, complaints };
}

/** Fails for whatever keeps somebody out, in light and in dark, and for a page that is wider than its window. */
export async function assertGood(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const { violations } = await new AxeBuilder({ page })
      .withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'])
      .analyze();
    const grave = violations.filter(({ impact }) => impact === 'critical' || impact === 'serious');
    const said = grave.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
    );
    assert.deepEqual(said, [], `${name}, ${colorScheme}`);
  }
  for (const width of [360, 768, 1_440]) {
    await page.setViewportSize({ width, height: 900 });
    const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    assert.ok(Number(wider) <= 0, `${name} is ${wider} px wider than a window of ${width}`);
  }
}
