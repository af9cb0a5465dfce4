import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { until } from './until.ts';

/** Steps that journeys in several browsers share. */

export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

export const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

/** The editor's text, not the textarea of the same name that it replaces: a click on a hidden element times out. */
export const text = (page: Page) =>
  page.getByRole('textbox', { name: 'Text, in Markdown' }).and(page.locator('[contenteditable]'));
export const markdown = (page: Page): Promise<string> =>
  page.evaluate(() => (document.querySelector('ibid-editor') as unknown as { text: string }).text);
export const save = (page: Page) => page.getByRole('link', { name: 'Done' }).click();

/** The row of a page in the tree, and a flash message. */
export const row = (page: Page, title: string) => page.getByRole('treeitem', { name: title, exact: true });
export const flash = (page: Page, words: string) => page.locator('.flash').getByText(words);

/** Opens the palette by keyboard and returns its input. */
export async function openPalette(page: Page): Promise<Locator> {
  await page.keyboard.press('Control+k');
  const input = page.getByRole('combobox', { name: 'Search this wiki' });
  await input.waitFor();
  return input;
}

/**
 * Follows a link at the end of a long page with related pages, and goes back and forward. Returns the scroll position
 * at the link.
 */
export async function goThereAndBack(page: Page, link: Locator, there: string, back: string): Promise<number> {
  const top = () => page.evaluate<number>('scrollY');
  const toEnd = () => page.evaluate('scrollTo(0, document.body.scrollHeight)');
  await toEnd();
  // The page grows when its end becomes visible.
  await page.locator('ibid-related h2').waitFor();
  await toEnd();
  await link.hover();
  const left = await top();
  await link.click();
  await heading(page, there);
  assert.equal(await top(), 0);
  await page.goBack();
  await heading(page, back);
  await until('the place that was left', top, (y) => y === left);
  await page.evaluate('scrollTo(0, 1234)');
  await page.goForward();
  await heading(page, there);
  assert.equal(await top(), 0);
  await page.goBack();
  await heading(page, back);
  assert.equal(await top(), 1_234);
  return left;
}

export async function renameInTree(page: Page, title: string, to: string): Promise<void> {
  await row(page, title).focus();
  await page.keyboard.press('F2');
  await page.getByRole('textbox', { name: `New title for ${title}` }).fill(to);
  await page.keyboard.press('Enter');
  await flash(page, `“${title}” is now “${to}”.`).waitFor();
}

/**
 * Moves a page below `to.parent`, which is searched by the beginning of its title, to the place after the subpage
 * `to.after`.
 */
export async function moveInDialog(
  page: Page,
  title: string,
  to: { parent: string; after: string },
  inspect = async () => {},
): Promise<void> {
  await row(page, title).hover();
  await page.locator('.row-do').getByText('…').click();
  await page.getByRole('menuitem', { name: 'Move…' }).click();
  const dialog = page.getByRole('dialog', { name: `Move “${title}”` });
  await dialog.getByText('Under: Top level').waitFor();
  await dialog.getByRole('combobox', { name: 'New parent' }).fill(to.parent.slice(0, 3).toLowerCase());
  await dialog.getByRole('listbox').getByRole('option', { name: to.parent }).waitFor();
  await inspect();
  await page.keyboard.press('Enter');
  await dialog.getByText(`Under: ${to.parent}`).waitFor();
  await dialog.getByLabel('Position').selectOption(`After “${to.after}”`);
  await dialog.getByRole('button', { name: 'Move' }).click();
  await flash(page, `“${title}” was moved.`).waitFor();
}

/** Resolves an edit conflict by keyboard: keeps both versions. */
export async function keepBoth(
  page: Page,
  inspect: (dialog: Locator) => Promise<void> = async () => {},
): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'You and another user changed the same text' });
  await dialog.waitFor();
  await inspect(dialog);
  await dialog.getByRole('radio', { name: 'Both, yours first' }).focus();
  await page.keyboard.press('Space');
  await page.keyboard.press('Enter');
  await page.getByText('Saved at').waitFor();
}
