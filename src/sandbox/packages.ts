import { fileURLToPath } from 'node:url';

/** `node_modules`, which may be a symbolic link. */
export const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** The folder that contains the packages: the target of the link, or another one if the packages are hoisted. */
export const PACKAGES_TARGET =
  /^.*?\/node_modules(?=\/)/.exec(fileURLToPath(import.meta.resolve('unpdf')))?.[0] ?? PACKAGES;
