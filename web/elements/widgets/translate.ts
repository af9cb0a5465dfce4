import type { MessageKey, Messages } from './messages/messages.ts';

const CATALOGUES: Record<string, () => Promise<Messages>> = {
  en: async () => (await import('./messages/en.ts')).en,
  de: async () => (await import('./messages/de.ts')).de,
  fr: async () => (await import('./messages/fr.ts')).fr,
  es: async () => (await import('./messages/es.ts')).es,
  ja: async () => (await import('./messages/ja.ts')).ja,
  ar: async () => (await import('./messages/ar.ts')).ar,
};

const RTL = ['ar'];

export const LANGUAGES: readonly string[] = Object.keys(CATALOGUES);

export class Translation {
  readonly language: string;
  readonly #messages: Messages;
  /** A name of the IANA time zone database; undefined for that of the browser. */
  timeZone: string | undefined;

  constructor(language: string, messages: Messages) {
    this.language = language;
    this.#messages = messages;
  }

  get dir(): 'ltr' | 'rtl' {
    return RTL.includes(this.language) ? 'rtl' : 'ltr';
  }

  text(key: MessageKey, values: Record<string, string | number> = {}): string {
    return this.#messages[key].replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = values[name] ?? '';
      return typeof value === 'number' ? value.toLocaleString(this.language) : value;
    });
  }

  /** The message of a key that is put together, such as `role_` and a slug; undefined where there is none. */
  find(key: string): string | undefined {
    return Object.hasOwn(this.#messages, key) ? this.#messages[key as MessageKey] : undefined;
  }

  day(at: string): string {
    return this.#format(at, { dateStyle: 'medium' });
  }

  time(at: string): string {
    return this.#format(at, { dateStyle: 'medium', timeStyle: 'short' });
  }

  money(amount: number, currency: string): string {
    return amount.toLocaleString(this.language, { style: 'currency', currency });
  }

  #format(at: string, options: Intl.DateTimeFormatOptions): string {
    const { timeZone } = this;
    return new Date(at).toLocaleString(this.language, { ...options, ...(timeZone && { timeZone }) });
  }
}

/** The first of the preferred languages (tags, by priority) that there is a catalogue for; English where there is none. */
export async function openTranslation(preferred: readonly string[]): Promise<Translation> {
  const languages = preferred.map((tag) => tag.toLowerCase().split('-')[0] ?? '');
  const language = languages.find((it) => it in CATALOGUES) ?? 'en';
  return new Translation(language, await (CATALOGUES[language] as () => Promise<Messages>)());
}
