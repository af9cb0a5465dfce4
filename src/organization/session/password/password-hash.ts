import crypto, { randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Type } from 'typebox';
import { ApiError, rateLimited } from '../../../platform/core/errors.ts';

/**
 * OWASP's recommended minimum for Argon2id: 19 MiB, two passes, one lane. Each stored hash contains its own parameters,
 * so these can be changed.
 */
const PARAMETERS = { memory: 19_456, passes: 2, parallelism: 1 };

/** Concurrent computations; each uses a core and its memory. Further ones queue, up to MOST_WAITING. */
const MOST_AT_ONCE = 2;
const MOST_WAITING = 100;

const FEWEST_CHARACTERS = 12;
const MOST_CHARACTERS = 128;

/** A new password: 12 to 128 arbitrary characters. */
export const NewPassword = Type.String({
  minLength: FEWEST_CHARACTERS,
  maxLength: MOST_CHARACTERS,
  description: 'Any characters; compared in Unicode form NFKC.',
});

export const GivenPassword = Type.String({ maxLength: MOST_CHARACTERS });

let running = 0;
const waiting: (() => void)[] = [];

/** Runs off the main thread. Throws 429 `rate_limited` if the queue is full. */
async function argon2id(password: string, salt: Buffer, parameters: typeof PARAMETERS): Promise<Buffer> {
  if (running >= MOST_AT_ONCE) {
    if (waiting.length >= MOST_WAITING) {
      throw rateLimited(1, 'passwords at once');
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else running += 1;
  try {
    // Accessed here and not imported, because older versions of Node.js lack `crypto.argon2` and still work without
    // passwords.
    return await promisify(crypto.argon2)('argon2id', {
      message: password.normalize('NFKC'),
      nonce: salt,
      tagLength: 32,
      ...parameters,
    });
  } finally {
    // Pass the slot to the longest waiting caller, or free it.
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

/**
 * Returns the PHC string of a new password. Throws 400 `invalid_request` if it is too short or too long in NFKC; 429.
 */
export async function hashNewPassword(password: string): Promise<string> {
  const { length } = [...password.normalize('NFKC')];
  if (length < FEWEST_CHARACTERS || length > MOST_CHARACTERS) {
    throw new ApiError(
      'invalid_request',
      `A password must have ${FEWEST_CHARACTERS} to ${MOST_CHARACTERS} characters in form NFKC.`,
    );
  }
  const salt = randomBytes(16);
  return phcOf(salt, await argon2id(password, salt, PARAMETERS), PARAMETERS);
}

/** Dummy hash for users without a password, so that the check takes equally long. */
const NOBODYS = phcOf(randomBytes(16), randomBytes(32), PARAMETERS);

/**
 * Returns whether a password matches the PHC string; always false without one, after the same amount of work. Throws
 * 429.
 */
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
  if (!memory) throw new Error('a stored password is not an Argon2id PHC string');
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  };
}
