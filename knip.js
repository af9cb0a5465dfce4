import { readFileSync } from 'node:fs';

/** Entry files of the bundles for browsers, which web/assets.ts names in strings. */
const elements = [...readFileSync('web/assets.ts', 'utf8').matchAll(/'(elements\/[\w/.-]+\.ts)'/g)].map(
  ([, entry]) => `web/${entry}`,
);

/** Finds exports, files and packages that nothing uses. */
export default {
  entry: [
    'bin/*.js',
    'src/run.ts',
    'src/cli/ibid.ts',
    'src/programs/bundle-programs.ts',
    '**/*.process.ts',
    '**/*.test.ts',
    'test/{run,long,fuzz,accept,licenses,screenshots,package,previous-release}.ts',
    'test/operations/*.ts',
    'test/run/{event-lines,without-async-hooks}.ts',
    'test/fuzz/{editor-views,typing-crashes}.ts',
    'test/clients/resolve-typescript.ts',
    'test/clients/typescript-library.ts',
    'deploy/**/*.{ts,js}',
    'docs/examples/**/*.{ts,tsx,js}',
    ...elements,
  ],
  project: ['{bin,src,web,test,bench,deploy,docs}/**/*.{ts,tsx,js}'],
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
