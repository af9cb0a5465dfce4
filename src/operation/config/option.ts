/** An option of the service. */
export interface Option<T> {
  /** What it is for, in whole sentences. */
  doc: string;
  /** What counts where nothing is given. */
  fallback: string;
  /** Errors: one whose message says what the option takes. */
  read: (text: string) => T;
  /** It may have a password or a key: its value is never shown in whole, and NAME_FILE may name a file that has it. */
  isSecret: boolean;
  /** The document that says more, from the root of the repository. */
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

/** A value as it may be printed: without passwords, and of a secret that is no address nothing. */
export function shownValue({ isSecret }: Option<unknown>, value: string): string {
  if (isSecret && !value.includes('://')) return value === '' ? '' : '…';
  const shown = value.replace(/:\/\/.*@/s, '://…@').replace(SECRET_PARAMETER, '$1…');
  return shown.length > SHOWN_MAX ? `${shown.slice(0, SHOWN_MAX)}…` : shown;
}
