import { type LockedPackage, lockedPackages } from './lockfile.ts';

/** Licenses whose packages may be distributed with software under the Apache License 2.0. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  '(MIT AND Zlib)',
  // This project uses it under the MIT license.
  '(MIT OR GPL-3.0-or-later)',
]);

/** Packages whose package.json names no SPDX license, with the license of the text that they contain. */
const KNOWN: Record<string, string> = { 'duck@0.1.12': 'BSD-2-Clause', 'format@0.2.2': 'MIT' };

/** Returns the license of each package that runs in the service; `name` is `name@version`. */
export function runtimeLicenses(): { name: string; license: string; isAllowed: boolean }[] {
  const packages = new Map(
    lockedPackages()
      .filter(({ dev }) => !dev)
      .map((one) => [`${one.name}@${one.version}`, one]),
  );
  return [...packages].map(([name, one]) => {
    const license = licenseOf(name, one);
    return { name, license, isAllowed: ALLOWED.has(license) };
  });
}

function licenseOf(name: string, { license }: LockedPackage): string {
  return KNOWN[name] ?? license ?? 'unknown';
}

if (import.meta.main) {
  const licenses = runtimeLicenses();
  for (const { name, license, isAllowed } of licenses) {
    process.stdout.write(`${name}: ${license}${isAllowed ? '' : '  NOT ALLOWED'}\n`);
  }
  if (!licenses.every(({ isAllowed }) => isAllowed)) process.exitCode = 1;
}
