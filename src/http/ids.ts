import { uuidv7obj } from 'uuidv7';

/** The kinds of ids, by their prefix. A workspace is an organization: one id serves both names. */
export type IdPrefix =
  | 'org'
  | 'user'
  | 'mem'
  | 'inv'
  | 'wiki'
  | 'page'
  | 'upload'
  | 'job'
  | 'source'
  | 'key'
  | 'req'
  | 'evt';

/** Crockford's digits in the order of their values; `toString(32)` uses 0–9 a–v. */
const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * A new id: `<prefix>_` and a UUIDv7 in 26 characters of lower-case Crockford base32 (the TypeID form).
 * Ids of one process ascend in the order of their making, so ordering by id is ordering by creation.
 */
export function newId(prefix: IdPrefix): string {
  const digits = BigInt(`0x${uuidv7obj().toHex()}`).toString(32).padStart(26, '0');
  let text = '';
  for (let i = 0; i < 26; i += 1) text += CROCKFORD.charAt(Number.parseInt(digits.charAt(i), 32));
  return `${prefix}_${text}`;
}
