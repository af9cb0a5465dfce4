import { readFileSync } from 'node:fs';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';

export interface LockedPackage {
  /** Name of the folder in node_modules; for an alias, the alias. */
  name: string;
  version: string;
  license?: string;
  /** "sha512-" and the hash of the package's archive, in base64. */
  integrity?: string;
  /** URL of the archive; undefined if it comes from the configured registry. */
  resolved?: string;
  /** Whether it is only a development dependency. */
  dev?: boolean;
  hasInstallScript?: boolean;
}

/** Returns every package that package-lock.json installs, sorted by name, except packages of this repository. */
export function lockedPackages(): LockedPackage[] {
  const lock = JSON.parse(readFileSync(new URL('package-lock.json', PACKAGE), 'utf8'));
  return Object.entries<LockedPackage>(lock.packages)
    .filter(([path]) => path.includes('node_modules/') && !path.startsWith('node_modules/@ibid/'))
    .map(([path, entry]) => ({ ...entry, name: path.split('node_modules/').at(-1) ?? path }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
