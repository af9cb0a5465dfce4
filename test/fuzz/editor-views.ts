import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PACKAGE } from '../../src/platform/core/package/package-files.ts';
import { launchBrowser } from '../browser.ts';
import { openContext } from '../browser-visitor.ts';
import { openViews } from './editor-views/driver.ts';
import { sequences } from './editor-views/steps.ts';
import { MINUTES, runCases } from './run-cases.ts';

/** Edits in the rich view and the source view of the editor. `npm test` runs a few in a journey. */
const CASES = MINUTES > 0 ? 50_000 : 500;

test('edits in the rich view and in the source view write the same bytes, and leave all others', async (t) => {
  const { check } = await openViews(await openContext(await launchBrowser()));
  await runCases(t, { cases: CASES, arbitrary: sequences, check });
});

/** The collections next to this checkout. Without them, the test uses the documents of the repository. */
const COLLECTIONS = fileURLToPath(new URL('../shared/corpora', PACKAGE));
const OWN = fileURLToPath(PACKAGE);

test('showing a text of the collections in both views keeps each byte', async (t) => {
  const { lookThrough } = await openViews(await openContext(await launchBrowser()));
  let files = 0;
  for (const [cwd, pattern] of [
    [COLLECTIONS, '**/*.*'],
    [OWN, '{*.md,docs/**/*.md,test/clipboards/*}'],
  ] as const) {
    for await (const name of glob(pattern, { cwd })) {
      const text = decode(await readFile(`${cwd}/${name}`));
      if (text === undefined) continue;
      const { isSame, fault } = await lookThrough(text);
      assert.ok(isSame, name);
      // For example, a highlighter runs out of stack: the text is then shown without colours.
      if (fault !== undefined) t.diagnostic(`${name}: ${fault.split('\n', 1)[0]}`);
      files += 1;
    }
  }
  t.diagnostic(`${files} files`);
  assert.ok(files > 0);
});

/** Decodes bytes; returns undefined if they are not valid UTF-8. */
function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
