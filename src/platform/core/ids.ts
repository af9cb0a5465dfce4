import { randomFillSync } from 'node:crypto';
import { V7Generator } from 'uuidv7';
import { clockSkewMs } from './clock.ts';

/** Digits of Crockford's base32, in the order of their values. */
const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';

/** Random numbers, fetched in bulk because the package would make a system call for every eight of them. */
const random = { values: new Uint32Array(512), used: 512 };
const generator = new V7Generator({
  nextUint32() {
    if (random.used === random.values.length) {
      randomFillSync(random.values);
      random.used = 0;
    }
    return random.values[random.used++] ?? 0;
  },
});

/**
 * Creates an id: `<prefix>_` (declared by the table) and a UUIDv7 as 26 characters of lower-case Crockford base32 (the
 * TypeID format). Ids of one process ascend in the order of creation; ids of different processes are ordered by the
 * database's clock.
 */
export function newId(prefix: string): string {
  let text = `${prefix}_`;
  // 26 digits hold 130 bits; the UUID has 128, so the first two bits are zero.
  let bits = 2;
  let held = 0;
  for (const byte of onDatabaseClock(generator.generate().bytes)) {
    held = (held << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += CROCKFORD.charAt((held >> (bits - 5)) & 31);
    held &= 31;
  }
  return text;
}

/** Subtracts this process's clock skew from the first six bytes of a UUIDv7, the milliseconds since 1970. */
function onDatabaseClock(bytes: Readonly<Uint8Array>): Readonly<Uint8Array> {
  const skew = clockSkewMs();
  if (skew === 0) return bytes;
  const moved = Buffer.from(bytes);
  moved.writeUIntBE(moved.readUIntBE(0, 6) - skew, 0, 6);
  return moved;
}
