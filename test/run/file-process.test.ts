import assert from 'node:assert/strict';
import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PACKAGE } from '../../src/platform/core/package/package-files.ts';
import { makeFolder } from '../process.ts';
import { commandLines } from '../processes.ts';
import { until } from '../until.ts';
import { runFiles } from './file-process.ts';

const RUNNER = fileURLToPath(new URL('test/run.ts', PACKAGE));
const ROOT = fileURLToPath(PACKAGE);

/** Writes a test file outside the checkout, and returns its path. */
async function fileOf(text: string): Promise<string> {
  const file = join(await makeFolder(), 'one.test.ts');
  writeFileSync(file, `import assert from 'node:assert/strict';\nimport { test } from 'node:test';\n${text}`);
  return file;
}

/** Runs a test file without a PostgreSQL of the run. */
async function runnerOn(text: string): Promise<SpawnSyncReturns<string>> {
  const options = { encoding: 'utf8', cwd: ROOT, env: { ...env(), DATABASE_URL: 'postgres://none' } } as const;
  return spawnSync(process.execPath, [RUNNER, await fileOf(text)], options);
}

/** Returns the environment of a run that starts a PostgreSQL of its own. */
function env(): NodeJS.ProcessEnv {
  const { DATABASE_URL, IBID_TEST_DATABASE_URL, IBID_TEST_TEMPLATE, NODE_TEST_CONTEXT, ...rest } = process.env;
  return rest;
}

test('a file that hangs and ignores SIGTERM is killed and fails', async () => {
  const folder = await makeFolder();
  const file = join(folder, 'hangs.mjs');
  writeFileSync(file, `process.on('SIGTERM', () => {}); setInterval(() => {}, 1_000);`);
  const none = join(folder, 'none.mjs');
  writeFileSync(none, 'export default async function* () {}');
  const bundles = { of: () => file, hooks: none, reporter: none, importsOf: () => new Map() };
  const run = { files: ['hangs.test.ts'], bundles, options: [], env: env(), events: join(folder, 'events') };
  const { problem } = await runFiles({ ...run, hangsMs: 2_000 });
  assert.match(problem ?? '', /^No test of it ended for/);
});

test('a failure names its test, its position in the source and the command to run it alone', async () => {
  const { status, stdout } = await runnerOn(`
    test('holds', () => undefined);
    test('one is (two)', () => assert.equal(1, 2));`);
  assert.equal(status, 1);
  assert.match(stdout, /✖ .*one\.test\.ts {2}\(2\)/);
  assert.match(stdout, /1 !== 2/);
  assert.match(stdout, /one\.test\.ts:5:\d+/);
  assert.match(stdout, /Run it alone: npm test -- .*--test-name-pattern="one is \\\\\(two\\\\\)"/);
  assert.match(stdout, /\nTests: 1 passed, 1 failed\n$/);
});

test('a file fails if its process ends with an error or before its tests', async () => {
  for (const text of ['throw new Error("at once");', 'test("a", () => undefined);\nprocess.exit(3);']) {
    const { status, stdout } = await runnerOn(text);
    assert.equal(status, 1, stdout);
    assert.match(stdout, /1 failed/);
  }
});

test('a path without tests is an error that says so', () => {
  const { status, stderr } = spawnSync(process.execPath, [RUNNER, 'nowhere'], { encoding: 'utf8', cwd: ROOT });
  assert.equal(status, 1);
  assert.match(stderr, /^There is no file or folder nowhere\.\nUsage: /);
});

test('SIGTERM and Ctrl C end a run with all its processes', async () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const folder = await makeFolder(0o1777);
    const temporary = join(folder, 't');
    mkdirSync(temporary, { mode: 0o1777 });
    const file = await fileOf(`
      import { spawn } from 'node:child_process';
      test('waits', async () => {
        spawn('sleep', ['1234'], { detached: true, stdio: 'ignore' }).unref();
        await new Promise((resolve) => setTimeout(resolve, 1_000_000));
      });`);
    const runner = spawn(process.execPath, [RUNNER, file], { cwd: ROOT, env: { ...env(), TMPDIR: temporary } });
    const ended = once(runner, 'exit');
    const started = async () =>
      (await commandLines()).filter(([, line]) => line.includes(temporary) || line === 'sleep 1234 ');
    await until('the test and its PostgreSQL run', started, (found) =>
      [/\/postgres -D|postgres .*-D/, /^sleep/].every((form) => found.some(([, line]) => form.test(line))),
    );
    runner.kill(signal);
    assert.deepEqual(await ended, [130, null]);
    assert.deepEqual(await started(), [], `nothing is left after ${signal}`);
  }
});
