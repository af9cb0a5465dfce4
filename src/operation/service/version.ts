import { readFileSync } from 'node:fs';
import { PACKAGE } from '../../platform/core/package/package-files.ts';

export const VERSION: string = JSON.parse(readFileSync(new URL('package.json', PACKAGE), 'utf8')).version;
