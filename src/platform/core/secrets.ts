import { hash, randomBytes } from 'node:crypto';

/** The SHA-256 that the database stores instead of a secret. Secrets are random, so a slow hash would add nothing. */
export function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** Creates a secret for a link: 32 random bytes in base64url, with its hash. */
export function newLinkSecret(): { secret: string; hash: Buffer } {
  const secret = randomBytes(32).toString('base64url');
  return { secret, hash: sha256(secret) };
}
