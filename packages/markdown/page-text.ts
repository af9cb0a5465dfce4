import type { Element, Properties, Root, Text } from 'hast';
import { DESCRIPTION_MAX } from './analysis/page-terms.ts';
import { BlockContext } from './blocks/block-context.ts';
import { beside, formOf, MARKS, TableColumns, TableHeads, withoutMarks } from './blocks/block-form.ts';
import { writtenTarget } from './blocks/block-targets.ts';
import { runsAgainstItsLetters } from './directions.ts';
import { lineEndsIn, type OutlineEntry, oneLine, searchable, type TextBlock } from './plain-text.ts';
import { decoded, ID_PREFIX } from './safe-addresses.ts';

/** White space other than a single space. */
const UNEVEN = /[\t\n\f\r]| {2}/;

/** Elements that start and end a line of text; all others are inline. */
const BLOCKS = new Set(
  (
    'blockquote caption dd details div dl dt figcaption figure h1 h2 h3 h4 h5 h6 hr li ol p pre section summary table ' +
    'tbody tfoot thead tr ul'
  ).split(' '),
);

/** Containers whose blocks are cited separately. */
const CONTAINERS = new Set('dl ol section table tbody tfoot thead ul'.split(' '));

/** Cells cannot span rows across these elements. */
const ROW_GROUPS = new Set('table tbody tfoot thead'.split(' '));

/** Tells whether an element is the title of a callout, which names its kind and is not part of the page's words. */
function isCalloutTitle({ properties: { className } }: Element): boolean {
  return Array.isArray(className) && className.includes('callout-title');
}

/** Formulas and diagrams: the page contains their source, and a browser draws them. */
function isDrawn({ tagName, properties: { className } }: Element): boolean {
  if (!Array.isArray(className)) return false;
  return tagName === 'code' ? className.includes('language-math') : tagName === 'pre' && className.includes('mermaid');
}

/** Elements that change the meaning of their words: struck out, raised, lowered, turned around. */
const MEANING: Record<string, string> = {
  del: MARKS.struck,
  s: MARKS.struck,
  strike: MARKS.struck,
  sup: MARKS.raised,
  sub: MARKS.lowered,
  bdo: MARKS.turned,
};

/** Headings inside these elements are no page titles: an outliner writes each line as an item. */
const NO_TITLES = new Set('blockquote dd details li table'.split(' '));

const FOOTNOTE_LABEL = `${ID_PREFIX}footnote-label`;

/**
 * Reads the text of a page: one line per block, whitespace collapsed as in a browser, code unchanged. Also returns the
 * offsets of its headings, its title, its first paragraph, and the ranges of its blocks in the text and in the Markdown
 * (list items and table rows are blocks). The title is the first heading of level 1, otherwise the heading at the
 * beginning of the page: later headings name a part. References to footnotes are left out because they are not part of
 * a word.
 */
export function readPageText(tree: Root): {
  text: string;
  outline: OutlineEntry[];
  title: string;
  paragraph: string;
  blocks: TextBlock[];
} {
  const reader = new TextReader(notesOf(tree));
  reader.read(tree, false, true);
  const { outline, title, paragraph, blocks } = reader;
  const text = reader.text.trimEnd();
  const last = blocks.at(-1);
  if (last) last.end = Math.min(last.end, text.length);
  return { text, outline, title: title || reader.beginning, paragraph, blocks };
}

/** Returns the forms of a page's notes, keyed by `noteKey` of their ids. */
function notesOf({ children }: Root): ReadonlyMap<string, string> {
  const notes = new Map<string, string>();
  for (const section of children) {
    if (section.type !== 'element' || section.properties.dataFootnotes === undefined) continue;
    for (const list of section.children) {
      for (const note of list.type === 'element' && list.tagName === 'ol' ? list.children : []) {
        if (note.type === 'element') notes.set(noteKey(String(note.properties.id ?? '')), formOfNote(note));
      }
    }
  }
  return notes;
}

/** Normalizes ids and addresses of notes, which may be encoded differently. */
function noteKey(id: string): string {
  return decoded(id).toLowerCase();
}

/** Returns the form of a note, without the notes it refers to. */
function formOfNote(note: Element): string {
  const reader = new TextReader(new Map());
  reader.read({ type: 'root', children: [{ ...note, properties: {} }] }, false, true);
  return reader.blocks.map(({ form }) => form).join('\n');
}

/** Limit of headings in the outline: more do not help readers, and each is sent with every read of the page. */
const OUTLINE_MAX = 2_000;

