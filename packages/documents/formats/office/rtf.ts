import { ExtractError } from '../extract-error.ts';
import type { ExtractedDocument, UploadedFile } from '../extracted.ts';
import { lossList } from '../loss-list.ts';
import { countCharacters } from '../losses.ts';
import { asDocument } from './as-document.ts';
import { RtfBlocks } from './rtf-blocks.ts';
import { CHARACTERS, codePageOf, decodeBytes } from './rtf-text.ts';
import { type RtfToken, rtfTokens } from './rtf-tokens.ts';

const BYTES_MAX = 64 * 2 ** 20;

/** The destination of the text in a group. */
type Target = 'text' | 'nothing' | 'style' | 'title' | 'font' | 'field' | 'mark' | 'margin' | 'comment' | 'note';

/** Destinations by the first control word of a group. */
const TARGETS: Record<string, Target> = {
  stylesheet: 'style',
  title: 'title',
  fonttbl: 'font',
  fldinst: 'field',
  listtext: 'mark',
  pntext: 'mark',
  annotation: 'comment',
  footnote: 'note',
  ...Object.fromEntries(
    ['header', 'headerl', 'headerr', 'headerf', 'footer', 'footerl', 'footerr', 'footerf'].map(
      (name) => [name, 'margin'] as const,
    ),
  ),
  ...Object.fromEntries(
    [
      'info',
      'colortbl',
      'pict',
      'object',
      'listtable',
      'listoverridetable',
      'revtbl',
      'rsidtbl',
      'generator',
      'xe',
      'tc',
      'themedata',
      'colorschememapping',
      'datastore',
      'latentstyles',
      'atnid',
      'atnauthor',
      'atnref',
      'nonshppict',
      'ftnsep',
      'ftnsepc',
      'ftncn',
      'pnseclvl',
      'bkmkstart',
      'bkmkend',
    ].map((name) => [name, 'nothing'] as const),
  ),
};

/** Groups that are read although they are marked as optional by `\*`. */
const OPTIONAL = new Set(['shppict', 'shpinst', 'fldinst', 'annotation', 'pntext', 'listtext']);

/** The state that a group inherits from its parent group. */
interface State {
  target: Target;
  marks: Partial<Record<'strong' | 'em' | 's' | 'sup' | 'sub', boolean>>;
  isHidden: boolean;
  isDeleted: boolean;
  font: number;
  /** Whether the group is the result of a field. */
  isResult: boolean;
  /** The number of bytes after each `\u` word that are the fallback for readers without Unicode. */
  skipped: number;
}

/**
 * Reads an RTF document: headings by style or outline level, paragraphs, lists, tables, links and footnotes. Pictures,
 * embedded objects, comments, hidden and deleted text, headers and footers are listed as losses. Throws an ExtractError
 * if the document is too large or nested too deep.
 */
