import { readFileSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// Node.js runs no TypeScript below node_modules, where npm puts this package when it is installed from its archive.
if (import.meta.url.includes('/node_modules/')) {
  // It warns once that this is experimental; what it does is what Node.js itself does elsewhere.
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  module.stripTypeScriptTypes('');
  process.emitWarning = emitWarning;
  module.registerHooks({
    load(url, context, next) {
      if (!/^file:.*\.ts$/.test(url)) return next(url, context);
      const source = module.stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'));
      return { format: 'module', shortCircuit: true, source };
    },
  });
}
