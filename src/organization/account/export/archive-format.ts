/**
 * What an archive of a person's data is made of; docs/operations/data-rights.md says what each file has. Lists are files of lines,
 * each one a JSON object. A reader of version 1 passes over files and fields that it does not know.
 */
export const FORMAT = 'ibid-account';
export const FORMAT_VERSION = 1;

export const MANIFEST_FILE = 'ibid.json';
export const PROFILE_FILE = 'profile.json';

/** The name of the file of the user's own picture, by its type. */
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

/** As in the answers of the API: times are RFC 3339 in UTC with milliseconds, and what has no value is left out. */
export function archived(row: object): object {
  const record: { [name: string]: unknown } = {};
  for (const [name, value] of Object.entries(row)) {
    if (value === null) continue;
    record[name] = name.endsWith('_at') ? new Date(String(value)).toISOString() : value;
  }
  return record;
}
