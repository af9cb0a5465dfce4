import { registerHooks } from 'node:module';

/** Generators of clients use the compiler as a library, which TypeScript 7 is not: they get the one of `@ts-morph/common`. */
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === 'typescript' ? new URL('typescript-library.ts', import.meta.url).href : specifier, context),
});
