import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { cleanUp } from './clean-up.ts';
import { killHangingFiles } from './hanging-files.ts';
import { makeFolder } from './process.ts';

test('a test file that hangs, and does not end when it is told to, is killed', async () => {
  const file = join(await makeFolder(), 'hangs.mjs');
  await writeFile(file, `process.on('SIGTERM', () => {}); setInterval(() => {}, 1_000);`);
  const child = spawn(process.execPath, [file], { stdio: 'ignore' });
  cleanUp(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  cleanUp(killHangingFiles([file], 100));
  assert.deepEqual(await ended, [null, 'SIGKILL']);
});
