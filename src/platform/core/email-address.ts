/** A label of a host name, and a local part without quotes (the `email` state of HTML, ASCII only). */
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const ADDRESS = new RegExp(
  `^[a-z0-9!#$%&'*+/=?^_\`{|}~-]+(?:\\.[a-z0-9!#$%&'*+/=?^_\`{|}~-]+)*@${LABEL}(?:\\.${LABEL})*$`,
);

/**
 * Normalizes an address for storage and comparison: trimmed, ASCII lower case, at most 254 characters. Returns
 * undefined if the text is not exactly one plain address. Refuses characters outside ASCII, so that look-alike
 * addresses are never confused; an international domain is written in its xn-- form. Refuses encoded words
 * (`=?utf-8?q?a?=`, RFC 2047), because mail programs would not display the real recipient.
 */
export function normalizeEmail(text: string): string | undefined {
  const email = text.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const local = email.lastIndexOf('@');
  return email.length <= 254 && local <= 64 && ADDRESS.test(email) && !email.includes('=?') ? email : undefined;
}
