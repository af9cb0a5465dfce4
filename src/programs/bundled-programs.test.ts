import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { access, mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cleanUp } from '../../test/clean-up.ts';
import { bundledProgram, bundlesIn, serviceModule } from './bundled-programs.ts';
import { PROGRAMS } from './programs.ts';

const folder = await mkdtemp(join(tmpdir(), 'ibid-bundles-'));
cleanUp(() => rm(folder, { recursive: true }));

test('processes that start together make the bundles once; those that were deleted are made again, those of others when old', async () => {
  const unused = join(folder, 'unused');
  await mkdir(unused);
  await utimes(unused, new Date(0), new Date(0));
  await mkdir(join(folder, 'used'));
  // Two services have a function each.
  const services = [bundlesIn('confined', folder), bundlesIn('confined', folder)];
  const files = await Promise.all(services.map((bundled) => bundled('rendering')));
  assert.equal(files[0], files[1]);
  const made = dirname(files[0] ?? '');
  assert.deepEqual((await readdir(folder)).sort(), [made.slice(folder.length + 1), 'used'].sort());
  await rm(made, { recursive: true });
  for (const bundled of services) await access(await bundled('document'));
});

test('where packages are read-only the bundles are in a temporary folder', async () => {
  // A folder cannot be made in a file.
  const file = await bundlesIn('confined', join(fileURLToPath(import.meta.url), 'cache'))('rendering');
  assert.ok(file.startsWith(tmpdir()), file);
  await access(file);
});

test('the version of the programs is that of all sources that they are made of', async () => {
  const folder = dirname(await bundledProgram('rendering'));
  const files = (await readdir(folder)).map((name) => readFileSync(join(folder, name), 'utf8'));
  const sources = files.flatMap((text) =>
    [...text.matchAll(/^\/\/ (?:.*\/)?src\/([^\n]+\.ts)$/gm)].map(([, path = '']) => path),
  );
  assert.ok(
    sources.includes('sandbox/rendering/rendering.process.ts') && sources.includes('sandbox/document.process.ts'),
  );
  const folders = new Set(sources.map((path) => `src/${path.split('/', 1)[0]}`));
  assert.deepEqual([...folders].sort(), [...PROGRAMS.confined.folders].sort());
});

test('a process that renders begins without the grammars of rare languages', async () => {
  const file = await bundledProgram('rendering');
  /** What is loaded with a file: all that it imports but not by `import()`. */
  const loadedWith = (path: string): string => {
    const text = readFileSync(path, 'utf8');
    const imported = [...text.matchAll(/^(?:import|\}) (?:from )?"(\.\/[^"]+)";$/gm)].map(([, name = '']) => name);
    return text + imported.map((name) => loadedWith(join(dirname(path), name))).join('');
  };
  const languages = [...loadedWith(file).matchAll(/^\/\/ .*languages\/(\w+)\.js$/gm)].map(([, name]) => name);
  assert.ok(languages.includes('typescript'));
  assert.ok(!languages.includes('mathematica'));
});

test('the service is not bundled where its packages could not be found from the bundle', async () => {
  await assert.rejects(bundlesIn('service', join(fileURLToPath(import.meta.url), 'cache'))('main'), {
    code: 'ENOTDIR',
  });
});

test('a start after the first one needs no compiler of types', async () => {
  await serviceModule('main', '');
  const start = fileURLToPath(new URL('../../bin/start.js', import.meta.url));
  const options = { env: { PATH: process.env.PATH, PORT: 'none' }, encoding: 'utf8' } as const;
  const { stderr } = spawnSync(process.execPath, ['--no-experimental-strip-types', start], options);
  assert.match(stderr, /^Ibid cannot start: PORT/);
});
