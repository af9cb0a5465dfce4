import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { EVERYTHING, inTurns } from './extent.ts';

/**
 * The message that Chromium logs for a response with an error status. Such responses are collected with their URL
 * instead.
 */
const ERROR_STATUS = /^Failed to load resource: the server responded/;

/**
 * Collects script errors, violations of the content security policy, and responses with an error status. No page may
 * have any.
 */
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

/**
 * Window widths combined with colour schemes and directions: at each width both schemes and both directions. No rule
 * depends on scheme and direction together, so only the long form tries all pairs (`npm run test:long -- shifts`).
 */
const LOOKS: readonly Look[] = [390, 768, 1_440].flatMap((width) =>
  (['dark', 'light'] as const).flatMap((colorScheme) =>
    (['rtl', 'ltr'] as const)
      .filter((dir) => process.env.EVERY_WIDTH || (dir === 'rtl') === ((colorScheme === 'dark') === (width !== 768)))
      .map((dir) => ({ colorScheme, width, dir })),
  ),
);

/**
 * All rules, run at two looks: most rules depend only on the elements shown, and a narrow window shows other elements
 * than a wide one.
 */
const EVERY_RULE = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'] } as const;
/** A rule that axe runs only if it is enabled by name. */
const ALSO = { 'label-content-name-mismatch': { enabled: true } };
/** Rules whose result depends on colours, sizes or directions. */
const RULES_OF_LOOKS = {
  type: 'rule',
  values: ['color-contrast', 'link-in-text-block', 'target-size', 'scrollable-region-focusable'],
} as const;

/**
 * The looks that are checked against every rule. The rules take most of a journey's time, so `npm test` checks each
 * page at one of these looks, in rotation, and at the other looks only for its width.
 */
const fullLooks = inTurns(
  LOOKS.filter(
    ({ colorScheme, width, dir }) =>
      (colorScheme === 'dark' && width === 390 && dir === 'rtl') ||
      (colorScheme === 'light' && width === 1_440 && dir === 'ltr'),
  ),
  1,
);

/**
 * Asserts that a page has no accessibility violation and is not wider than its window: in light and dark mode, at three
 * widths, left to right and right to left. Loads the page once; afterwards it is 1,440 px wide.
 */
export async function assertAccessible(page: Page, name: string): Promise<void> {
  const full = fullLooks();
  for (const look of LOOKS) {
    const { colorScheme, width, dir } = look;
    const title = `${name}, ${colorScheme}, ${width} px, ${dir}`;
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height: 900 });
    // Scroll to the top: a target half covered by a sticky bar counts as too small.
    const wider = await page.evaluate(
      `document.documentElement.dir = '${dir}'; scrollTo(0, 0); document.documentElement.scrollWidth - innerWidth`,
    );
    if (full.includes(look)) assert.deepEqual(await findViolations(page, EVERY_RULE), [], title);
    else if (EVERYTHING) assert.deepEqual(await findViolations(page, RULES_OF_LOOKS), [], title);
    assert.ok(Number(wider) <= 0, `${title} is ${wider} px wider than its window`);
  }
  await page.setViewportSize({ width: 360, height: 900 });
  const wider = await page.evaluate(
    "document.documentElement.removeAttribute('dir'); document.documentElement.scrollWidth - innerWidth",
  );
  assert.ok(Number(wider) <= 0, `${name} is ${wider} px wider than a window of 360`);
  await page.setViewportSize({ width: 1_440, height: 900 });
}

/**
 * Returns the violations that axe rates critical or serious, or all violations if `runOnly` names rules. Checks the
 * page, or only the elements that match `include`. Runs in each frame on the page in its current state; the script of
 * axe is injected once a frame.
 */
export async function findViolations(
  page: Page,
  runOnly: axe.RunOnly | typeof EVERY_RULE | typeof RULES_OF_LOOKS = EVERY_RULE,
  include?: string[],
): Promise<string[]> {
  const isNamed = runOnly.type === 'rule';
  const options = {
    runOnly,
    ...(!isNamed && { rules: ALSO }),
    resultTypes: ['violations'],
    iframes: false,
    preload: false,
  } as axe.RunOptions;
  const found: string[] = [];
  for (const frame of page.frames()) {
    if (!(await frame.evaluate("'axe' in window"))) await frame.evaluate(axe.source);
    const violations = await frame.evaluate(
      async ({ options, include }) => {
        const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(include ?? document, options);
        return violations.map(({ id, impact, nodes }) => ({
          impact,
          said: `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
        }));
      },
      { options, include },
    );
    for (const { impact, said } of violations) {
      if (isNamed || impact === 'critical' || impact === 'serious') found.push(said);
    }
  }
  return found;
}
