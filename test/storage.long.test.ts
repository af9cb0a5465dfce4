import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { cleanUp } from './clean-up.ts';
import { startS3Server } from './s3-server.ts';

const s3 = await startS3Server();
cleanUp(() => s3.stop());

/** Tests that use the file store; and a pattern of their tests that concern only files in a folder. */
const FILES = ['sources/uploads/uploads', 'sources/uploads/resumable', 'wiki/attachments/attachments'];
const FOLDER_TESTS = 'missing from the store|parts in a folder store';

test('the tests of uploads and attachments pass with files in a bucket', async () => {
  const files = FILES.map((name) => new URL(`src/${name}.test.ts`, PACKAGE).pathname);
  const args = [
    '--test',
    '--test-concurrency=1',
    '--test-reporter=tap',
    `--test-skip-pattern=${FOLDER_TESTS}`,
    ...files,
  ];
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const run = promisify(execFile)(process.execPath, args, {
    env: { ...env, IBID_TEST_STORAGE_URL: s3.url },
    maxBuffer: 2 ** 26,
    // Many times the usual duration: a hanging file ends with its output, and can be run again.
    timeout: 5 * 60_000,
  });
  const { stdout } = await run.catch((error: { stdout: string; stderr: string }) =>
    assert.fail(error.stdout.slice(-20_000) + error.stderr.slice(-5_000)),
  );
  const passed = Number(/^# pass (\d+)/m.exec(stdout)?.[1]);
  assert.ok(passed >= 20, `only these tests ran: ${stdout.slice(-1_000)}`);
});
