import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { makeRoom } from '../core/make-room.ts';
import { sha256 } from '../core/secrets.ts';

/** Kinds of random tokens that are looked up by hash, with their prefixes. */
const PREFIXES = {
  key: 'ibid_live_',
  access: 'ibid_at_',
  refresh: 'ibid_rt_',
  browser: 'ibid_bs_',
  device: 'ibid_dv_',
} as const;
/** Days until an unused session expires. */
export const SESSION_IDLE_DAYS = 30;

type TokenKind = keyof typeof PREFIXES;

const TOKEN_PATTERN = /^([0-9A-Za-z]{28})([0-9a-z]{7})$/;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * Creates a token: its prefix, 28 base62 characters (166 random bits) and a checksum, so that typos are refused without
 * a query. Only `hash` is stored; lists show `obfuscated`.
 */
export function newToken(kind: TokenKind): { secret: string; hash: Buffer; obfuscated: string } {
  let random = '';
  // 248 = 4 × 62: higher bytes are discarded, so that every character is equally likely.
  while (random.length < 28) for (const byte of randomBytes(40)) if (byte < 248) random += BASE62[byte % 62];
  random = random.slice(0, 28);
  const secret = `${PREFIXES[kind]}${random}${checksum(random)}`;
  return { secret, hash: sha256(secret), obfuscated: `${PREFIXES[kind]}…${secret.slice(-4)}` };
}

export function hasTokenPrefix(kind: TokenKind, text: string): boolean {
  return text.startsWith(PREFIXES[kind]);
}

/** Maximum number of cached hashes; the oldest ones are evicted first. */
const HASHES_MAX = 5_000;

/** Kinds that clients send with each request. The other kinds are sent once and not cached. */
const REPEATED: ReadonlySet<TokenKind> = new Set(['key', 'access', 'browser']);

/** Hashes of well-formed tokens that were looked up recently. */
const hashes = new Map<string, Buffer>();

/**
 * Returns the hash for looking up a token of this kind; undefined if the text cannot be one. The buffer is shared and
 * must not be changed.
 */
export function tokenHash(kind: TokenKind, text: string): Buffer | undefined {
  if (!hasTokenPrefix(kind, text)) return undefined;
  const known = hashes.get(text);
  if (known) return known;
  const parts = TOKEN_PATTERN.exec(text.slice(PREFIXES[kind].length));
  if (!parts || checksum(parts[1] ?? '') !== parts[2]) return undefined;
  const hash = sha256(text);
  if (!REPEATED.has(kind)) return hash;
  makeRoom(hashes, HASHES_MAX);
  hashes.set(text, hash);
  return hash;
}

/** Returns the SHA-256 of any token. */
export function digestOf(token: string): Buffer {
  return hashes.get(token) ?? sha256(token);
}

function checksum(random: string): string {
  return crc32(random).toString(36).padStart(7, '0');
}
