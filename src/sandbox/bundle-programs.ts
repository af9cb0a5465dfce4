import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** `node bundle-programs.ts FOLDER` writes the programs of confined processes into it, each with the packages that it uses. */
const [, , outdir] = process.argv;
const PROGRAMS = ['rendering', 'document'];
const characterMaps = new URL('cmaps/', import.meta.resolve('pdfjs-dist/package.json'));

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
  define: { 'process.env.PDF_CHARACTER_MAPS': JSON.stringify(fileURLToPath(characterMaps)) },
  logLevel: 'silent',
});
