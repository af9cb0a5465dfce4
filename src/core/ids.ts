import { uuidv7obj } from 'uuidv7';

/** The kinds of ids, by their prefix. A workspace is an organization: one id serves both names. */
type IdPrefix =
  | 'org'
  | 'user'
  | 'mem'
  | 'inv'
  | 'wiki'
  | 'page'
  | 'upload'
  | 'file'
  | 'job'
  | 'source'
  | 'attachment'
  | 'key'
  | 'ses'
  | 'req'
  | 'evt';

/** Crockford's digits in the order of their values. */
const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * A new id: `<prefix>_` and a UUIDv7 in 26 characters of lower-case Crockford base32 (the TypeID form).
 * Ids of one process ascend in the order of their making, so ordering by id is ordering by creation.
 */
export function newId(prefix: IdPrefix): string {
  let text = `${prefix}_`;
  // 26 digits hold 130 bits, so the 128 bits of the UUID begin two bits late.
  let bits = 2;
  let held = 0;
  for (const byte of uuidv7obj().bytes) {
    held = (held << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += CROCKFORD.charAt((held >> (bits - 5)) & 31);
    held &= 31;
  }
  return text;
}
