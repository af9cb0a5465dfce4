import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/**
 * Encrypts a text under a secret that only the client has (of which the database has no more than a hash), so that a
 * dump of the database shows nothing of it. `purpose` keeps what is sealed for one end from serving another.
 */
export function seal(purpose: string, secret: string, text: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', derive(purpose, secret), nonce);
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** The text that was sealed; throws where the secret or the purpose is another. */
export function unseal(purpose: string, secret: string, sealed: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', derive(purpose, secret), sealed.subarray(0, 12));
  decipher.setAuthTag(sealed.subarray(-16));
  return decipher.update(sealed.subarray(12, -16)).toString('utf8') + decipher.final('utf8');
}

function derive(purpose: string, secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
}
