import { readFileSync } from 'node:fs';
import { LONG_RUNS } from './test/run/long-runs.ts';

/** Entry files of the bundles for browsers, which the build names in strings. */
const elements = [...readFileSync('build/browser-files.ts', 'utf8').matchAll(/'(web\/elements\/[\w/.-]+\.ts)'/g)].map(
  ([, entry]) => entry,
);

/** Files that long runs start. */
const longRuns = Object.values(LONG_RUNS)
  .flatMap(({ commands }) => commands.flatMap(({ args }) => args))
  .filter((path) => path.endsWith('.ts') && path !== 'test/run.ts');

/** Finds exports, files and packages that nothing uses. */
export default {
  workspaces: {
    'packages/*': { entry: ['**/*.test.ts'], project: ['**/*.ts'] },
    '.': {
      entry: [
        'bin/*.js',
        'build/{build,dev}.ts',
        'src/main.ts',
        '**/*.process.ts',
        '**/*.test.ts',
        'test/{long,fuzz,accept,licenses,screenshots}.ts',
        'test/{confined-probe,shifted-clock}.ts',
        'test/run/{event-lines,without-async-hooks}.ts',
        'test/fuzz/{editor-views,typing-crashes}.ts',
        'test/clients/resolve-typescript.ts',
        'test/clients/typescript-library.ts',
        'deploy/**/*.{ts,js}',
        'docs/examples/**/*.{ts,tsx,js}',
        ...elements,
        ...longRuns,
      ],
      project: ['{bin,build,src,web,test,bench,deploy,docs}/**/*.{ts,tsx,js}'],
    },
  },
  // Packages whose files are read, or loaded by a name that is put together.
  ignoreDependencies: [
    '@20minutes/s3rver',
    '@hey-api/openapi-ts',
    '@kubernetes-models/.*',
    '@mermaid-js/tiny',
    'big-list-of-naughty-strings',
    'commonmark-spec',
    'dompurify-fixtures',
    'kubernetes-models',
    'react-dom',
  ],
  ignoreBinaries: ['iconv'],
  // Clients that a reader of the example generates.
  ignoreUnresolved: ['\\./hey-api/.*', '\\./api\\.js'],
};
