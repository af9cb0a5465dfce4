export interface Option<T> {
  /** Describes the purpose of the option in whole sentences. */
  doc: string;
  fallback: string;
  /** Parses the value. Throws an Error that describes the accepted values. */
  read: (text: string) => T;
  /** The value may contain a password or a key: it is never shown completely, and NAME_FILE may name a file with it. */
  isSecret: boolean;
  /** A document with details, from the root of the repository. */
  see: string | undefined;
}

export type Options = Record<string, Option<unknown>>;

export function option<T>(
  doc: string,
  fallback: string,
  read: (text: string) => T,
  { secret = false, see }: { secret?: boolean; see?: string } = {},
): Option<T> {
  return { doc, fallback, read, isSecret: secret, see };
}

const SECRET_PARAMETER = /([?&][^=&]*(?:pass|secret|key|token)[^=&]*=)[^&]*/gi;
const SHOWN_MAX = 200;

/** Returns a value for printing: without passwords, and "…" for a secret that is not a URL. */
export function shownValue({ isSecret }: Option<unknown>, value: string): string {
  if (isSecret && !value.includes('://')) return value === '' ? '' : '…';
  const shown = value.replace(/:\/\/.*@/s, '://…@').replace(SECRET_PARAMETER, '$1…');
  return shown.length > SHOWN_MAX ? `${shown.slice(0, SHOWN_MAX)}…` : shown;
}
