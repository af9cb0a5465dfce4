import { DefinitionLines } from './definition-lines.ts';
import { Fences } from './fences.ts';
import { type GitBookTag, gitBookTagOf, inOneLine } from './gitbook.ts';
import { commentAt, type Line, statementAt } from './hidden-lines.ts';
import { TAG_MAX, tagEnd } from './jsx-tag.ts';
import { shortcodeOf } from './shortcodes.ts';
import { tabTagOf } from './tab-items.ts';

/** What the text of a dialect has and its page does not. Offsets are UTF-16 units of the text. */
export interface Hidden {
  what: 'comment' | 'code' | 'mark';
  start: number;
  end: number;
}

/** A box that is written between `:::`, between shortcodes or under `!!!`, by the line of its head, counted from 1. */
export interface Box {
  /** "" for a tab, whose content follows its title, and for a definition, whose term stands before it. */
  word: string;
  title: string;
  fold: '' | '-' | '+';
  isDefinition?: boolean;
  /** The line that closes it; 0 where the content is indented. */
  closes: number;
}

/**
 * What a tree must have where an edit is, for the edit to mean what it was made for: no code, HTML or formula (lines), words (comment), a
 * comment of HTML (markup), a tag (tag), the address of a link (destination), the head or end of a box (box).
 */
type Place = 'lines' | 'comment' | 'markup' | 'tag' | 'destination' | 'box';

/** A part of the text in other words of the same length. */
export interface Edit {
  start: number;
  text: string;
  place: Place;
  /** Edits of one group are undone together: the offset at which the first one was found. */
  group: number;
}

type Grouped<T> = T & Pick<Edit, 'group'>;

export interface Mask {
  /** In the order of the text, without overlaps. */
  edits: readonly Edit[];
  boxes: ReadonlyMap<number, Grouped<Box>>;
  hidden: readonly Grouped<Hidden>[];
}

/** Stands for a slash in a tag. */
export const SLASH = '\ufdde';

/** Stands for the letters of what is hidden: a noncharacter of Unicode, so that it cannot be mistaken for a word of the text. */
export const FILLER = '\ufddf';

const HAS_DIALECT =
  /^ {0,3}:[ \t]|%%|\{%|\s=(?:\d{1,4}x|x\d)|:::|!!!|\?\?\?|={3}[!+]? +"|\{\/\*|\{\{[<%]\s*(?:rel)?ref\s|^[ \t]*\{\{[<%]|^(?:import|export)\s|<\/?[A-Z]|=\{|<\/?>|<[a-zA-Z][^<>\n]{0,200}=[^\s"'<>=]{0,200}\//m;
const FRONT_MATTER = /^(---|\+\+\+)[ \t]*\r?\n(?:[\s\S]*?\n)?\1[ \t]*(?:\r?\n|$)/;

/**
 * How to write the text so that CommonMark does not misread its dialects: in other words of the same length and with the same lines, so
 * that every place in the tree is one in the text. Comments and code of MDX are blank, heads of boxes are blocks of their own. Lines alone
 * do not tell what is code, so that the tree has to be asked afterwards (`Reading`). Undefined for a text without dialects. Linear in the
 * length of the text.
 */
export function maskOf(markdown: string, isBox: (word: string) => boolean): Mask | undefined {
  if (!HAS_DIALECT.test(markdown) || markdown.includes(FILLER) || markdown.includes(SLASH)) return undefined;
  const scan = new Scan(markdown, isBox);
  scan.readLines(linesOf(markdown), FRONT_MATTER.exec(markdown)?.[0].length ?? 0);
  for (const [start, end] of scan.prose) scan.readProse(markdown.slice(start, end), start);
  const edits = withoutOverlaps(scan.edits);
  return edits.length === 0 ? undefined : { edits, boxes: scan.boxes, hidden: scan.hidden };
}

/** The mask without some groups of its edits. */
export function withoutGroups({ edits, boxes, hidden }: Mask, groups: ReadonlySet<number>): Mask {
  const isKept = ({ group }: Pick<Edit, 'group'>) => !groups.has(group);
  return {
    edits: edits.filter(isKept),
    boxes: new Map([...boxes].filter(([, box]) => isKept(box))),
    hidden: hidden.filter(isKept),
  };
}

/** The text in the words of a mask. */
export function masked(markdown: string, { edits }: Mask): string {
  let text = '';
  let from = 0;
  for (const edit of edits) {
    text += markdown.slice(from, edit.start) + edit.text;
    from = edit.start + edit.text.length;
  }
  return text + markdown.slice(from);
}

function withoutOverlaps(edits: Edit[]): Edit[] {
  let from = 0;
  return edits
    .sort((a, b) => a.start - b.start)
    .filter(({ start, text }) => {
      if (start < from) return false;
      from = start + text.length;
      return true;
    });
}

function linesOf(markdown: string): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < markdown.length; ) {
    const next = markdown.indexOf('\n', start);
    const end = next < 0 ? markdown.length : next;
    lines.push({ start, text: markdown.slice(start, end) });
    start = end + 1;
  }
  return lines;
}

