import { readFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { CHARACTER_MAPS } from './packages.ts';
import { PROGRAMS, type ProgramSet } from './programs.ts';

/** `node bundle-programs.ts SET FOLDER` writes the programs of a set into the folder, each with the packages that it uses. */
const [, , set, outdir] = process.argv;
const SOURCES = fileURLToPath(new URL('..', import.meta.url));

/** Files beside a source (migrations, plans, what browsers load) are read where they are. */
const keepPlaces: Plugin = {
  name: 'keep-places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      if (!text.includes('import.meta.url')) return undefined;
      return {
        contents: text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
        loader: 'ts',
      };
    });
  },
};

await build({
  entryPoints: Object.entries(PROGRAMS[set as ProgramSet].entries).map(([out, path]) => ({ in: SOURCES + path, out })),
  ...(outdir && { outdir }),
  outExtension: { '.js': '.mjs' },
  bundle: true,
  // What is imported on demand stays in a file of its own.
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  legalComments: 'none',
  // It has a program of its own, which it looks for beside its file.
  external: ['esbuild', 'pg-native'],
  // Packages in CommonJS require modules of Node.js.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  // The data of PDF.js is no module: see open-pdf.ts.
  define: { 'process.env.PDF_CHARACTER_MAPS': JSON.stringify(CHARACTER_MAPS) },
  plugins: [keepPlaces],
  logLevel: 'silent',
});
