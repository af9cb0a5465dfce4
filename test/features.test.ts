import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';

const SRC = fileURLToPath(new URL('src/', PACKAGE));
// Import the lists from the same modules as the definitions: a bundle would have its own copies.
const { ENDPOINTS, JOBS }: typeof import('../src/app.ts') = await import(`${SRC}app.ts`);
const { WIDGET_ENDPOINTS }: typeof import('../src/organization/widget-endpoints.ts') = await import(
  `${SRC}organization/widget-endpoints.ts`
);
const DEFINITION = /\b(?:endpoint|defineJob|defineRecordJob)\(\{/;

const isDefinition = (value: unknown) =>
  typeof value === 'object' && value !== null && 'run' in value && ('access' in value || 'attempts' in value);

async function findDefinitions(): Promise<{ file: string; value: unknown }[]> {
  const files = globSync('**/*.ts', { cwd: SRC })
    .filter((file) => !file.endsWith('.test.ts'))
    .filter((file) => DEFINITION.test(readFileSync(`${SRC}${file}`, 'utf8')));
  const exported = await Promise.all(
    files.map(async (file) => Object.values(await import(`${SRC}${file}`)).map((value) => ({ file, value }))),
  );
  return exported.flat().filter(({ value }) => isDefinition(value));
}

test('every endpoint and every job that a file defines is in a list', async () => {
  const definitions = await findDefinitions();
  // Widget endpoints are derived from other endpoints, so no file defines them.
  const listed = new Set<unknown>([...ENDPOINTS, ...JOBS]);
  for (const endpoint of WIDGET_ENDPOINTS) listed.delete(endpoint);
  const unlisted = definitions.filter(({ value }) => !listed.has(value)).map(({ file }) => file);
  assert.deepEqual(unlisted, [], 'add it to the feature.ts of its folder, and a new feature.ts to src/app.ts');
  assert.equal(definitions.length, listed.size, 'every one must be found');
});
