import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { EVERYTHING, inTurns } from './extent.ts';

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

/**
 * At each width both colours and both directions. What depends on a colour and on a direction at once is asked for by the long form
 * alone (`npm run test:long -- shifts`): no rule does.
 */
const LOOKS: readonly Look[] = [390, 768, 1_440].flatMap((width) =>
  (['dark', 'light'] as const).flatMap((colorScheme) =>
    (['rtl', 'ltr'] as const)
      .filter((dir) => process.env.EVERY_WIDTH || (dir === 'rtl') === ((colorScheme === 'dark') === (width !== 768)))
      .map((dir) => ({ colorScheme, width, dir })),
  ),
);

/** Each rule; two looks are enough for those that ask only what is there: a narrow window shows other things than a wide one. */
const EVERY_RULE = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'] } as const;
/** What of it axe runs only when it is named. */
const ALSO = { 'label-content-name-mismatch': { enabled: true } };
/** The rules whose answer depends on colours, sizes or directions. */
const RULES_OF_LOOKS = {
  type: 'rule',
  values: ['color-contrast', 'link-in-text-block', 'target-size', 'scrollable-region-focusable'],
} as const;

/**
 * The looks that are checked against every rule. The rules take most of a journey's time, so `npm test` checks one of these looks per
 * page, in turns, and the other looks for their width only.
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
 * Asserts that a page has no accessibility violation, in light and dark mode, at three widths, left to right and right to left, and
 * is not wider than its window. The page is loaded once; it is 1,440 px wide afterwards.
 */
export async function assertAccessible(page: Page, name: string): Promise<void> {
  const full = fullLooks();
  for (const look of LOOKS) {
    const { colorScheme, width, dir } = look;
    const title = `${name}, ${colorScheme}, ${width} px, ${dir}`;
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height: 900 });
    // From its beginning: what is half below a bar that stays is too small to hit.
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
 * What axe calls critical or serious in a page, or in its parts that have these selectors; of rules that are named, all that they find. It is asked in each frame by itself, in the
 * page as it is: all that is common to several questions is done once.
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
