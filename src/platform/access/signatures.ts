import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { type Static, Type } from 'typebox';
import type { Query } from '../db/db.ts';
import { sql } from '../db/sql.ts';

/** Proof that this service, or another process on its database, has written a text. */
export const Signature = Type.Object({
  kid: Type.String({ maxLength: 64 }),
  mac: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'HMAC-SHA-256.' }),
});
export type Signature = Static<typeof Signature>;

export interface Signatures {
  /** A signature is only valid for its `purpose`. */
  sign(purpose: string, text: string): Promise<Signature>;
  isSigned(purpose: string, text: string, signature: Signature): Promise<boolean>;
}

interface Key {
  kid: string;
  secret: Buffer;
}

/**
 * Signs with keys derived from the newest signing key of the service. `query` must run in the context of the service.
 */
export function openSignatures(query: Query): Signatures {
  const keys = () => query<Key>(sql`select kid, secret from signing_keys order by created_at, kid`);
  return {
    async sign(purpose, text) {
      const key = (await keys()).at(-1);
      if (!key) throw new Error('there is no signing key');
      return { kid: key.kid, mac: macOf(key, purpose, text).toString('hex') };
    },
    async isSigned(purpose, text, { kid, mac }) {
      const key = (await keys()).find((each) => each.kid === kid);
      if (!key) return false;
      const given = Buffer.from(mac, 'hex');
      const expected = macOf(key, purpose, text);
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}

function macOf({ secret }: Key, purpose: string, text: string): Buffer {
  return createHmac('sha256', Buffer.from(hkdfSync('sha256', secret, '', purpose, 32)))
    .update(text)
    .digest();
}
