import { escapeHtml } from '../src/platform/core/escape-html.ts';

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
  let text = strings[0] as string;
  // An index loop, because this runs thousands of times per page.
  for (let i = 0; i < values.length; i += 1) text += textOf(values[i]) + strings[i + 1];
  return new Html(text);
}

/** Marks HTML that the API has sanitized: a page's text, a snippet. Pass nothing else. */
export function fromApi(safe: string): Html {
  return new Html(safe);
}

export const nothing = new Html('');

function textOf(value: Content): string {
  if (value instanceof Html) return value.text;
  if (value === false || value === null || value === undefined) return '';
  if (typeof value === 'string' || typeof value === 'number') return escaped(String(value));
  let text = '';
  for (const each of value) text += textOf(each);
  return text;
}

function escaped(value: string): string {
  const text = escapeHtml(value);
  // An HTML parser would read CR as LF.
  return text.includes('\r') ? text.replaceAll('\r', '&#13;') : text;
}
