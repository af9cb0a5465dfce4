import { readFileSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { FOR_NODE } from '../../build/programs.ts';
import { hashOf, kept, ROOT } from './cache.ts';

/** Bundled with every set of tests: modules that each process of a test file loads besides its tests. */
const HOOKS = 'test/run/without-async-hooks.ts';
const REPORTER = 'test/run/event-lines.ts';

export interface Bundles {
  of(file: string): string;
  hooks: string;
  reporter: string;
  /**
   * Returns the direct and indirect imports of a test file, with their distance: sources as paths in the checkout, and
   * names of packages and modules.
   */
  importsOf(file: string): ReadonlyMap<string, number>;
}

/**
 * Bundles test files like the service: a process then starts in 0.3 s of CPU time instead of 0.8, because it loads a
 * few files instead of 2,600 and strips no types. Bundles are cached by a hash of all sources.
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

/**
 * Returns the path of a file's bundle. It is inside the folder even for a file outside the checkout, as the runner's
 * own tests make.
 */
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
    // Code locates the package from this folder, and the bundles are elsewhere.
    define: { 'import.meta.dirname': JSON.stringify(ROOT) },
    metafile: true,
    sourcemap: 'linked',
    sourcesContent: false,
  });
  await writeFile(join(folder, 'imports.json'), JSON.stringify(importsIn(metafile)));
}

function importsIn({ inputs }: Metafile): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(inputs)
      .filter(([path]) => !path.startsWith('node_modules/'))
      .map(([path, { imports }]) => [path, imports.map((each) => each.path)]),
  );
}

/** Returns everything reachable from a file, with the number of imports to it. */
function distances(imports: Record<string, string[]>, file: string): Map<string, number> {
  const found = new Map([[relative(ROOT, join(ROOT, file)), 0]]);
  for (const [path, distance] of found)
    for (const next of imports[path] ?? []) if (!found.has(next)) found.set(next, distance + 1);
  return found;
}
