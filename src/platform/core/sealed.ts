import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/**
 * Encrypts a text (AES-256-GCM, key by HKDF-SHA-256) with a secret that only the client has. The database stores a hash
 * of the secret, so a dump does not reveal the text. `purpose` separates the keys of different uses.
 */
export function seal(purpose: string, secret: string, text: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', derive(purpose, secret), nonce);
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts a sealed text; throws if the secret or the purpose differs. */
export function unseal(purpose: string, secret: string, sealed: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', derive(purpose, secret), sealed.subarray(0, 12));
  decipher.setAuthTag(sealed.subarray(-16));
  return decipher.update(sealed.subarray(12, -16)).toString('utf8') + decipher.final('utf8');
}

function derive(purpose: string, secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
}
