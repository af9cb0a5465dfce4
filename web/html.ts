import { escapeHtml } from '../src/core/escape-html.ts';

/** HTML that is safe to send: text in it was escaped when it was built. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

export type Content = Html | string | number | false | null | undefined | readonly Content[];

/** The only way to write HTML. Values are escaped unless they are Html; false, null and undefined become "". */
export function html(strings: TemplateStringsArray, ...values: Content[]): Html {
  let text = strings[0] ?? '';
  for (const [i, value] of values.entries()) text += textOf(value) + (strings[i + 1] ?? '');
  return new Html(text);
}

/** HTML that the API has sanitized: a page's text, a snippet. Pass nothing else. */
export function fromApi(safe: string): Html {
  return new Html(safe);
}

export const nothing = new Html('');

function textOf(value: Content): string {
  if (value instanceof Html) return value.text;
  if (value === false || value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(textOf).join('');
  // A parser of HTML would read CR as LF.
  const text = escapeHtml(String(value));
  return text.includes('\r') ? text.replaceAll('\r', '&#13;') : text;
}
