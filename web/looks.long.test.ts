import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { openWatched } from '../test/assert-page.ts';
import { skip } from '../test/browser.ts';
import { openBrowserFor } from '../test/browser-visitor.ts';
import { type Looks, readLooks, writeLooks } from '../test/component-looks.ts';
import { openWorld } from '../test/world.ts';

/**
 * Variants of the style guide are compared with each other, box by box, in one browser, so that the fonts of the
 * machine and their rendering do not matter.
 */
interface Box {
  name: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The beginning and the end of a box can each be off by half a pixel. */
const TOLERANCE = 1;

/**
 * Reads the boxes that a layout places, in document order. Skips inline boxes, which follow the words of a line, and
 * texts with their own direction, which is not mirrored.
 */
const READ_BOXES = `[...document.querySelectorAll('body *')]
  .filter((it) => !/^(inline|contents|none)/.test(getComputedStyle(it).display) && it.checkVisibility() && !it.closest('svg, option, body [dir]'))
  .map((it) => {
    const { x, y, width, height } = it.getBoundingClientRect();
    const name = [it.localName, ...it.classList].join('.');
    return { name, x, y: y + scrollY, width, height };
  })`;

const WIDTHS = [390, 768, 1_440];

/** The accepted look of each component, updated by `ACCEPT_LOOKS=yes node test/run.ts web/looks.long.test.ts`. */
const ACCEPTED = fileURLToPath(new URL('web/looks.txt', PACKAGE));

test('the components keep their layout in each variant', { skip }, async (t) => {
  const world = await openWorld({ STYLEGUIDE: 'on' });
  const owner = await world.owner();
  await world.upload(owner, owner.wiki_id, { 'one.md': '# One\n', 'two.md': '# Two\n', 'two/below.md': '# Below\n' });
  const { session, wikis } = (await owner.get('/v1/overview')).body;
  const address = `${world.address}/${session.organizations[0].slug}/${wikis[0].slug}/-/styleguide`;
  const { page } = await openWatched(await openBrowserFor(world, owner.user_id));
  const looks = new Map<string, Looks>();
  const boxesOf = async (width: number, query: Record<string, string>): Promise<Box[]> => {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${address}?${new URLSearchParams(query)}`);
    await page.locator('html.scripted').waitFor();
    looks.set(`${query.theme}, ${query.dir ?? 'ltr'}, ${width} px`, await readLooks(page));
    return page.evaluate<Box[]>(READ_BOXES);
  };

  for (const width of WIDTHS) {
    const light = await boxesOf(width, { theme: 'light' });
    await t.test(`dark boxes equal light ones, ${width} px wide`, async () => {
      assert.deepEqual(differences(light, await boxesOf(width, { theme: 'dark' })), []);
    });
    await t.test(`right-to-left boxes are the mirror image, ${width} px wide`, async () => {
      const mirrored = (await boxesOf(width, { theme: 'light', dir: 'rtl' })).map((box) => ({
        ...box,
        x: width - box.x - box.width,
      }));
      assert.deepEqual(differences(light, mirrored), []);
    });
    await t.test(`no box extends beyond the edges, ${width} px wide`, async () => {
      const beyond = light.filter(({ x, width: wide }) => x + wide > width + TOLERANCE);
      assert.deepEqual(beyond, []);
    });
  }

  await t.test('colours, fonts and spacing equal the accepted look', () => {
    const shown = ['light, ltr, 1440 px', 'dark, ltr, 1440 px', 'light, rtl, 1440 px', 'light, ltr, 390 px'];
    const text = writeLooks(shown.map((look) => [look, looks.get(look) ?? {}]));
    if (process.env.ACCEPT_LOOKS) writeFileSync(ACCEPTED, text);
    const accepted = readFileSync(ACCEPTED, 'utf8');
    const [before, now] = [accepted, text].map((it) => it.split('\n'));
    const taken = before?.filter((line) => !now?.includes(line)).map((line) => `- ${line}`) ?? [];
    const given = now?.filter((line) => !before?.includes(line)).map((line) => `+ ${line}`) ?? [];
    assert.deepEqual([...taken, ...given], [], 'where this is meant, accept it: see above');
  });

  await t.test('a component with another look is noticed', async () => {
    await boxesOf(1_440, { theme: 'light' });
    const before = writeLooks([['light', await readLooks(page)]]);
    await moveTo(page, '.button.main', 'border-radius: 3px');
    const after = writeLooks([['light', await readLooks(page)]]).split('\n');
    assert.match(
      after.filter((line) => !before.includes(line)).join(),
      /^Buttons › button\.button\.main: .*radius 3px/m,
    );
  });

  await t.test('a box in another place is noticed', async () => {
    const before = await boxesOf(1_440, { theme: 'light' });
    await moveTo(page, '.callout', 'margin-left: 3px');
    assert.match(differences(before, await page.evaluate<Box[]>(READ_BOXES)).join(), /callout/);
  });
});

async function moveTo(page: Page, selector: string, rule: string): Promise<void> {
  await page.evaluate(
    ({ selector, rule }) => {
      const moved = new CSSStyleSheet();
      moved.replaceSync(`${selector} { ${rule} !important }`);
      document.adoptedStyleSheets.push(moved);
    },
    { selector, rule },
  );
}

function differences(boxes: readonly Box[], others: readonly Box[]): string[] {
  assert.deepEqual(
    others.map(({ name }) => name),
    boxes.map(({ name }) => name),
  );
  return boxes.flatMap((box, i) => {
    const other = others[i] ?? box;
    const isSame = (['x', 'y', 'width', 'height'] as const).every(
      (side) => Math.abs(box[side] - other[side]) <= TOLERANCE,
    );
    return isSame ? [] : [`${shown(box)} is ${shown(other)}`];
  });
}

function shown({ name, x, y, width, height }: Box): string {
  return `${name} at ${[x, y].map(Math.round).join()}, ${[width, height].map(Math.round).join(' × ')}`;
}