/** State of reading a tree. */
class TextReader {
  readonly outline: OutlineEntry[] = [];
  readonly blocks: TextBlock[] = [];
  text = '';
  title = '';
  /** The heading that the text begins with. */
  beginning = '';
  paragraph = '';
  /** The number of enclosing elements in which headings are no titles. */
  private untitled = 0;
  /** The number of top-level blocks begun so far. */
  private parts = 0;
  /**
   * The whitespace before the next character: line breaks replace spaces, and neither is written at the beginning or
   * the end.
   */
  private gap = '';
  /** The current line of the Markdown; 0 if unknown. */
  private line = 0;
  /** The lines with words of the current block. */
  private first_line = 0;
  private last_line = 0;
  /** The pieces of the current block's form, and whether they include words. */
  private form: string[] = [];
  private hasWords = false;
  /** The number of block elements begun so far, including empty ones. */
  private elements = 0;
  /** Whether the direction of the current container contradicts its first letter. */
  private isTurned = false;
  private columns = new TableColumns();
  private heads = new TableHeads();
  /** Whether the current row is a header row. */
  private isHead = false;
  private readonly context = new BlockContext();
  /** The addresses played by the enclosing players. Links to them are fallbacks, and not targets. */
  private playing: readonly string[] = [];
  /** Targets of the current block. */
  private targets: string[] = [];
  private readonly notes: ReadonlyMap<string, string>;

  /** `notes`: see `notesOf`. */
  constructor(notes: ReadonlyMap<string, string>) {
    this.notes = notes;
  }

  /** `isOutermost`: the content is not part of a block yet. */
  read(node: Element | Root, isCode: boolean, isOutermost: boolean): void {
    for (const child of node.children) {
      const start = this.nextOffset();
      if (child.type === 'text') this.readText(child, isCode);
      if (child.type === 'element') {
        if (node.type === 'root') this.parts += 1;
        this.readElement(child, isCode, isOutermost);
      }
      if (isOutermost && child.type === 'text') this.addBlock(start, -1, '');
    }
  }

  private readElement(element: Element, isCode: boolean, isOutermost: boolean): void {
    const { tagName, properties, position } = element;
    this.line = position?.start.line ?? this.line;
    const isContainer = isOutermost && CONTAINERS.has(tagName);
    if (isOutermost && !isContainer) this.elements += 1;
    if (properties.id === FOOTNOTE_LABEL) return;
    if (properties.dataFootnoteBackref !== undefined) return;
    if (properties.dataFootnoteRef !== undefined) {
      this.form.push(beside(this.noteAt(String(properties.href ?? ''))));
      return;
    }
    const target = writtenTarget(element);
    const isFallback = this.playing.includes(String(properties.href ?? ''));
    if (target !== undefined && !isFallback) this.targets.push(target);
    if (isContainer) this.context.enter(element);
    else if (isOutermost) this.context.beginBlock(element);
    else if (tagName === 'ol') this.context.listWithin(element);
    if (tagName === 'br') this.gap = '\n';
    if (tagName === 'img' && properties.alt) {
      this.form.push(MARKS.picture);
      // Separate the alternative text from adjacent words.
      this.gap ||= ' ';
      this.readText({ value: String(properties.alt) }, false);
      this.gap ||= ' ';
    }
    const isPlayer = tagName === 'audio' || tagName === 'video';
    const playing = this.playing;
    if (isPlayer) this.beginPlayer(element);
    if (tagName === 'input')
      this.form.push(properties.checked === undefined || properties.checked === false ? MARKS.open : MARKS.done);
    const isCell = tagName === 'td' || tagName === 'th';
    if (isCell) this.beginCell(properties);
    const cell = { column: this.columns.next, begin: this.form.length };
    const isBlock = BLOCKS.has(tagName);
    if (isBlock) this.gap = '\n';
    const start = this.nextOffset();
    const outer = { isTurned: this.isTurned, columns: this.columns, heads: this.heads, isHead: this.isHead };
    if (properties.dir !== undefined) this.isTurned = runsAgainstItsLetters(element);
    if (ROW_GROUPS.has(tagName)) this.columns = new TableColumns();
    if (tagName === 'table') this.heads = new TableHeads();
    if (tagName === 'thead' || tagName === 'table') this.isHead = tagName === 'thead';
    if (tagName === 'tr') this.beginRow(element);
    const isTurnedHere = this.isTurned && (isOutermost ? !isContainer : properties.dir !== undefined);
    const mark = isDrawn(element) ? MARKS.drawn : (MEANING[tagName] ?? (isTurnedHere ? MARKS.turned : undefined));
    if (mark) this.form.push(mark);
    const isUntitled = NO_TITLES.has(tagName);
    if (isUntitled) this.untitled += 1;
    this.read(element, isCode || tagName === 'pre', isContainer);
    if (isUntitled) this.untitled -= 1;
    if (isPlayer) this.gap ||= ' ';
    this.playing = playing;
    if (mark) this.endMark(mark);
    this.isTurned = outer.isTurned;
    this.columns = outer.columns;
    this.heads = outer.heads;
    if (isCell && this.isHead) this.heads.add(cell.column, properties, formOf(this.form.slice(cell.begin)).trimStart());
    this.isHead = outer.isHead;
    if (isCell) this.form.push(...this.columns.after(properties));
    if (tagName === 'tr') this.form.push(...this.columns.endRow());
    if (isContainer) this.context.leave();
    else if (isOutermost) this.addBlock(start, this.elements - 1, tagName);
    if (/^h[1-6]$/.test(tagName)) this.addHeading(element, start);
    if (tagName === 'p' && this.paragraph === '' && !isCalloutTitle(element))
      this.paragraph = oneLine(wordsOf(element), DESCRIPTION_MAX);
    if (isBlock) this.gap = '\n';
  }

