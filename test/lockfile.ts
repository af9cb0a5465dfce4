import { readFileSync } from 'node:fs';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';

export interface LockedPackage {
  /** Of the folder in node_modules: of an alias, its own. */
  name: string;
  version: string;
  license?: string;
  /** "sha512-" and the hash of the package's archive, in base64. */
  integrity?: string;
  /** Where the archive is; none: at the configured registry. */
  resolved?: string;
  /** Whether only development needs it. */
  dev?: boolean;
  hasInstallScript?: boolean;
}

/** Every package that package-lock.json installs, but those of this repository, in the order of their names. */
export function lockedPackages(): LockedPackage[] {
  const lock = JSON.parse(readFileSync(new URL('package-lock.json', PACKAGE), 'utf8'));
  return Object.entries<LockedPackage>(lock.packages)
    .filter(([path]) => path.includes('node_modules/') && !path.startsWith('node_modules/@ibid/'))
    .map(([path, entry]) => ({ ...entry, name: path.split('node_modules/').at(-1) ?? path }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
