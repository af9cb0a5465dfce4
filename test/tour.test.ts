import assert from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { pasteForService } from './paste.ts';
import { freePort, makeFolder, spawnService } from './process.ts';
import { makeDatabase } from './world.ts';

const ROOT = fileURLToPath(PACKAGE);

test('the tour of the API runs when its three parts are pasted one after the other', async () => {
  const [database, port, cwd] = [await makeDatabase(), await freePort(), await makeFolder()];
  for (const name of ['README.md', 'ARCHITECTURE.md', 'docs', 'bench/README.md'])
    await cp(join(ROOT, name), join(cwd, name), { recursive: true });
  const log = join(cwd, 'ibid.log');
  const service = spawnService({ PORT: String(port), DATABASE_URL: database, DATA_DIR: cwd }, { log });
  await service.ready;
  const [traced = '', edited = '', members = ''] = await pasteForService('docs/tour.md', {
    address: `http://127.0.0.1:${port}`,
    database,
    cwd,
    // `head` closes the pipe of a command that still prints.
    prelude: 'set +o pipefail',
  });
  assert.match(traced, /rel="next"/);
  assert.match(traced, /^# Architecture|<h1/m);
  assert.match(traced, /^the same bytes$/m);
  assert.match(traced, /verified: false/);
  assert.match(traced, /This menu is left out/);
  assert.match(edited, /edit_conflict/);
  assert.match(edited, /We meet on Tuesday\.\n\nBring two cakes\./);
  assert.match(edited, /wiki\.zip$/m);
  assert.match(members, /grace@example\.com/);
  assert.match(members, /forbidden[\s\S]*unauthorized/);
  assert.match(members, /^organization_membership\.updated by /m);
});
