import { fileURLToPath } from 'node:url';

/** The folder of the packages: where `node_modules` is no link and they are not hoisted, that one. */
export const PACKAGES =
  /^.*?\/node_modules(?=\/)/.exec(fileURLToPath(import.meta.resolve('unpdf')))?.[0] ??
  fileURLToPath(new URL('../../node_modules', import.meta.url));

/** The predefined character maps of PDF.js, with a slash at the end: data for Chinese, Japanese and Korean fonts. */
export const CHARACTER_MAPS = fileURLToPath(new URL('cmaps/', import.meta.resolve('pdfjs-dist/package.json')));
