import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const OWN = `${ROOT}node_modules`;
const ONE = fileURLToPath(import.meta.resolve('unpdf'));

/** The folder of the packages: the one beside the sources, or, where they are not hoisted, the first one in their paths. */
export const PACKAGES = ONE.startsWith(`${OWN}/`) ? OWN : (/^.*?\/node_modules(?=\/)/.exec(ONE)?.[0] ?? OWN);

/** The versions of all packages: in a checkout, or in the archive that `npm pack` makes of it. */
export const LOCKFILE = `${ROOT}${existsSync(`${ROOT}package-lock.json`) ? 'package-lock.json' : 'npm-shrinkwrap.json'}`;

/** The predefined character maps of PDF.js, with a slash at the end: data for Chinese, Japanese and Korean fonts. */
export const CHARACTER_MAPS = fileURLToPath(new URL('cmaps/', import.meta.resolve('pdfjs-dist/package.json')));
