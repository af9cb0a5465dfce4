import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { BuildOptions, Plugin } from 'esbuild';
import { CHARACTER_MAPS } from './packages.ts';

/** In a bundle each source keeps its place: files beside it (migrations, plans, what browsers load) are read where they are. */
const keepPlaces: Plugin = {
  name: 'keep-places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      if (!/import\.meta\.(?:url|dirname)/.test(text)) return undefined;
      return {
        contents: text
          .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
          .replaceAll('import.meta.dirname', JSON.stringify(dirname(path))),
        loader: 'ts',
      };
    });
  },
};

const LOWLIGHT = fileURLToPath(import.meta.resolve('lowlight'));

/**
 * The one module of lowlight exports the common grammars and all, so that a program that begins with the common ones would
 * begin with all, 1.5 MB. In a bundle they are two modules; `more-languages.ts`, which is loaded when a text needs it, has all.
 */
const separateGrammars: Plugin = {
  name: 'separate-grammars',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^lowlight$/ }, ({ importer }) => ({
      path: LOWLIGHT,
      suffix: importer.endsWith('more-languages.ts') ? '?all' : '?common',
    }));
    onLoad({ filter: /lowlight.index\.js$/ }, ({ path, suffix }) => ({
      resolveDir: dirname(path),
      contents:
        suffix === '?all'
          ? "export { grammars as all } from './lib/all.js';"
          : "export { grammars as common } from './lib/common.js'; export { createLowlight } from './lib/index.js';",
    }));
  },
};

/** How programs are bundled that Node runs. */
export const FOR_NODE = {
  platform: 'node',
  format: 'esm',
  target: 'node20',
  legalComments: 'none',
  // esbuild has a program of its own, which it looks for beside its file; what sends traces is there only where it is wanted.
  external: ['esbuild', 'pg-native', '@opentelemetry/*'],
  // Packages in CommonJS require modules of Node.js.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
  // The data of PDF.js is no module: see open-pdf.ts.
  define: { 'process.env.PDF_CHARACTER_MAPS': JSON.stringify(CHARACTER_MAPS) },
  plugins: [keepPlaces, separateGrammars],
  logLevel: 'silent',
} satisfies BuildOptions;
