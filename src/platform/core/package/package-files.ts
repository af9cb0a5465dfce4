import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The folder of this package. Its code runs from src and from dist, at different depths, so it is searched upwards. */
export const PACKAGE = pathToFileURL(`${folderOfPackage(import.meta.dirname)}/`);

/** The folder that `npm run build` writes: build/build.ts. */
export const BUILT = new URL('dist/', PACKAGE);

/** What the build knows about itself. */
export interface BuildInfo {
  /** A hash of the programs that read and render files: another version may make another page of the same file. */
  programs: string;
  assets: {
    /** A hash of all files for browsers together. */
    version: string;
    /** Their names, and whether there are compressed copies beside them, `.br` and `.gz`. */
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
