import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { skip } from '../test/browser.ts';
import { openBrowserFor } from '../test/browser-visitor.ts';
import { extent } from '../test/extent.ts';
import { openWorld } from '../test/world.ts';

const world = await openWorld();
const owner = await world.owner();
const context = await openBrowserFor(world, owner.user_id, { viewport: { width: 1280, height: 800 } });
const { body: overview } = await owner.get('/v1/overview');
const root = `${world.address}/${overview.session.organizations[0].slug}/${overview.wikis[0].slug}`;

const stacked = (mark: string) => `a${mark.repeat(60)}`.repeat(20);

/** Texts that paint outside their boxes. */
const TEXTS: Record<string, string> = {
  'a rule that covers the window':
    '$\\smash{\\rlap{\\kern-45em\\raisebox{25em}{\\textcolor{red}{\\rule{50em}{50em}}}}}$',
  'a formula to the left': '$\\llap{\\text{Sign in again, please}\\kern30em}$',
  'marks above letters': stacked('\u030d'),
  'a rule above the text': '$$\\smash{\\raisebox{30em}{\\rule{20em}{2em}}}$$',
  'a formula below the text': '$\\smash{\\raisebox{-40em}{\\rule{40em}{20em}}}$',
  'marks below letters': stacked('\u0331'),
  'a word without end': 'x'.repeat(3_000),
  'a wide table': `|${' a |'.repeat(60)}\n|${' - |'.repeat(60)}\n|${` ${'wide'.repeat(10)} |`.repeat(60)}`,
  'a line of code without end': `\`\`\`\n${'code '.repeat(500)}\n\`\`\``,
  'a long run in the other direction': `\u202e${'شكرا '.repeat(400)}`,
};

/** Returns pictures of the window around the box of the text and its margin. */
async function besideText(page: Page): Promise<Buffer[]> {
  const box = await page.locator('article .prose').first().boundingBox();
  assert.ok(box);
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
  const MARGIN = 30;
  const [left, right] = [Math.floor(box.x - MARGIN), Math.ceil(box.x + box.width + MARGIN)];
  const [top, bottom] = [Math.floor(box.y - MARGIN), Math.ceil(box.y + box.height + MARGIN)];
  const areas = [
    { x: 0, y: 0, width: left, height },
    { x: right, y: 0, width: width - right, height },
    { x: 0, y: 0, width, height: top },
    { x: 0, y: bottom, width, height: height - bottom },
  ].filter((area) => area.width > 0 && area.height > 0);
  const pictures: Buffer[] = [];
  for (const clip of areas) pictures.push(await page.screenshot({ clip, animations: 'disabled', caret: 'hide' }));
  return pictures;
}

/** Counts the pixels that differ between two pictures by more than the rounding of painting. */
function changedPixels(page: Page, ...pictures: [Buffer, Buffer]): Promise<number> {
  const sources = pictures.map((picture) => `data:image/png;base64,${picture.toString('base64')}`);
  return page.evaluate(async (addresses) => {
    const pixels = async (address: string) => {
      const image = new Image();
      image.src = address;
      await image.decode();
      const { width, height } = image;
      const context = new OffscreenCanvas(width, height).getContext('2d');
      if (!context) throw new Error('this browser has no canvas');
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, width, height).data;
    };
    const [before, after] = await Promise.all(addresses.map(pixels));
    if (!before || before.length !== after?.length) throw new Error('the pictures are of two sizes');
    const ROUNDING = 4;
    let changed = 0;
    for (let pixel = 0; pixel < before.length; pixel += 4) {
      const differs = (channel: number) =>
        Math.abs((before[pixel + channel] ?? 0) - (after[pixel + channel] ?? 0)) > ROUNDING;
      if (differs(0) || differs(1) || differs(2)) changed += 1;
    }
    return changed;
  }, sources);
}

/** Counts the points outside the text at which a click would hit the text. */
function coveredPoints(page: Page): Promise<number> {
  return page.evaluate(() => {
    const text = document.querySelector('article .prose');
    const box = text?.getBoundingClientRect();
    if (!text || !box) throw new Error('there is no text');
    let covered = 0;
    for (let x = 10; x < innerWidth; x += 40) {
      for (let y = 10; y < innerHeight; y += 40) {
        const isBeside = x < box.left - 30 || x > box.right + 30 || y < box.top - 30 || y > box.bottom + 30;
        if (isBeside && text.contains(document.elementFromPoint(x, y))) covered += 1;
      }
    }
    return covered;
  });
}

for (const [what, markdown] of Object.entries(TEXTS).slice(0, extent(100, 3))) {
  test(`${what} paints nothing outside its text`, { skip }, async () => {
    const path = await pageOf(`Shows ${what}`, `Before\n\n${markdown}\n\nAfter`);
    await assertInside(path, markdown.startsWith('$'));
  });
}

test('a revision, and a page with a part of another page, paint nothing outside their texts', {
  skip,
}, async () => {
  const [[what, markdown] = ['', '']] = Object.entries(TEXTS);
  const path = await pageOf(`Original of ${what}`, markdown);
  await assertInside(`-/history/${path}?revision=1`, true);
  await assertInside(await pageOf(`Around ${what}`, `![[Original of ${what}]]`), true);
});

async function pageOf(title: string, markdown: string): Promise<string> {
  const { status, body } = await owner.post(`/v1/wikis/${owner.wiki_id}/pages`, { title, markdown });
  assert.equal(status, 201, JSON.stringify(body));
  return body.path;
}

async function assertInside(address: string, hasFormula: boolean): Promise<void> {
  const page = await context.newPage();
  await page.goto(`${root}/${address}`);
  await page.locator('html.scripted').waitFor();
  if (hasFormula) await page.locator('.katex').first().waitFor({ state: 'attached' });
  assert.equal(await coveredPoints(page), 0, address);
  const shown = await besideText(page);
  await page.evaluate(() => {
    for (const text of document.querySelectorAll<HTMLElement>('article .prose')) text.style.visibility = 'hidden';
  });
  const alone = await besideText(page);
  for (const [index, picture] of shown.entries()) {
    const changed = await changedPixels(page, picture, alone[index] as Buffer);
    assert.equal(changed, 0, `${address}: it paints beside its box`);
  }
  await page.close();
}
