import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cp, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { pasteBlocks } from './paste.ts';
import { makeFolder } from './process.ts';

const ROOT = fileURLToPath(PACKAGE);

test('the walk-through of CONTRIBUTING.md makes a feature whose tests pass', async () => {
  const cwd = await makeFolder();
  const tracked = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 1e8,
  });
  for (const name of tracked.split('\0').filter((name) => name !== '' && !name.startsWith('docs/images/')))
    await cp(join(ROOT, name), join(cwd, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(cwd, 'node_modules'));
  const PATH = [dirname(process.execPath), join(cwd, 'node_modules/.bin'), process.env.PATH].join(':');
  const outputs = await pasteBlocks('CONTRIBUTING.md', {
    section: 'Add a feature in 30 minutes',
    cwd,
    env: { PATH, HOME: process.env.HOME },
  });
  assert.match(outputs.at(-1) ?? '', /a member writes a comment that all members read/);
  assert.match(outputs.at(-1) ?? '', /Tests: \d+ passed, 0 failed/);
});
