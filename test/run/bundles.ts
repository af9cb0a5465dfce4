import { readFileSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { FOR_NODE } from '../../build/programs.ts';
import { hashOf, kept, ROOT } from './cache.ts';

/** Bundled with every set of tests: what each process of a test file loads besides its tests. */
const HOOKS = 'test/run/without-async-hooks.ts';
const REPORTER = 'test/run/event-lines.ts';

export interface Bundles {
  /** The bundle of a test file. */
  of(file: string): string;
  hooks: string;
  reporter: string;
  /** All that a test file imports, directly or not: sources as paths in the checkout, and names of packages and modules. */
  importsOf(file: string): ReadonlyMap<string, number>;
}

/**
 * Bundles test files as the service is bundled: a process starts in 0.3 s of CPU time instead of 0.8, because it loads a few
 * files instead of 2,600 and strips no types. Bundles are cached by a hash of all sources.
 */
export async function bundleTests(files: readonly string[]): Promise<Bundles> {
  const entries = [...files, HOOKS, REPORTER];
  const sources = ['{packages,src,test,web,build}/**/*.{ts,json}', 'bench/**/*.ts'];
  // A file outside the checkout matches none of the patterns.
  const texts = files.map((file) => readFileSync(join(ROOT, file), 'utf8'));
  const hash = hashOf([ROOT, process.version, ...entries, ...texts], [...sources, 'package-lock.json']);
  const folder = await kept('bundles', hash, (made) => bundle(entries, made));
  const imports: Record<string, string[]> = JSON.parse(readFileSync(join(folder, 'imports.json'), 'utf8'));
  const bundleOf = (file: string) => join(folder, `${outOf(file)}.mjs`);
  return {
    of: bundleOf,
    hooks: bundleOf(HOOKS),
    reporter: bundleOf(REPORTER),
    importsOf: (file) => distances(imports, file),
  };
}

/** A file outside the checkout, such as the runner's own tests make, has a bundle inside all the same. */
const outOf = (file: string) => join('tests', file.replace(/\.ts$/, '').replaceAll('..', '_'));

async function bundle(entries: readonly string[], folder: string): Promise<void> {
  const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const { metafile } = await build({
    ...FOR_NODE,
    // Packages that only tests use are loaded from node_modules.
    external: [...FOR_NODE.external, ...Object.keys(devDependencies)],
    entryPoints: entries.map((file) => ({ in: join(ROOT, file), out: outOf(file) })),
    absWorkingDir: ROOT,
    outdir: folder,
    // The folder of the package is searched from here: the bundles are elsewhere.
    define: { 'import.meta.dirname': JSON.stringify(ROOT) },
    metafile: true,
    sourcemap: 'linked',
    sourcesContent: false,
  });
  await writeFile(join(folder, 'imports.json'), JSON.stringify(importsIn(metafile)));
}

/** What each source imports itself. */
function importsIn({ inputs }: Metafile): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(inputs)
      .filter(([path]) => !path.startsWith('node_modules/'))
      .map(([path, { imports }]) => [path, imports.map((each) => each.path)]),
  );
}

/** All that can be reached from a file, with the number of imports between. */
function distances(imports: Record<string, string[]>, file: string): Map<string, number> {
  const found = new Map([[relative(ROOT, join(ROOT, file)), 0]]);
  for (const [path, distance] of found)
    for (const next of imports[path] ?? []) if (!found.has(next)) found.set(next, distance + 1);
  return found;
}