export function readRtf({ bytes }: Pick<UploadedFile, 'bytes'>): ExtractedDocument {
  if (bytes.length > BYTES_MAX)
    throw new ExtractError(
      'too_large',
      `the RTF document is larger than ${BYTES_MAX / 2 ** 20} MiB; save it as .docx and upload that file`,
    );
  const losses = lossList();
  const reader = new RtfReader();
  for (const token of rtfTokens(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')))
    reader.take(token);
  const { html, title, file_characters, lost } = reader.finish();
  for (const { kind, text } of lost) {
    if (text.trim() !== '') losses.add(kind, text);
    else if (kind === 'picture' || kind === 'embedded_object') losses.addThing(kind, '');
  }
  return asDocument(
    { kind: 'rtf', content_type: 'application/rtf', html, title, file_characters },
    { losses, pictures: [] },
  );
}

interface Lost {
  kind: 'picture' | 'embedded_object' | 'comment' | 'hidden_text' | 'tracked_change' | 'repeated_line';
  text: string;
}

/** Names of heading styles. */
const HEADING_STYLE = /^(?:heading|überschrift|titre|título|titolo) ?(\d)/i;

class RtfReader {
  readonly #blocks = new RtfBlocks();
  readonly #lost: Lost[] = [];
  readonly #stack: State[] = [];
  /** Code pages by font, and names and outline levels by style. */
  readonly #pages = new Map<number, number>();
  readonly #styles = new Map<number, string>();
  readonly #levels = new Map<number, number>();
  #state: State = {
    target: 'text',
    marks: {},
    isHidden: false,
    isDeleted: false,
    isResult: false,
    font: 0,
    skipped: 1,
  };
  #codePage = 1252;
  #style = 0;
  /** The number of bytes of a fallback that are still to be skipped. */
  #skip = 0;
  /** Whether the group has no content yet, and whether it began with `\*`. */
  #isStart = false;
  #isOptional = false;
  #characters = 0;
  /**
   * Text not yet emitted. One character may span several tokens, and a surrogate pair several words, so marks are
   * applied only after both are joined.
   */
  #pending = '';
  #text = '';
  #title = '';
  #field = '';
  #words = '';

  take(token: RtfToken): void {
    if (token.type === 'text') {
      const bytes = token.bytes.slice(this.#skip);
      this.#skip = Math.max(0, this.#skip - token.bytes.length);
      this.#pending += bytes;
      if (bytes !== '') this.#isStart = false;
      return;
    }
    this.#skip = 0;
    if (token.type === 'word' && token.name === 'u') {
      this.#decode();
      this.#text += String.fromCharCode(((token.value ?? 63) + 65_536) % 65_536);
      this.#skip = this.#state.skipped;
      this.#isStart = false;
      return;
    }
    this.#flush();
    if (token.type === 'open') {
      this.#stack.push({ ...this.#state });
      this.#isStart = true;
      this.#isOptional = false;
    } else if (token.type === 'close') {
      this.#close();
      this.#isStart = false;
    } else if (token.name === '*') this.#isOptional = true;
    else {
      this.#word(token.name, token.value);
      this.#isStart = false;
    }
  }

  finish() {
    this.#flush();
    return {
      html: this.#blocks.finish(),
      title: this.#title.trim().slice(0, 255),
      file_characters: this.#characters,
      lost: this.#lost,
    };
  }

  #decode(): void {
    this.#text += decodeBytes(this.#pending, this.#pages.get(this.#state.font) ?? this.#codePage);
    this.#pending = '';
  }

  #flush(): void {
    this.#decode();
    const text = this.#text;
    this.#text = '';
    if (text !== '') this.#add(text);
  }

  #add(text: string): void {
    const { target, isDeleted, isHidden, marks } = this.#state;
    if (target === 'title') this.#title += text;
    else if (target === 'style') this.#styles.set(this.#style, `${this.#styles.get(this.#style) ?? ''}${text}`);
    else if (target === 'field') this.#field += text;
    else if (target === 'mark') this.#blocks.mark(text);
    else if (target === 'margin' || target === 'comment') this.#words += text;
    else if (target === 'text' || target === 'note') {
      this.#characters += countCharacters(text);
      if (isDeleted || isHidden) this.#addLost(isDeleted ? 'tracked_change' : 'hidden_text', text);
      else this.#blocks.text(text, marks);
    }
  }

  #addLost(kind: Lost['kind'], text: string): void {
    const last = this.#lost.at(-1);
    if (last && last.kind === kind && text !== '') last.text += text;
    else this.#lost.push({ kind, text });
  }

  /** Ends a group and passes its collected text to its destination. */
  #close(): void {
    const before = this.#stack.pop();
    if (!before) return;
    const { target, isResult } = this.#state;
    if (isResult && !before.isResult) this.#blocks.link('');
    if (target !== before.target) {
      if (target === 'field') {
        this.#blocks.link(/HYPERLINK\s+(?:\\[a-z]\s+)*"([^"]*)"/i.exec(this.#field)?.[1] ?? '');
        this.#field = '';
      } else if (target === 'note') this.#blocks.endNote();
      else if (target === 'margin' || target === 'comment') {
        this.#characters += countCharacters(this.#words);
        this.#lost.push({ kind: target === 'margin' ? 'repeated_line' : 'comment', text: this.#words });
        this.#words = '';
      }
    }
    this.#state = before;
  }

  #word(name: string, value: number | undefined): void {
    const state = this.#state;
    const target = this.#isStart ? TARGETS[name] : undefined;
    if (this.#isStart && this.#isOptional && !OPTIONAL.has(name) && target === undefined) state.target = 'nothing';
    else if (name === 'title' && this.#isStart) state.target = 'title';
    else if (target !== undefined && state.target !== 'nothing') {
      state.target = target;
      if (name === 'pict') this.#addLost('picture', '');
      if (name === 'object') this.#addLost('embedded_object', '');
      if (name === 'footnote') this.#blocks.beginNote();
    } else if (name === 'ansicpg') this.#codePage = value ?? 1252;
    else if (name === 'fldrslt') state.isResult = true;
    else if (name === 'uc') state.skipped = Math.max(0, value ?? 1);
    else if (name === 'f') state.font = value ?? 0;
    else if (name === 'fcharset' && state.target === 'font')
      this.#pages.set(state.font, codePageOf(value ?? 0) ?? this.#codePage);
    else if (name === 's' && state.target === 'style') this.#style = value ?? 0;
    else if (name === 'outlinelevel' && state.target === 'style') this.#levels.set(this.#style, (value ?? 9) + 1);
    else if (!this.#mark(name, value !== 0)) this.#blockWord(name, value ?? 0);
  }

  /** Applies a control word for character formatting. Returns false if it is another kind of word. */
  #mark(name: string, isOn: boolean): boolean {
    const state = this.#state;
    const mark = ({ b: 'strong', i: 'em', strike: 's', super: 'sup', sub: 'sub' } as Record<string, string>)[name];
    if (mark) state.marks = { ...state.marks, [mark]: isOn };
    else if (name === 'nosupersub') state.marks = { ...state.marks, sup: false, sub: false };
    else if (name === 'plain') Object.assign(state, { marks: {}, isHidden: false, isDeleted: false });
    else if (name === 'v') state.isHidden = isOn;
    else if (name === 'deleted') state.isDeleted = isOn;
    else return false;
    return true;
  }

  #blockWord(name: string, value: number): void {
    const character = CHARACTERS[name];
    const isText = this.#state.target === 'text' || this.#state.target === 'note';
    if (character !== undefined || (name === 'line' && !isText)) this.#add(character ?? ' ');
    else if (!isText) return;
    else if (name === 's') {
      const [, level = ''] = HEADING_STYLE.exec((this.#styles.get(value) ?? '').trim()) ?? [];
      this.#blocks.heading(this.#levels.get(value) ?? (level === '' ? undefined : Number(level)));
    } else if (name === 'outlinelevel') this.#blocks.heading(value + 1);
    else this.#blocks.word(name, value);
  }
}
