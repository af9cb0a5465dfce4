import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';

const ROOT = fileURLToPath(PACKAGE);

/** Runs a test whose need this machine lacks. Returns the exit code and the output. */
async function runWithoutIt(env: Record<string, string>): Promise<{ code: number; printed: string }> {
  const file = `
    import { test } from 'node:test';
    import { skipUnless } from ${JSON.stringify(new URL('test/needs.ts', PACKAGE).href)};
    test('it runs', { skip: skipUnless(false, 'Install the loom.') }, () => undefined);`;
  const options = { env: { PATH: process.env.PATH, ...env } };
  return promisify(execFile)(process.execPath, ['--input-type=module', '--eval', file], options).then(
    ({ stdout }) => ({ code: 0, printed: stdout }),
    ({ code, stdout, stderr }) => ({ code, printed: stdout + stderr }),
  );
}

test('a test that cannot run is skipped, or fails in CI, and says what to install', async () => {
  const [inCi, elsewhere] = [await runWithoutIt({ CI: 'true' }), await runWithoutIt({})];
  for (const { printed } of [inCi, elsewhere]) assert.match(printed, /Install the loom\./);
  assert.equal(inCi.code, 1);
  assert.equal(elsewhere.code, 0);
});

test('no test is skipped in any other way', () => {
  const files = globSync(['packages/**/*.test.ts', 'src/**/*.test.ts', 'test/**/*.test.ts', 'web/**/*.test.ts'], {
    cwd: ROOT,
  });
  const skipping = files.filter((file) =>
    /\bskip\s*=|\.skip\(|\bskip:\s(?!skipUnless|skipFirefox\b|skipProxies\b)|\btodo\b/.test(
      readFileSync(ROOT + file, 'utf8'),
    ),
  );
  assert.ok(files.length > 0);
  assert.deepEqual(skipping, [], 'Say what is missing with skipUnless of test/needs.ts.');
});

test('test files clean up with `cleanUp`, which runs all steps even if some fail', () => {
  const files = globSync(['packages/**/*.test.ts', 'src/**/*.test.ts', 'test/**/*.ts', 'web/**/*.test.ts'], {
    cwd: ROOT,
  });
  const hooked = files.filter((file) =>
    /import \{[^}]*\bafter\b[^}]*\} from 'node:test'/.test(readFileSync(ROOT + file, 'utf8')),
  );
  assert.deepEqual(
    hooked,
    ['test/clean-up.ts'],
    'Use cleanUp of test/clean-up.ts: after a hook that fails no other runs.',
  );
});

test('a test file awaits its shared setup before it declares its first test', () => {
  // Once the tests declared so far have ended, node:test runs the file's `after` hooks, and never runs them again.
  const late = globSync(['packages/**/*.test.ts', 'src/**/*.test.ts', 'test/**/*.test.ts', 'web/**/*.test.ts'], {
    cwd: ROOT,
  }).filter((file) => {
    const text = readFileSync(ROOT + file, 'utf8');
    const first = text.search(/^(?: {2})?test\(/m);
    return (
      first >= 0 &&
      /^(?!test\(|async |export async |\/\/|\/\*| ?\*)\S(?!.*\basync\b).*\bawait\b/m.test(text.slice(first))
    );
  });
  assert.deepEqual(late, [], 'Move the await above the first test.');
});
