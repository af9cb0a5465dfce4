import { hash, randomBytes } from 'node:crypto';

/**
 * The hash that the database stores in place of a secret. Secrets are random, so a slow hash would add no protection.
 */
export function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** Creates a secret for a link, 32 random bytes in base64url, with its SHA-256. */
export function newLinkSecret(): { secret: string; hash: Buffer } {
  const secret = randomBytes(32).toString('base64url');
  return { secret, hash: sha256(secret) };
}
