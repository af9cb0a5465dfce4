import { existsSync } from 'node:fs';
import './check-node.js';

const BUILD = new URL('../build/when-needed.js', import.meta.url);

// A checkout may have changed since it was built. A package or an image has only what was built.
if (existsSync(BUILD) && !(await import(BUILD.href)).buildWhenNeeded()) process.exit(1);