  /** Begins a player. Its words are alternative text, like a picture's. */
  private beginPlayer(element: Element): void {
    const sources = element.children.filter((child) => child.type === 'element' && child.tagName === 'source');
    const played = [element, ...(sources as Element[])].flatMap(({ properties: { src } }) =>
      src ? [String(src)] : [],
    );
    this.playing = [...this.playing, ...played.map((src) => src.replace(/#.*$/s, ''))];
    this.form.push(MARKS.picture);
    this.gap ||= ' ';
  }

  private beginRow({ children }: Element): void {
    const cells = children.filter((child) => child.type === 'element');
    this.isHead ||= cells.length > 0 && cells.every(({ tagName }) => tagName === 'th');
    this.heads.beginRow(this.isHead);
  }

  private beginCell(properties: Properties): void {
    this.gap ||= ' ';
    this.form.push(...this.columns.before(properties), MARKS.cell);
    if (!this.isHead) this.form.push(beside(this.heads.above(this.columns.next, properties)));
  }

  /** Returns the form of the note that an address of this page leads to, or the address if there is no such note. */
  private noteAt(href: string): string {
    return this.notes.get(noteKey(href.slice(1))) ?? href;
  }

  private addHeading({ tagName, properties }: Element, start: number): void {
    const heading = oneLine(this.text.slice(start), Number.POSITIVE_INFINITY);
    const anchor = String(properties.id ?? '');
    if (this.untitled === 0) {
      if (tagName === 'h1') this.title ||= heading;
      else if (start === 0) this.beginning = heading;
    }
    if (heading !== '' && this.outline.length < OUTLINE_MAX)
      this.outline.push({ level: Number(tagName.slice(1)), text: heading, anchor, offset: start });
  }

  /** Nodes with a position set the line; others, such as highlighted code, continue from the previous node. */
  private readText({ value, position }: Pick<Text, 'value' | 'position'>, isCode: boolean): void {
    if (isCode) this.addCode(value);
    else this.addInline(value);
    if (position) this.line = position.start.line;
    const { line } = this;
    if (line === 0) return;
    const words = value.trim();
    const ends = position?.end.line ?? line + lineEndsIn(value);
    if (words !== '') {
      const from = value.indexOf(words);
      const first = ends === line ? line : line + lineEndsIn(value.slice(0, from));
      const last = ends === line ? line : ends - lineEndsIn(value.slice(from + words.length));
      this.first_line = this.first_line === 0 ? first : Math.min(this.first_line, first);
      this.last_line = Math.max(this.last_line, last);
    }
    this.line = ends;
  }

  private add(words: string, isCode: boolean): void {
    if (words === '') return;
    const shown = searchable(words);
    // Line breaks and indentation are significant in code only.
    if (this.hasWords && this.gap !== '') this.form.push(isCode ? this.gap : ' ');
    this.form.push(withoutMarks(shown));
    this.hasWords = true;
    this.text += (this.text === '' ? '' : this.gap) + shown;
    this.gap = '';
  }

  /** Ends a mark, or removes it if it encloses nothing. */
  private endMark(mark: string): void {
    if (this.form.at(-1) === mark) this.form.pop();
    else this.form.push(MARKS.end);
  }

  private addInline(value: string): void {
    const words = UNEVEN.test(value) ? value.replace(/[ \t\n\f\r]+/g, ' ') : value;
    const isBlank = words.trim() === '';
    // A single space may be the only separator of two links.
    if ((words.startsWith(' ') || (isBlank && words !== '')) && this.gap === '') this.gap = ' ';
    if (isBlank) return;
    this.add(words.replace(/^ | $/g, ''), false);
    if (words.endsWith(' ') && this.gap === '') this.gap = ' ';
  }

  /**
   * Adds a piece of code. More pieces may follow: a highlighted element may end at the end of a line or on the next
   * line.
   */
  private addCode(value: string): void {
    const code = value.replace(/\n+$/, '');
    this.add(code, true);
    this.gap += value.slice(code.length);
  }

  /** Ends the block that began at `start`, unless it is empty. */
  private addBlock(start: number, element: number, tagName: string): void {
    const { first_line, last_line, targets } = this;
    const end = this.text.length;
    const form = formOf(this.form);
    const context = this.context.endBlock(tagName, form);
    const place = { start, end, part: this.parts - 1, element, first_line, last_line };
    if (end > start) this.blocks.push({ ...place, form, context, targets });
    this.form = [];
    this.targets = [];
    this.hasWords = false;
    this.first_line = 0;
    this.last_line = 0;
  }

  private nextOffset(): number {
    return this.text === '' ? 0 : this.text.length + this.gap.length;
  }
}

/** Returns the words of an element without its pictures, which at the top of a document are usually badges. */
function wordsOf(element: Element): string {
  let words = '';
  for (const child of element.children) {
    if (child.type === 'text') words += child.value;
    if (child.type === 'element' && child.properties.dataFootnoteRef === undefined) {
      words += child.tagName === 'br' ? '\n' : wordsOf(child);
    }
  }
  return words;
}
