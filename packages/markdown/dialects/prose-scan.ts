import { TAG_MAX, tagEnd } from './jsx-tag.ts';
import { blank, type Edit, FILLER, filled, type Grouped, type Hidden, type Place, SLASH } from './mask.ts';

/** Scans text outside of code for inline syntax, and adds to `edits` and `hidden`. */
export class ProseScan {
  private readonly edits: Edit[];
  private readonly hidden: Grouped<Hidden>[];
  private readonly closed: ReadonlySet<string>;
  /** Budget of characters to search for ends of tags, so that nested tags take linear time. */
  private letters = 1_000_000;

  constructor(edits: Edit[], hidden: Grouped<Hidden>[], closed: ReadonlySet<string>) {
    this.edits = edits;
    this.hidden = hidden;
    this.closed = closed;
  }

  /** Reads comments, component tags, Hugo links and picture sizes in a text without fenced code. */
  read(text: string, offset: number): void {
    let from = 0;
    for (const match of text.matchAll(IN_PROSE)) {
      const [whole, comment, ref, tag, address] = match;
      if (match.index < from) continue;
      const start = offset + match.index;
      if (whole.startsWith('{/*')) {
        this.replace(start, `<!--${filled(whole.slice(4, -3))}-->`, 'markup');
        this.hidden.push({ what: 'comment', start, end: start + whole.length, group: start });
      } else if (comment !== undefined) {
        this.replace(start, `%%${filled(comment)}%%`, 'comment');
        this.hidden.push({ what: 'comment', start, end: start + whole.length, group: start });
      } else if (ref !== undefined) {
        const at = whole.indexOf(ref, whole.search(/ref\s/) + 3);
        this.replace(start + 2, `${' '.repeat(at - 2)}${ref}`.padEnd(whole.length - 3), 'destination');
      } else if (tag !== undefined) {
        from = this.readTag(text, match.index, tag, offset);
      } else if (address !== undefined) {
        const at = whole.lastIndexOf(address);
        this.replace(start + at, whole.slice(at).replace(SIZE, blank), 'destination');
      }
    }
  }

  private replace(start: number, text: string, place: Place): void {
    this.edits.push({ start, text, place, group: start });
  }

  /** Masks slashes in unquoted values, which the parser would misread. Returns whether the tag has any. */
  private maskSlashes(tag: string, start: number): boolean {
    if (tag.length > TAG_MAX || !tag.includes('=')) return false;
    const isClosed = tag.endsWith('/>');
    const inner = tag.slice(0, isClosed ? -2 : -1);
    const quoted = inner.replace(/"[^"]*"|'[^']*'/g, (value) => FILLER.repeat(value.length));
    const slashes = [...quoted.matchAll(UNQUOTED)].flatMap(({ index, 1: before = '', 2: value = '' }) =>
      [...value].flatMap((letter, i) => (letter === '/' ? [index + before.length + i] : [])),
    );
    if (slashes.length === 0) return false;
    const letters = [...tag.split('')];
    for (const at of slashes) letters[at] = SLASH;
    // Otherwise the slash at the end would belong to the value.
    if (isClosed) letters[inner.length] = ' ';
    this.replace(start, letters.join(''), 'tag');
    return true;
  }

  /**
   * Masks the parts of a tag that the parser would misread: a component, braces, or slashes in unquoted values. Returns
   * the end of a tag that was handled; 0 to continue inside it.
   */
  private readTag(text: string, at: number, name: string, offset: number): number {
    const from = at + text.slice(at, at + name.length + 2).indexOf(name) + name.length;
    const tag = this.letters < 0 ? undefined : tagEnd(text, from);
    this.letters -= tag ? tag.end - from : TAG_MAX;
    const isComponent = /^[A-Z].*[a-z.]/.test(name) && !/^(?:br|hr|img|wbr|input)$/i.test(name);
    if (!tag) return 0;
    const whole = text.slice(at, tag.end);
    const isOpen = isComponent && !tag.isEmpty && !this.closed.has(name);
    if (isOpen || !(isComponent || tag.hasBraces)) return this.maskSlashes(whole, offset + at) ? tag.end : 0;
    const start = offset + at;
    const attributes = text.slice(from, tag.end - (tag.isEmpty ? 2 : 1));
    if (!whole.startsWith('</')) this.hidden.push({ what: 'code', start, end: start + whole.length, group: start });
    if (isComponent && tag.isEmpty && whole.length >= 7) {
      this.replace(start, `<!--${filled(whole.slice(4, -3))}-->`, 'tag');
    } else if (tag.hasBraces || name.includes('.')) {
      const written = whole.slice(0, from - at).replaceAll('.', '-');
      const unread = attributes.replace(/[^\r\n]/g, 'x').replace(/^x/, ' ');
      this.replace(start, written + unread + (tag.isEmpty ? '/>' : '>'), 'tag');
    } else if (!whole.startsWith('</')) this.replace(start, whole, 'tag');
    return tag.end;
  }
}

/** An unquoted value with a slash, which the parser mistakes for the end of the tag. */
const UNQUOTED = /(\s[a-z][\w:.-]*\s*=\s*)([^\s"'<>=`]*\/[^\s"'<>=`]*)/gi;

/** Before the end or the title of a picture's address: `=200x100`, `=200x`, `=x100`. */
const SIZE = /\s=(?:\d{1,4}x\d{0,4}|x\d{1,4})(?=[\s)])/;

/**
 * Inline code, MDX comments, `%%a comment%%`, `]({{< ref "page" >}})`, the beginning of a tag, and pictures with a
 * size.
 */
const IN_PROSE =
  /`+[^`\n]*`+|\{\/\*[\s\S]{1,5000}?\*\/\}|(?<![\p{L}\p{N}%\\])%%(?!%)((?:(?!%%|\n[ \t]*\n)[\s\S]){1,5000})%%(?![\p{L}\p{N}%])|\]\(\s*\{\{[<%]\s*(?:rel)?ref\s+"?([^"\s}]+)"?\s*[>%]\}\}\s*\)|(?<!\\)<\/?([a-z][\w.-]*)(?=[\s/>])|(?<!\\)!\[[^\]\n]{0,1000}\]\([ \t]*(<[^<>\n]{1,1000}>|(?:[^\s()<>]|\([^\s()<>]{0,100}\)){1,1000})[ \t]+=(?:\d{1,4}x\d{0,4}|x\d{1,4})(?:[ \t]+(?:"[^"\n]{0,1000}"|'[^'\n]{0,1000}'))?[ \t]*\)/giu;