function blank(text: string): string {
  return text.replace(/[^\r\n]/g, ' ');
}

/** A filler for each letter: an empty line would end the paragraph. */
function filled(text: string): string {
  return text.replace(/[^\r\n]/g, FILLER);
}

/** `:::note Title`, `:::note[Title]`, `::: {.note}`, or `:::` alone. */
const COLONS = /^([ \t]*)(:{3,})[ \t]*(?:\{[ \t]*\.([\w-]+)[^}]*\}|([a-z][\w-]*))?(?:\[([^\]]*)\])?[ \t]*([^:]*)$/i;
/** `!!! note "Title"`, or `??? note` for one that is folded and `???+ note` for one that can be. */
const INDENTED = /^( *)(!!!|\?\?\?\+?) +([a-z][\w-]*)((?: +[\w-]+)*)(?: +"([^"]*)")?\s*$/i;
/** `=== "Title"`, with `+` for the tab that is shown first and `!` for one that begins a new set. */
const TAB = /^( *)={3}[!+]? +"([^"]+)"\s*$/;

class Scan {
  readonly edits: Edit[] = [];
  readonly boxes = new Map<number, Grouped<Box>>();
  readonly hidden: Grouped<Hidden>[] = [];
  /** Ranges of lines outside of code. */
  readonly prose: [start: number, end: number][] = [];
  private readonly isBox: (word: string) => boolean;
  /** How many letters may be read for ends of tags, so that nested ones take linear time. */
  private letters = 0;
  /** The names of closing tags: `<Type>` without one is text. */
  private readonly closed: ReadonlySet<string>;
  /** Without a box, what is between is shown without the tags, and the edit of the first one may be made already. */
  private open: { line: number; closes: string; edit: Edit; box?: Box; isMade?: boolean }[] = [];

  constructor(markdown: string, isBox: (word: string) => boolean) {
    this.closed = new Set([...markdown.matchAll(/<\/([\w.]+)/g)].map(([, name = '']) => name));
    this.isBox = isBox;
  }

  readLines(lines: readonly Line[], from: number): void {
    this.letters = 1_000_000;
    const fences = new Fences();
    const definitions = new DefinitionLines(lines);
    let lastComment = lines.length;
    for (let i = 0; i < lines.length; i += 1) {
      const { start, text } = lines[i] as Line;
      if (start < from || fences.takes(text)) continue;
      const until =
        statementAt(lines, i, this.hidden.at(-1)?.end === start - 1) ??
        (i < lastComment ? commentAt(lines, i) : undefined);
      if (until === 0) lastComment = i;
      if (until) {
        i = this.hide(lines, i, until, text.startsWith('%%') ? 'comment' : 'code');
      } else if (
        !this.readColons(text, i + 1, start) &&
        !this.readShortcode(text, i + 1, start) &&
        !this.readGitBook(text, i + 1, start) &&
        !this.readIndented(lines, i) &&
        !this.readTab(lines, i)
      ) {
        this.readDefinition(start + definitions.colonAt(i), i + 1, start);
        this.addProse(start, start + text.length + 1);
      }
    }
  }

  private addProse(start: number, end: number): void {
    const last = this.prose.at(-1);
    if (last && last[1] === start) last[1] = end;
    else this.prose.push([start, end]);
  }

  /** Blanks lines [from, until); returns the last one. */
  private hide(lines: readonly Line[], from: number, until: number, what: Hidden['what']): number {
    const group = (lines[from] as Line).start;
    for (const { start, text } of lines.slice(from, until))
      this.edits.push({ start, text: blank(text), place: 'lines', group });
    const last = lines[until - 1] as Line;
    this.hidden.push({ what, start: group, end: last.start + last.text.length, group });
    return until - 1;
  }

  private readColons(text: string, line: number, start: number): boolean {
    if (!text.includes(':::')) return false;
    const [, indent = '', colons = '', inBraces = '', bare = '', bracketed, behind = ''] = COLONS.exec(text) ?? [];
    if (colons === '') return false;
    const word = (inBraces || bare).toLowerCase();
    const rest = behind.trimEnd();
    const edit = boxEdit(start, `${indent}***`.padEnd(text.length));
    if (word !== '' && this.isBox(word)) {
      const fold = word === 'details' ? '-' : '';
      this.open.push({ line, closes: colons, edit, box: { word, title: bracketed ?? rest, fold, closes: 0 } });
      return true;
    }
    if (word !== '' || bracketed !== undefined || rest !== '') return false;
    return this.close(colons, line, edit);
  }

