import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { CHARACTER_MAPS } from './packages.ts';

/** `node bundle-programs.ts FOLDER` writes the programs of confined processes into it, each with the packages that it uses. */
const [, , outdir] = process.argv;
const PROGRAMS = ['rendering', 'document'];

await build({
  entryPoints: PROGRAMS.map((name) => fileURLToPath(new URL(`./${name}.process.ts`, import.meta.url))),
  ...(outdir && { outdir }),
  outExtension: { '.js': '.mjs' },
  bundle: true,
  // What is imported on demand stays in a file of its own.
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  legalComments: 'none',
  // Packages in CommonJS require modules of Node.js.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  // The data of PDF.js is no module: see open-pdf.ts.
  define: { 'process.env.PDF_CHARACTER_MAPS': JSON.stringify(CHARACTER_MAPS) },
  logLevel: 'silent',
});
