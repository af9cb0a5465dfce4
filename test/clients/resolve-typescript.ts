import { registerHooks } from 'node:module';

/**
 * Client generators use the compiler as a library, which TypeScript 7 is not, so they get the compiler of
 * `@ts-morph/common`.
 */
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === 'typescript' ? new URL('typescript-library.ts', import.meta.url).href : specifier, context),
});
