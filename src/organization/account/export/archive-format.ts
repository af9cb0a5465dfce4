/**
 * Format of the archive of a person's data; docs/operations/data-rights.md describes each file. Lists are files with
 * one JSON object per line. Readers of version 1 ignore unknown files and fields.
 */
export const FORMAT = 'ibid-account';
export const FORMAT_VERSION = 1;

export const MANIFEST_FILE = 'ibid.json';
export const PROFILE_FILE = 'profile.json';

/** File name of the user's own picture, by content type. */
export const AVATAR_FILES: Record<string, string> = {
  'image/png': 'avatar.png',
  'image/jpeg': 'avatar.jpg',
  'image/gif': 'avatar.gif',
  'image/webp': 'avatar.webp',
};

export interface Manifest {
  format: typeof FORMAT;
  version: typeof FORMAT_VERSION;
  user_id: string;
  exported_at: string;
}

/** Formats a row like the API: times are RFC 3339 in UTC with milliseconds, and null fields are omitted. */
export function archived(row: object): object {
  const record: { [name: string]: unknown } = {};
  for (const [name, value] of Object.entries(row)) {
    if (value === null) continue;
    record[name] = name.endsWith('_at') ? new Date(String(value)).toISOString() : value;
  }
  return record;
}
