/** A GitBook tag alone in its line: `{% hint style="info" %}`, `{% endhint %}`. */
const TAG =
  /^([ \t]*)\{%[ \t]*(end)?([a-z][a-z-]*)((?:[ \t]+[\w-]+=(?:"[^"\n]*"|[\w.%-]+)|[ \t]+[a-z]+)*)[ \t]*%\}[ \t]*$/i;

/** Blocks whose tags are hidden and whose content is shown. */
const PLAIN = new Set(['code', 'column', 'columns', 'content-ref', 'step', 'stepper', 'tabs', 'updates']);

export interface GitBookTag {
  indent: string;
  name: string;
  isEnd: boolean;
  /**
   * `box`: a callout; `titled`: content with a title; `plain`: content without a title; `link`: a link to `address`.
   */
  kind: 'box' | 'titled' | 'plain' | 'link';
  /** The kind of a `box`. */
  word: string;
  title: string;
  address: string;
}

/** Longer lines are treated as text. */
const LINE_MAX = 2_000;

/** Splits a block that is written in one line into its tag, content and end tag. */
export function inOneLine(line: string): [opening: string, content: string, end: string] | undefined {
  if (line.length > LINE_MAX || !line.includes('{%')) return undefined;
  const [, opening = '', name = '', content = '', end = '', ended] = ONE_LINE.exec(line) ?? [];
  return name === ended && content.trim() !== '' ? [opening, content, end] : undefined;
}

const ONE_LINE = /^([ \t]*\{%[ \t]*([a-z][a-z-]*)[^%{}]*%\})([^{}]+)(\{%[ \t]*end([a-z][a-z-]*)[ \t]*%\}[ \t]*)$/;

/** Parses a line that is a GitBook tag. Returns undefined for other lines, including opening tags of Jinja and Liquid. */
export function gitBookTagOf(line: string, isBox: (word: string) => boolean): GitBookTag | undefined {
  if (line.length > LINE_MAX || !line.includes('{%')) return undefined;
  const [, indent = '', end, written = '', rest = ''] = TAG.exec(line) ?? [];
  const name = written.toLowerCase();
  const values = new Map(
    [...rest.matchAll(/([\w-]+)=(?:"([^"]*)"|(\S+))/g)].map(([, key = '', a, b]) => [key, a ?? b]),
  );
  const tag = { indent, name, isEnd: end !== undefined, word: '', title: values.get('title') ?? '', address: '' };
  if (tag.isEnd) return { ...tag, kind: 'plain' };
  if (name === 'hint') {
    const word = values.get('style')?.toLowerCase() ?? 'info';
    return { ...tag, kind: 'box', word: isBox(word) ? word : 'info' };
  }
  if (name === 'embed' || name === 'file') {
    const address = values.get(name === 'file' ? 'src' : 'url') ?? '';
    const caption = values.get('caption') ?? '';
    const isLink = /^[^<>\s]+$/.test(address) && !/[\\`*_~<>[\]]/.test(caption);
    return isLink ? { ...tag, kind: 'link', address, title: caption } : undefined;
  }
  if ((name === 'tab' || name === 'code') && tag.title !== '') return { ...tag, kind: 'titled' };
  return PLAIN.has(name) ? { ...tag, kind: 'plain' } : undefined;
}
