import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { readS3Url } from '../../platform/providers/storage/s3-place.ts';
import { readKey } from '../backup/encryption.ts';
import type { Config } from '../config.ts';
import { readExternalConfig } from './external-config.ts';

/**
 * Checks the resources that options refer to: files, buckets, an issuer. The start stops at the first problem; this
 * reports all.
 */
export function optionProblems(config: Config): string[] {
  const silent = pino({ level: 'silent' });
  const none = { ...config, PLANS_FILE: undefined, OIDC_ISSUER: undefined, PASSWORD_SIGN_IN: 'off' } as const;
  const { PLANS_FILE, OIDC_ISSUER, PASSWORD_SIGN_IN, STORAGE_URL, BACKUP_URL, BACKUP_KEY_FILE } = config;
  const found = [
    problemOf(() => readExternalConfig({ ...none, PLANS_FILE }, silent)),
    problemOf(() => readExternalConfig({ ...none, OIDC_ISSUER }, silent)),
    problemOf(() => readExternalConfig({ ...none, PASSWORD_SIGN_IN }, silent)),
    problemOf(() => STORAGE_URL !== undefined && readS3Url(STORAGE_URL)),
    problemOf(() => BACKUP_URL?.startsWith('s3:') && readS3Url(BACKUP_URL, 'BACKUP_URL')),
    problemOf(() => BACKUP_KEY_FILE !== undefined && readKey(readKeyFile(BACKUP_KEY_FILE))),
  ];
  return found.filter((problem) => problem !== undefined);
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new Error(`BACKUP_KEY_FILE names ${path}, which cannot be read (${code})`, { cause });
  }
}

/** Without the full stop, like problems of options. */
function problemOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(/\.$/, '');
  }
}