  /** Whether the line closes a box, which is one only then. */
  private close(closes: string, line: number, edit: Edit): boolean {
    const at = this.open.findLastIndex((each) => each.closes === closes);
    const opening = this.open[at];
    if (!opening) return false;
    this.open.length = at;
    const { group } = opening.edit;
    if (opening.box) this.boxes.set(opening.line, { ...opening.box, closes: line, group });
    if (!opening.isMade) this.edits.push(opening.edit);
    this.edits.push(opening.box ? { ...edit, group } : { ...edit, text: blank(edit.text), place: 'lines', group });
    return true;
  }

  /** A shortcode of Hugo whose name or argument says that it is a box; others stay as they are. */
  private readShortcode(text: string, line: number, start: number): boolean {
    const code = text.includes('{{') ? shortcodeOf(text, this.isBox) : undefined;
    if (!code || !this.isBox(code.word)) return false;
    const { indent, name, isEnd, word, title } = code;
    const edit = boxEdit(start, `${indent}***`.padEnd(text.length));
    if (isEnd) return this.close(name, line, edit);
    const fold = word === 'details' ? '-' : '';
    this.open.push({ line, closes: name, edit, box: { word, title, fold, closes: 0 } });
    return true;
  }

  /** A block of GitBook; other tags between `{%` and `%}` stay as they are. */
  private readGitBook(text: string, line: number, start: number): boolean {
    const tag = gitBookTagOf(text, this.isBox);
    if (!tag) return this.readGitBookLine(text, line, start);
    const { indent, name, isEnd, kind, word, title } = tag;
    const closes = `{% ${name}`;
    const edit = boxEdit(start, `${indent}***`.padEnd(text.length));
    if (isEnd) return this.close(closes, line, edit);
    if (kind === 'link') {
      const made: Edit = { start, text: linkOf(tag).padEnd(text.length), place: 'destination', group: start };
      this.edits.push(made);
      this.open.push({ line, closes, edit: made, isMade: true });
    } else if (kind === 'plain' && /^ {0,3}$/.test(indent)) {
      // Blank lines farther right do not tell whether they are code.
      this.open.push({ line, closes, edit: { ...edit, text: blank(text), place: 'lines' } });
    } else this.open.push({ line, closes, edit, box: { word, title, fold: '', closes: 0 } });
    return true;
  }

  /** As an item of a list, if it is a box: nothing else begins one within a line. */
  private readGitBookLine(text: string, line: number, start: number): boolean {
    const [opening = '', content = '', end = ''] = inOneLine(text) ?? [];
    const tag = opening === '' ? undefined : gitBookTagOf(opening, this.isBox);
    if (!tag) return false;
    const { indent, kind, word, title } = tag;
    const { length } = opening;
    if (kind === 'link') this.replace(start, linkOf(tag).padEnd(length), 'destination');
    else if (kind === 'plain') this.replace(start, `${indent}%%`.padEnd(length - 2, FILLER).concat('%%'), 'comment');
    else {
      this.boxes.set(line, { word, title, fold: '', closes: 0, group: start });
      this.edits.push(boxEdit(start, `${indent}+   `.padEnd(length, FILLER)));
    }
    const ends = `%%${FILLER.repeat(end.trimEnd().length - 4)}%%`.padEnd(end.length);
    this.edits.push({ start: start + length + content.length, text: ends, place: 'comment', group: start });
    this.addProse(start + length, start + length + content.length);
    return true;
  }

  /** As an item of a list, whose content is indented by four spaces too. */
  private readIndented(lines: readonly Line[], at: number): boolean {
    const { text, start } = lines[at] as Line;
    if (!/^ *[!?=]{3}/.test(text)) return false;
    const tab = TAB.exec(text);
    const [, indent = '', sign = '', word = '', , title = ''] = tab
      ? ['', tab[1], '!!!', '', '', tab[2]]
      : (INDENTED.exec(text) ?? []);
    if (sign === '') return false;
    const next = lines[at + 1]?.text.trim() === '' ? lines[at + 2] : lines[at + 1];
    if (!next?.text.startsWith(`${indent}    `)) return false;
    const fold = sign === '!!!' ? '' : sign === '???' ? '-' : '+';
    this.boxes.set(at + 1, { word: word.toLowerCase(), title, fold, closes: 0, group: start });
    this.edits.push(boxEdit(start, `${indent}+   `.padEnd(text.length, FILLER)));
    return true;
  }

