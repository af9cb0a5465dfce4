import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { FOR_NODE } from './for-node.ts';
import { PROGRAMS, type ProgramSet } from './programs.ts';

/** `node bundle-programs.ts SET FOLDER` writes the programs of a set into the folder, each with the packages that it uses. */
const [, , set, outdir] = process.argv;
const SOURCES = fileURLToPath(new URL('..', import.meta.url));

await build({
  entryPoints: Object.entries(PROGRAMS[set as ProgramSet].entries).map(([out, path]) => ({ in: SOURCES + path, out })),
  ...(outdir && { outdir }),
  outExtension: { '.js': '.mjs' },
  bundle: true,
  // What is imported on demand stays in a file of its own.
  splitting: true,
  ...FOR_NODE,
});
