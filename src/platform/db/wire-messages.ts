/**
 * Messages of PostgreSQL's extended query protocol, as bytes ("Message Formats" in its documentation). The driver
 * writes each message to the socket separately; here, the messages of a request are written together.
 */

/** A parameter: text, or bytes in binary format; null is SQL's null. */
export type WireValue = string | Buffer | null;

/** Execute message for the unnamed portal, for all its rows. */
export const EXECUTE = message('E', Buffer.from([0, 0, 0, 0, 0]));
/** Describe message for the unnamed portal, which requests the columns of its rows. */
export const DESCRIBE = message('D', Buffer.from('P\0'));
export const SYNC = message('S', Buffer.alloc(0));

/** Builds a Parse message, which prepares a statement under a name; "" for the unnamed one. */
export function parseMessage(name: string, text: string): Buffer {
  return message('P', Buffer.from(`${name}\0${text}\0\0\0`));
}

/** Builds a Bind message, which binds a prepared statement to the unnamed portal, with its rows as text. */
export function bindMessage(statement: string, values: readonly WireValue[]): Buffer {
  const sizes = values.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : (value?.length ?? 0)));
  const nameSize = Buffer.byteLength(statement);
  const size = sizes.reduce((sum, each) => sum + 6 + each, 5 + 1 + nameSize + 1 + 2 + 2 + 2 + 2);
  const bytes = Buffer.allocUnsafe(size);
  bytes[0] = 0x42;
  let at = bytes.writeInt32BE(size - 1, 1);
  bytes[at] = 0;
  at += 1 + bytes.write(statement, at + 1);
  bytes[at] = 0;
  at = bytes.writeInt16BE(values.length, at + 1);
  for (const value of values) at = bytes.writeInt16BE(value instanceof Buffer ? 1 : 0, at);
  at = bytes.writeInt16BE(values.length, at);
  for (const [i, value] of values.entries()) {
    at = bytes.writeInt32BE(value === null ? -1 : (sizes[i] ?? 0), at);
    if (typeof value === 'string') at += bytes.write(value, at);
    else if (value !== null) at += value.copy(bytes, at);
  }
  bytes.writeInt32BE(0x0001_0000, at);
  return bytes;
}

function message(letter: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(letter);
  head.writeInt32BE(4 + content.length, 1);
  return Buffer.concat([head, content]);
}
