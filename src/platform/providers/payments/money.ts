/**
 * Inside the service, amounts of money are integers in the minor unit of their currency (cents, yen, fils). Sums and
 * shares are exact; the only division, at the end, yields the number nearest to the decimal amount.
 */

/**
 * Currencies for which ICU counts only the decimals in everyday use and ISO 4217 counts more; payment providers follow
 * ISO 4217.
 */
const TWO_DIGITS = 'afn all cop huf idr irr kpw lak lbp mga mmk pkr sll sos syp yer';
const DIGITS_BY_ISO_4217 = new Map([['iqd', 3], ...TWO_DIGITS.split(' ').map((code) => [code, 2] as const)]);

const currencies = new Set(Intl.supportedValuesOf('currency').map((code) => code.toLowerCase()));

/** Returns whether `code` is a known currency: ISO 4217 in lower case. */
export function isCurrency(code: string): boolean {
  return currencies.has(code);
}

/** Returns the number of decimals of a currency: 2 for usd, 0 for jpy, 3 for kwd. */
export function minorDigits(currency: string): number {
  const known = DIGITS_BY_ISO_4217.get(currency);
  if (known !== undefined) return known;
  const { maximumFractionDigits } = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions();
  return maximumFractionDigits ?? 2;
}

/**
 * Converts to major units: 1999 is 19.99 in usd, 1999 in jpy, 1.999 in kwd. The shortest decimal form of the result is
 * the amount. Throws a RangeError if `minor` is not a safe integer.
 */
export function toMajorUnits(minor: number, currency: string): number {
  if (!Number.isSafeInteger(minor)) throw new RangeError(`${minor} is not an amount in minor units.`);
  return minor / 10 ** minorDigits(currency);
}

/** Formats an amount in English: `USD 19.99`. */
export function formatMoney(minor: number, currency: string): string {
  const digits = minorDigits(currency);
  const amount = toMajorUnits(minor, currency);
  const number = amount.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${currency.toUpperCase()} ${number}`;
}

/** Returns `amount` × `part` / `whole`, rounded half up. All are non-negative integers, `whole` above 0. */
export function share(amount: number, part: number, whole: number): number {
  const doubled = 2n * BigInt(whole);
  return Number((2n * BigInt(amount) * BigInt(part) + BigInt(whole)) / doubled);
}
