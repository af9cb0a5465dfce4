import { DefinitionLines } from './definition-lines.ts';
import { Fences } from './fences.ts';
import { type GitBookTag, gitBookTagOf, inOneLine } from './gitbook.ts';
import { commentAt, type Line, statementAt } from './hidden-lines.ts';
import { type Box, blank, boxEdit, type Edit, FILLER, type Grouped, type Hidden } from './mask.ts';
import { shortcodeOf } from './shortcodes.ts';
import { tabTagOf } from './tab-items.ts';

/** `:::note Title`, `:::note[Title]`, `::: {.note}`, or `:::` alone. */
const COLONS = /^([ \t]*)(:{3,})[ \t]*(?:\{[ \t]*\.([\w-]+)[^}]*\}|([a-z][\w-]*))?(?:\[([^\]]*)\])?[ \t]*([^:]*)$/i;
/** `!!! note "Title"`, `??? note` (folded) or `???+ note` (foldable, open). */
const INDENTED = /^( *)(!!!|\?\?\?\+?) +([a-z][\w-]*)((?: +[\w-]+)*)(?: +"([^"]*)")?\s*$/i;
/** `=== "Title"`, with `+` for the tab that is shown first and `!` for a tab that begins a new set. */
const TAB = /^( *)={3}[!+]? +"([^"]+)"\s*$/;

/** Scans a text line by line for comments, MDX code, boxes, tabs and definitions. */
export class LineScan {
  readonly edits: Edit[] = [];
  readonly boxes = new Map<number, Grouped<Box>>();
  readonly hidden: Grouped<Hidden>[] = [];
  /** Ranges of lines outside of code. */
  readonly prose: [start: number, end: number][] = [];
  private readonly isBox: (word: string) => boolean;
  private readonly closed: ReadonlySet<string>;
  /**
   * Blocks that are not closed yet. If `box` is missing, only the tags are hidden; `isMade`: the edit of the opening
   * tag is already in `edits`.
   */
  private open: { line: number; closes: string; edit: Edit; box?: Box; isMade?: boolean }[] = [];

  constructor(isBox: (word: string) => boolean, closed: ReadonlySet<string>) {
    this.isBox = isBox;
    this.closed = closed;
  }

  readLines(lines: readonly Line[], from: number): void {
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

  /** Blanks lines [from, until) and returns the index of the last one. */
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

  /**
   * Closes the innermost open box that ends like this, and adds its edits. Returns false if no such box is open: a box
   * counts only if it is closed.
   */
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

  /** Reads a Hugo shortcode whose name or argument is a kind of box; other shortcodes stay unchanged. */
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

  /** Reads a GitBook tag; other tags between `{%` and `%}` stay unchanged. */
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
      // If the tag is indented further, blanking it would hide whether the line is code: keep a box.
      this.open.push({ line, closes, edit: { ...edit, text: blank(text), place: 'lines' } });
    } else this.open.push({ line, closes, edit, box: { word, title, fold: '', closes: 0 } });
    return true;
  }

  /** Reads a GitBook block in one line. A box becomes a list item, the only block that can begin within a line. */
  private readGitBookLine(text: string, line: number, start: number): boolean {
    const [opening = '', content = '', end = ''] = inOneLine(text) ?? [];
    const tag = opening === '' ? undefined : gitBookTagOf(opening, this.isBox);
    if (!tag) return false;
    const { indent, kind, word, title } = tag;
    const { length } = opening;
    if (kind === 'link')
      this.edits.push({ start, text: linkOf(tag).padEnd(length), place: 'destination', group: start });
    else if (kind === 'plain') {
      const text = `${indent}%%`.padEnd(length - 2, FILLER).concat('%%');
      this.edits.push({ start, text, place: 'comment', group: start });
    } else {
      this.boxes.set(line, { word, title, fold: '', closes: 0, group: start });
      this.edits.push(boxEdit(start, `${indent}+   `.padEnd(length, FILLER)));
    }
    const ends = `%%${FILLER.repeat(end.trimEnd().length - 4)}%%`.padEnd(end.length);
    this.edits.push({ start: start + length + content.length, text: ends, place: 'comment', group: start });
    this.addProse(start + length, start + length + content.length);
    return true;
  }

  /** Reads an indented box or tab as a list item, whose content may be indented by four spaces as well. */
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

  /** Reads a Docusaurus tab: as a list item if its content is indented like code, otherwise as a box between rules. */
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
      // Do not indent the rule further than the content: the end of the tab would become part of a list item.
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

  /** Replaces the colon of a definition by a list marker. */
  private readDefinition(colon: number, line: number, start: number): void {
    if (colon < start) return;
    this.boxes.set(line, { word: '', title: '', fold: '', closes: 0, isDefinition: true, group: colon });
    this.edits.push(boxEdit(colon, '+'));
  }
}

/** Returns a Markdown link. If the tag has no caption, the address replaces the filler when the tree is made. */
function linkOf({ indent, title, address }: GitBookTag): string {
  return `${indent}[${title || FILLER}](<${address}>)`;
}
