import type { IncomingMessage } from 'node:http';
import { unauthorized } from '../core/errors.ts';
import { CREDENTIALS, type Credential, kindOf, type ReaderOptions } from './credential-kinds.ts';
import { tokenHash } from './token.ts';

export type { Credential } from './credential-kinds.ts';

/** Returns a key for counters and caches that identifies the credential without secrets. */
export function subjectOf(credential: Credential): string[] {
  return kindOf(credential).subject(credential);
}

/**
 * Returns the token if there is exactly one Authorization header of the form `Bearer <token>` (scheme in any case);
 * otherwise undefined.
 */
export function bearerToken(request: IncomingMessage): string | undefined {
  const header = request.headers.authorization;
  if (header === undefined || header.length > 16_384) return undefined;
  let headers = 0;
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    if (request.rawHeaders[i]?.toLowerCase() === 'authorization') headers += 1;
  }
  if (headers !== 1) return undefined;
  return /^bearer ([\x21-\x7e]+)$/i.exec(header)?.[1];
}

export interface CredentialReader {
  /** Reads a key, an access token of a session or an issuer, or a widget token. Throws 401 for anything else. */
  read(token: string): Promise<Credential>;
  /** Reads the secret of a browser's cookie, which is not accepted as a bearer token. */
  readCookie(token: string): Credential;
}

export function credentialReader(options: ReaderOptions): CredentialReader {
  return {
    async read(token) {
      for (const kind of CREDENTIALS) {
        const credential = await kind.read?.(token, options);
        if (credential) return credential;
      }
      throw unauthorized();
    },
    readCookie(token) {
      const hash = tokenHash('browser', token);
      if (!hash) throw unauthorized();
      return { kind: 'session', hash };
    },
  };
}
