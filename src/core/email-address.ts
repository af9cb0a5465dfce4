/** One label of a host name, and the local part that mail servers take unquoted (HTML's e-mail state, ASCII only). */
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const ADDRESS = new RegExp(
  `^[a-z0-9!#$%&'*+/=?^_\`{|}~-]+(?:\\.[a-z0-9!#$%&'*+/=?^_\`{|}~-]+)*@${LABEL}(?:\\.${LABEL})*$`,
);

/**
 * An address as it is stored and compared: trimmed and ASCII-lower-cased, at most 254 characters, or undefined where it
 * is not exactly one plain address. Letters outside ASCII are refused instead of folded, so that no two addresses that
 * look alike are ever taken for one; an international domain is written in its xn-- form.
 */
export function normalizeEmail(text: string): string | undefined {
  const email = text.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const local = email.lastIndexOf('@');
  return email.length <= 254 && local <= 64 && ADDRESS.test(email) ? email : undefined;
}
