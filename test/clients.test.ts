import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { longTest } from './extent.ts';
import { makeFolder } from './process.ts';
import { openWorld } from './world.ts';

const ROOT = fileURLToPath(PACKAGE);
const world = await openWorld();
const description = `${world.address}/openapi.json`;

const folder = await makeFolder();
await cp(join(ROOT, 'docs/examples/clients'), folder, { recursive: true });
await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));

const execute = promisify(execFile);

async function run(...args: string[]): Promise<string> {
  try {
    const { stdout } = await execute(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 25 });
    return stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return assert.fail(`node ${args.join(' ')}\n${stdout}\n${stderr}`);
  }
}

/** TypeScript 7 has no interface for programs, so generators get an earlier version. */
const withCompiler = ['--import', join(ROOT, 'test/clients/resolve-typescript.ts')];

/** Compiles the program and what was generated, strictly, and runs it as a new user. */
async function compileAndRun(program: string, options: object = {}): Promise<unknown> {
  const tsconfig = {
    compilerOptions: {
      ...{ strict: true, skipLibCheck: false, ...options },
      ...{ target: 'es2024', lib: ['es2024', 'dom', 'dom.iterable'], module: 'nodenext', types: ['node'] },
      ...{ rootDir: '.', outDir: `out-${program}` },
    },
    files: [`${program}.ts`],
  };
  await writeFile(join(folder, `${program}.json`), JSON.stringify(tsconfig));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await run(join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', `${program}.json`);
  const { token = '' } = await world.person();
  return JSON.parse(await run(join(folder, `out-${program}/${program}.js`), world.address, token));
}

const DONE = {
  status: 'completed',
  announced: ['large.md'],
  pages: ['Tea'],
  hits: ['Tea'],
  revision: 2,
  stale: 'edit_conflict',
};

test('a client of openapi-typescript compiles strictly, uploads, lists, searches and edits', async () => {
  await run(
    ...withCompiler,
    join(ROOT, 'docs/examples/clients/generate-types.ts'),
    description,
    join(folder, 'api.ts'),
  );
  assert.deepEqual(await compileAndRun('openapi-fetch', { exactOptionalPropertyTypes: true }), DONE);
});

longTest('a client of @hey-api/openapi-ts compiles strictly, uploads, lists, searches and edits', async () => {
  const generator = join(ROOT, 'node_modules/@hey-api/openapi-ts/dist/run.mjs');
  await run(...withCompiler, generator, '-i', description, '-o', 'hey-api', '--silent');
  assert.deepEqual(await compileAndRun('hey-api'), DONE);
});
