import { fileURLToPath } from 'node:url';

/** `node_modules`, which may be a symbolic link. */
export const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** The folder that contains the packages: the target of the link, or another one if the packages are hoisted. */
export const PACKAGES_TARGET =
  /^.*?\/node_modules(?=\/)/.exec(fileURLToPath(import.meta.resolve('unpdf')))?.[0] ?? PACKAGES;

/** The predefined character maps of PDF.js, with a slash at the end: data for Chinese, Japanese and Korean fonts. */
export const CHARACTER_MAPS = fileURLToPath(new URL('cmaps/', import.meta.resolve('pdfjs-dist/package.json')));
