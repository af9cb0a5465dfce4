import { test } from 'node:test';
import { launchBrowser } from '../browser.ts';
import { openContext } from '../browser-visitor.ts';
import { openViews } from './editor-views/driver.ts';
import { sequences } from './editor-views/steps.ts';
import { MINUTES, runCases } from './run-cases.ts';

/** Edits in the real views of the editor, as it is read and as it is written; `npm test` runs a few in a journey. */
const CASES = MINUTES > 0 ? 50_000 : 500;

test('edits in the text as it is read and in its source write the same bytes, and leave all others', async (t) => {
  const { check } = await openViews(await openContext(await launchBrowser()));
  await runCases(t, { cases: CASES, arbitrary: sequences, check });
});
