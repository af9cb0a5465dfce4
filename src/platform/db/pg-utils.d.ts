/** An undeclared part of the driver: converts a value of a statement to its wire format. */
declare module 'pg/lib/utils.js' {
  const utils: { prepareValue(value: unknown): string | Buffer | null };
  export default utils;
}
