import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Runs the tests of an earlier release on the schema of this one. Arguments: its tag or commit, and the test files to
 * run instead of all. Copies this release's migrations into its folder, so that every database of its tests has the
 * newer schema. Leaves out its tests of migrations and of files generated from them.
 */
const ABOUT_MIGRATIONS = ['generated', 'lint-migration', 'migrations', 'migrate', 'db-constraints', 'documents'];

const [release, ...files] = process.argv.slice(2);
if (release === undefined) throw new Error('name the earlier release: npm run test:long -- previous v0.1.0 [files]');
const root = new URL('..', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'ibid-previous-'));
try {
  const archive = execFileSync('git', ['archive', release], { cwd: root, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  cpSync(join(root, 'src/platform/db/migrations'), join(folder, 'src/platform/db/migrations'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const list = execFileSync('git', ['ls-tree', '-r', '--name-only', release], { cwd: root, encoding: 'utf8' });
  const all = list.split('\n').filter((path) => /^(src|test|web)\/.*\.test\.ts$/.test(path));
  const kept = all.filter((path) => !ABOUT_MIGRATIONS.includes(path.replace(/^.*\/|\.test\.ts$/g, '')));
  const { status } = spawnSync(process.execPath, ['test/run.ts', ...(files.length > 0 ? files : kept)], {
    cwd: folder,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
