import crypto, { randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Type } from 'typebox';
import { ApiError, rateLimited } from '../../../platform/core/errors.ts';

/** OWASP's second choice for Argon2id: 19 MiB, two passes, one lane. A stored hash names its own. */
const PARAMETERS = { memory: 19_456, passes: 2, parallelism: 1 };

/** How many are computed at once: each takes a core and its memory. More wait, up to a number. */
const MOST_AT_ONCE = 2;
const MOST_WAITING = 100;

const FEWEST_CHARACTERS = 12;
const MOST_CHARACTERS = 128;

/** A password that is to be set: 12 to 128 characters, whatever they are. */
export const NewPassword = Type.String({
  minLength: FEWEST_CHARACTERS,
  maxLength: MOST_CHARACTERS,
  description: 'Whatever characters; compared in the form NFKC.',
});

/** A password that is compared. */
export const GivenPassword = Type.String({ maxLength: MOST_CHARACTERS });

let running = 0;
const waiting: (() => void)[] = [];

/** Runs off the main thread. Errors: 429 `rate_limited` where too many wait already. */
async function argon2id(password: string, salt: Buffer, parameters: typeof PARAMETERS): Promise<Buffer> {
  if (running >= MOST_AT_ONCE) {
    if (waiting.length >= MOST_WAITING) {
      throw rateLimited(1, 'passwords at once');
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else running += 1;
  try {
    // Looked up here, because an older Node.js has none and serves well without passwords.
    return await promisify(crypto.argon2)('argon2id', {
      message: password.normalize('NFKC'),
      nonce: salt,
      tagLength: 32,
      ...parameters,
    });
  } finally {
    // The slot goes to the caller that waits longest, or is free.
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

/** The PHC string of a new password. Errors: 400 `invalid_request` where too little or too much is left of it in NFKC, 429. */
export async function hashNewPassword(password: string): Promise<string> {
  const { length } = [...password.normalize('NFKC')];
  if (length < FEWEST_CHARACTERS || length > MOST_CHARACTERS) {
    throw new ApiError(
      'invalid_request',
      `A password has ${FEWEST_CHARACTERS} to ${MOST_CHARACTERS} characters in the form NFKC.`,
    );
  }
  const salt = randomBytes(16);
  return phcOf(salt, await argon2id(password, salt, PARAMETERS), PARAMETERS);
}

/** Stands in where there is no hash to compare with, so that this takes as long as with one. */
const NOBODYS = phcOf(randomBytes(16), randomBytes(32), PARAMETERS);

/** Whether a password is the one of the PHC string; never where there is none, after the same work. Errors: 429. */
export async function isPassword(password: string, phc: string | undefined): Promise<boolean> {
  const { salt, hash, ...parameters } = readPhc(phc ?? NOBODYS);
  const derived = await argon2id(password, salt, parameters);
  return timingSafeEqual(derived, hash) && phc !== undefined;
}

function phcOf(salt: Buffer, hash: Buffer, { memory, passes, parallelism }: typeof PARAMETERS): string {
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(hash)}`;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]{43})$/;

function readPhc(phc: string) {
  const [, memory, passes, parallelism, salt = '', hash = ''] = PHC.exec(phc) ?? [];
  if (!memory) throw new Error('a stored password is no PHC string of Argon2id');
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  };
}
