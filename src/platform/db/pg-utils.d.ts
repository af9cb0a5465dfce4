/** The part of the driver that its types leave out: how it converts a value of a statement to what the protocol sends. */
declare module 'pg/lib/utils.js' {
  const utils: { prepareValue(value: unknown): string | Buffer | null };
  export default utils;
}