  /** A tab of Docusaurus: as an item of a list if its content is indented as code would be, else as a title. */
  private readTab(lines: readonly Line[], at: number): boolean {
    const { text, start } = lines[at] as Line;
    const tag = tabTagOf(text);
    if (!tag || !this.closed.has(tag.name)) return false;
    const { name, isEnd, indent, title } = tag;
    const blanked: Edit = { start, text: blank(text), place: 'lines', group: start };
    if (name === 'Tabs') {
      this.edits.push(blanked);
      this.hidden.push({ what: 'code', start, end: start + text.length, group: start });
      return true;
    }
    if (isEnd) {
      const opening = this.open.findLast(({ closes }) => closes === name)?.edit.text ?? '';
      const before = ' '.repeat(Math.max(0, opening.search(/\S/)));
      return this.close(name, at + 1, boxEdit(start, `${before}***`.padEnd(text.length)));
    }
    if (title === '') return false;
    const content = (lines[at + 1]?.text.trim() === '' ? lines[at + 2] : lines[at + 1])?.text ?? '';
    const column = Math.max(0, content.search(/\S/));
    const spaces = column - indent.length - 1;
    const box = { word: '', title, fold: '', closes: 0 } as const;
    if (column < 4 || spaces < 1) {
      // Not farther right than its content: an item of a list would take the end of the tab.
      const rule = `${' '.repeat(Math.min(column, indent.length))}***`.padEnd(text.length);
      this.open.push({ line: at + 1, closes: name, edit: boxEdit(start, rule), box });
      return true;
    }
    const edit = boxEdit(start, `${indent}+${' '.repeat(Math.min(4, spaces))}`.padEnd(text.length, FILLER));
    this.boxes.set(at + 1, { ...box, group: start });
    this.edits.push(edit);
    this.open.push({ line: at + 1, closes: name, edit, isMade: true });
    return true;
  }

  /** The colon of a definition as the mark of an item. */
  private readDefinition(colon: number, line: number, start: number): void {
    if (colon < start) return;
    this.boxes.set(line, { word: '', title: '', fold: '', closes: 0, isDefinition: true, group: colon });
    this.edits.push(boxEdit(colon, '+'));
  }

  /** Comments, tags of components and links of Hugo in text that has no fenced code. */
  readProse(text: string, offset: number): void {
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

  /** Whether the tag has values that the parser misreads. */
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
    // Else the slash at the end belongs to the value.
    if (isClosed) letters[inner.length] = ' ';
    this.replace(start, letters.join(''), 'tag');
    return true;
  }

  /** Returns where the tag of a component ends. */
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

/** A value without quotes that has a slash, which the parser takes for the end of its tag. */
const UNQUOTED = /(\s[a-z][\w:.-]*\s*=\s*)([^\s"'<>=`]*\/[^\s"'<>=`]*)/gi;

/** Before the end or the title of a picture's address: `=200x100`, `=200x`, `=x100`. */
const SIZE = /\s=(?:\d{1,4}x\d{0,4}|x\d{1,4})(?=[\s)])/;

/** Its address follows when the tree is made, where it has no caption. */
function linkOf({ indent, title, address }: GitBookTag): string {
  return `${indent}[${title || FILLER}](<${address}>)`;
}

function boxEdit(start: number, text: string): Edit {
  return { start, text, place: 'box', group: start };
}

/** Code in a line, comments of MDX, `%%a comment%%`, `]({{< ref "page" >}})`, the beginning of a tag and a picture with a size. */
const IN_PROSE =
  /`+[^`\n]*`+|\{\/\*[\s\S]{1,5000}?\*\/\}|(?<![\p{L}\p{N}%\\])%%(?!%)((?:(?!%%|\n[ \t]*\n)[\s\S]){1,5000})%%(?![\p{L}\p{N}%])|\]\(\s*\{\{[<%]\s*(?:rel)?ref\s+"?([^"\s}]+)"?\s*[>%]\}\}\s*\)|(?<!\\)<\/?([a-z][\w.-]*)(?=[\s/>])|(?<!\\)!\[[^\]\n]{0,1000}\]\([ \t]*(<[^<>\n]{1,1000}>|(?:[^\s()<>]|\([^\s()<>]{0,100}\)){1,1000})[ \t]+=(?:\d{1,4}x\d{0,4}|x\d{1,4})(?:[ \t]+(?:"[^"\n]{0,1000}"|'[^'\n]{0,1000}'))?[ \t]*\)/giu;
