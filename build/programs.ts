import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions, Plugin } from 'esbuild';

/** The service, its process for jobs, and the `ibid` command. */
export const SERVICE = { main: 'src/main.ts' };

/**
 * The programs of confined processes, by the names under which src/platform/sandbox starts them. They can read dist.
 */
export const CONFINED = {
  rendering: 'src/platform/sandbox/rendering/rendering.process.ts',
  document: 'src/platform/sandbox/document.process.ts',
};

/** Files that the service reads from the folder of its program. */
export const DATA = { migrations: 'src/platform/db/migrations', 'plans.json': 'src/organization/billing/plans.json' };

const LOWLIGHT = fileURLToPath(import.meta.resolve('lowlight'));

/**
 * Splits lowlight into two modules. Its single module exports the common grammars and all grammars, so a program that
 * starts with the common ones would load all of them, 1.5 MB. Only `more-languages.ts`, which is loaded when a text
 * needs it, gets all.
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

/** Options of esbuild for programs that Node runs. Modules imported on demand get files of their own. */
export const FOR_NODE = {
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  outExtension: { '.js': '.mjs' },
  legalComments: 'none',
  // The packages that send traces are optional.
  external: ['pg-native', '@opentelemetry/*'],
  // Packages in CommonJS require modules of Node.js.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
  plugins: [separateGrammars],
  logLevel: 'error',
} satisfies BuildOptions;
