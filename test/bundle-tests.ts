import { readFileSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { FOR_NODE } from '../src/programs/for-node.ts';
import { PACKAGES } from '../src/programs/packages.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** A map of one place, at the end of a file, takes a line of its bundle's map instead of the file. */
const SHORT_MAP = '{"version":3,"sources":["package"],"mappings":"AAAA"}';

/** What fails is shown with the places of our sources (source-places.ts): maps of packages would be most of the maps. */
const withoutMapsOfPackages: Plugin = {
  name: 'without-maps-of-packages',
  setup({ onLoad }) {
    onLoad({ filter: /node_modules.*\.[cm]?js$/ }, async ({ path }) => ({
      contents: `${await readFile(path, 'utf8')}\n//# sourceMappingURL=data:application/json;base64,${btoa(SHORT_MAP)}`,
      loader: 'js',
    }));
  },
};

/**
 * Bundles test files, as the service is, into a folder, and answers where each is: a process of its own for each file takes
 * 0.3 s of CPU time instead of 0.8 until its first test, as it loads some files instead of 2,600 and strips no types. Errors
 * name the sources by their maps.
 */
export async function bundleTests(files: readonly string[], folder: string): Promise<Map<string, string>> {
  const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  await symlink(PACKAGES, join(folder, 'node_modules'));
  const outdir = join(folder, 'tests');
  const outOf = (file: string) => relative(ROOT, file).replace(/\.ts$/, '');
  await build({
    ...FOR_NODE,
    // The packages of the tests alone stay where they are.
    external: [...FOR_NODE.external, ...Object.keys(devDependencies)],
    entryPoints: files.map((file) => ({ in: file, out: outOf(file) })),
    outdir,
    outExtension: { '.js': '.mjs' },
    plugins: [...FOR_NODE.plugins, withoutMapsOfPackages],
    bundle: true,
    splitting: true,
    target: 'node24',
    sourcemap: 'linked',
    sourcesContent: false,
    logLevel: 'error',
  });
  return new Map(files.map((file) => [file, join(outdir, `${outOf(file)}.mjs`)]));
}
