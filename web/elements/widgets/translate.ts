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
  /** The locale of dates, numbers and amounts. */
  readonly #locale: string;
  readonly #messages: Messages;
  /** A name from the IANA time zone database; undefined for the browser's time zone. */
  timeZone: string | undefined;

  constructor(language: string, messages: Messages, locale: string) {
    this.language = language;
    this.#locale = locale;
    this.#messages = messages;
  }

  get dir(): 'ltr' | 'rtl' {
    return RTL.includes(this.language) ? 'rtl' : 'ltr';
  }

  text(key: MessageKey, values: Record<string, string | number> = {}): string {
    return this.#messages[key].replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = values[name] ?? '';
      return typeof value === 'number' ? value.toLocaleString(this.#locale) : value;
    });
  }

  /** Returns the message of a computed key, such as `role_` and a slug; undefined if the catalogue lacks it. */
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
    return amount.toLocaleString(this.#locale, { style: 'currency', currency });
  }

  #format(at: string, options: Intl.DateTimeFormatOptions): string {
    const { timeZone } = this;
    return new Date(at).toLocaleString(this.#locale, { ...options, ...(timeZone && { timeZone }) });
  }
}

/** Opens the catalogue of the first preferred language (tags, by priority) that has a catalogue; English otherwise. */
export async function openTranslation(preferred: readonly string[]): Promise<Translation> {
  const languages = preferred.map((tag) => tag.toLowerCase().split('-')[0] ?? '');
  const language = languages.find((it) => it in CATALOGUES) ?? 'en';
  const messages = await (CATALOGUES[language] as () => Promise<Messages>)();
  return new Translation(language, messages, localeOf(language, preferred));
}

/** Returns the user's regional variant of the language if a tag names it, such as en-GB. */
function localeOf(language: string, preferred: readonly string[]): string {
  const isOfCountry = (tag: string) => /^[a-z]{2}-[a-z]{2}$/i.test(tag) && tag.toLowerCase().startsWith(`${language}-`);
  return preferred.find(isOfCountry) ?? language;
}
