import { existsSync } from 'node:fs';
import './check-node.js';

const BUILD = new URL('../build/when-needed.js', import.meta.url);

// A checkout may have changed since its last build. A package or an image contains only the build.
if (existsSync(BUILD) && !(await import(BUILD.href)).buildWhenNeeded()) process.exit(1);
