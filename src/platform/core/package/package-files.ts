import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The root folder of this package. Found by searching upwards, because the code runs from src and from dist, at
 * different depths.
 */
export const PACKAGE = pathToFileURL(`${folderOfPackage(import.meta.dirname)}/`);

/** The output folder of `npm run build`, which runs build/build.ts. */
export const BUILT = new URL('dist/', PACKAGE);

/** Contents of build.json, written by the build. */
export interface BuildInfo {
  /**
   * Hash of the programs that read and render files. A different hash means that the same file may produce a different
   * page.
   */
  programs: string;
  assets: {
    /** Hash of all browser files together. */
    version: string;
    /** File names, and whether compressed copies (`.br` and `.gz`) exist. */
    files: Record<string, boolean>;
  };
}

let info: BuildInfo | undefined;

export function buildInfo(): BuildInfo {
  info ??= JSON.parse(readFileSync(new URL('build.json', BUILT), 'utf8')) as BuildInfo;
  return info;
}

function folderOfPackage(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : folderOfPackage(dirname(folder));
}
