import type { LossList } from '../loss-list.ts';
import { ommlToTex } from './omml.ts';
import { textOfXml } from './word-text.ts';
import { attributesOf, decodeXml, encodeXml, localName, parseXmlPiece, type XmlToken, xmlTokens } from './xml-tree.ts';

/** Internal styles of runs that are formulas, whose text is TeX. */
export const MATH_STYLES = { inline: 'IbidInlineMath', display: 'IbidDisplayMath' };

interface Branch {
  /** [start, end) of the branch in `written` and in the losses. */
  written: [start: number, end: number];
  losses: [start: number, end: number];
  /** The number of texts and pictures in the branch. */
  shown: number;
}

/** An open element, with positions from which its output and losses can be removed. */
interface Open {
  name: string;
  /** The length of `written` before the element. */
  at: number;
  /** The number of shown texts and pictures, and of losses, before the element. */
  shown: number;
  lossesBefore: number;
  /** The reason why the content is not shown. */
  removed?: 'tracked_change' | 'hidden_text';
  /** The branches of alternate content. */
  choice?: Branch;
  fallback?: Branch;
  /** Text boxes and diagrams of a drawing, written after its paragraph. */
  boxes?: string[];
  /** The reading of ruby text, written after it. */
  reading?: string[];
  /** The end tag to write if it differs from the source. */
  closing?: string;
}

/** Returns the texts of a diagram or chart by relationship id, empty if it has no text. */
export type RelatedText = (id: string) => string[];

/** Text is rarely nested deeper than 30. A part with deeper nesting is not rewritten; the converter refuses it. */
const DEPTH_MAX = 500;

/** Elements that are replaced by their content. */
const UNWRAPPED = new Set(['dir', 'bdo', 'Choice', 'Fallback', 'AlternateContent', 'ruby', 'rubyBase', 'rt']);

/** Attributes that name the file of a picture; LibreOffice writes some pictures without a file. */
const FILE_OF_PICTURE = /:(?:embed|link|id|pict|href)=/;

/** Whether a part contains anything to rewrite; most parts do not. */
const CONCERNED =
  /<(?:\w+:)?(?:oMath|AlternateContent|txbxContent|del|moveFrom|vanish|ruby|fldSimple|instrText|dir|bdo|cr|object|chart|relIds|altChunk)[\s>/]|<(?:\w+:)?(?:blip|imagedata)(?=[\s>/])(?![^<>]*:(?:embed|link|id|pict|href)=)/;

/**
 * Rewrites the XML of a part (text, notes) for the converter: equations become runs of TeX, text boxes and diagrams
 * become paragraphs, fields become links. Deletions and hidden text are removed and listed as losses. Takes one pass,
 * in linear time.
 */
export function rewriteWordPart(xml: string, losses: LossList, related: RelatedText): string {
  if (!CONCERNED.test(xml)) return xml;
  const written: string[] = [];
  const open: Open[] = [];
  const prefix = /<(\w+):(?:document|footnotes|endnotes)[\s>]/.exec(xml)?.[1] ?? 'w';
  const part: Part = { written, open, losses, related, prefix, shown: 0 };
  for (const token of xmlTokens(xml)) {
    if (token.type === 'text') writeText(part, token.source);
    else if (token.type === 'close') closeElement(part, token);
    else if (open.length > DEPTH_MAX) return xml;
    else {
      openElement(part, token);
      if (token.type === 'empty') closeElement(part, token);
    }
  }
  return written.join('');
}

interface Part {
  written: string[];
  open: Open[];
  losses: LossList;
  related: RelatedText;
  /** The prefix of the WordprocessingML namespace. */
  prefix: string;
  /** The number of texts and pictures read so far. */
  shown: number;
}

function writeText({ written, open }: Part, source: string): void {
  const isField = open.at(-1)?.name === 'instrText';
  written.push(isField ? encodeXml(fieldLink(decodeXml(source))) : source);
}

/**
 * Normalizes the links of fields to the two forms that the converter reads: an address with fragment, or a bookmark. A
 * cross-reference becomes a link to its bookmark.
 */
function fieldLink(code: string): string {
  const reference = /^\s*REF\s+"?([^\s"\\]+)"?\s[^"]*\\h/.exec(code);
  if (reference) return ` HYPERLINK \\l "${reference[1]}" `;
  if (!/^\s*HYPERLINK\s/.test(code)) return code;
  const place = /\\l\s+"([^"]*)"/.exec(code)?.[1];
  const address = /^\s*HYPERLINK\s+"([^"]*)"/.exec(code)?.[1];
  if (!address) return place === undefined ? code : ` HYPERLINK \\l "${place}" `;
  return ` HYPERLINK "${address}${place === undefined ? '' : `#${place}`}" `;
}

function openElement(part: Part, token: XmlToken): void {
  const { written, open, losses } = part;
  const name = localName(token.name);
  const parent = open.at(-1);
  const element: Open = { name, at: written.length, shown: part.shown, lossesBefore: losses.losses.length };
  if (name === 't' || name === 'imagedata' || name === 'blip') part.shown += 1;
  open.push(element);
  if ((name === 'blip' || name === 'imagedata') && !FILE_OF_PICTURE.test(token.source)) losses.sum('picture', '');
  if (name === 'fldSimple') return openField(part, element, token);
  if ((name === 'vanish' || name === 'del') && parent && /^(?:r|tr)Pr$/.test(parent.name)) {
    const owner = open.at(-3);
    const isOn = !/^(?:0|false|off)$/.test(attributesOf(token.source).val ?? '');
    if (name === 'vanish' && owner?.name === 'r' && isOn) owner.removed = 'hidden_text';
    if (name === 'del' && owner?.name === 'tr') owner.removed = 'tracked_change';
  } else if (name === 'del' || name === 'moveFrom') element.removed = 'tracked_change';
  if (name === 'cr') written.push(`<${part.prefix}:br/>`);
  else if (name === 'chart' || name === 'relIds' || name === 'OLEObject' || name === 'altChunk')
    addEmbedded(part, name, token);
  else if (!UNWRAPPED.has(name)) written.push(token.source);
}

function openField({ written, prefix }: Part, element: Open, { source }: XmlToken): void {
  const [, link] = / HYPERLINK \\l "([^"]*)"/.exec(fieldLink(attributesOf(source).instr ?? '')) ?? [];
  if (link === undefined) return;
  written.push(`<${prefix}:hyperlink ${prefix}:anchor="${encodeXml(link)}">`);
  element.closing = `</${prefix}:hyperlink>`;
}

/** Shows the text of a diagram, and lists any other embedded object as a loss. */
function addEmbedded({ losses, open, related }: Part, name: string, { source }: XmlToken): void {
  const attributes = attributesOf(source);
  const texts = related(attributes[name === 'relIds' ? 'dm' : 'id'] ?? '');
  const drawing = open.findLast((element) => element.name === 'drawing');
  if (name === 'relIds' && texts.length > 0 && drawing) {
    (drawing.boxes ??= []).push(...texts.map((text) => `<w:p><w:r><w:t>${encodeXml(text)}</w:t></w:r></w:p>`));
  } else if (name === 'OLEObject' && /^Equation\./.test(attributes.ProgID ?? '')) {
    losses.addThing('equation', attributes.ProgID ?? '');
  } else if (texts.length > 0) losses.add('embedded_object', texts.join(' '));
  else
    losses.addThing('embedded_object', attributes.ProgID ?? { chart: 'chart', relIds: 'diagram' }[name] ?? 'document');
}

function closeElement(part: Part, token: XmlToken): void {
  const { written, open, losses } = part;
  const name = localName(token.name);
  const element = open.at(-1);
  if (element?.name !== name) {
    // The converter refuses XML that is not well-formed.
    written.push(token.source);
    return;
  }
  open.pop();
  const isWritten = token.type === 'close' && !UNWRAPPED.has(name);
  if (element.closing !== undefined) written.push(element.closing);
  else if (isWritten && !/^(?:fldSimple|chart|relIds|OLEObject|altChunk|cr)$/.test(name)) written.push(token.source);
  if (element.removed) {
    const text = textOfXml(written.splice(element.at).join(''));
    if (text.trim() !== '') losses.add(element.removed, text);
  } else CLOSERS[name]?.(part, element);
}

const CLOSERS: Record<string, (part: Part, element: Open) => void> = {
  oMath: (part, element) => writeEquation(part, element, part.open.at(-1)?.name === 'oMathPara'),
  oMathPara({ written }, { at }) {
    // Keep only the equations, which are runs by now.
    const equations = written
      .splice(at)
      .join('')
      .match(/<w:r .*?<\/w:r>/gs);
    written.push((equations ?? []).join(''));
  },
  Choice: (part, element) => endBranch(part, 'choice', element),
  Fallback: (part, element) => endBranch(part, 'fallback', element),
  AlternateContent: closeAlternatives,
  txbxContent({ written, open }, { at }) {
    const frame = open.findLast((element) => /^(?:drawing|pict|object)$/.test(element.name));
    if (frame)
      (frame.boxes ??= []).push(
        written
          .splice(at)
          .join('')
          .replace(/^<[^>]*>|<\/[^>]*>$/g, ''),
      );
  },
  drawing: writeBoxes,
  pict: writeBoxes,
  object: writeBoxes,
  rt({ written, open }, { at }) {
    const ruby = open.at(-1);
    if (ruby?.name === 'ruby') ruby.reading = written.splice(at);
  },
  ruby({ written, prefix: w }, { reading }) {
    if (reading) written.push(`<${w}:t>(</${w}:t>${reading.join('')}<${w}:t>)</${w}:t>`);
  },
};

function writeEquation({ written, losses }: Part, { at }: Open, isDisplay: boolean): void {
  const xml = written.splice(at).join('');
  const [math] = parseXmlPiece(xml).children;
  const text = textOfXml(xml).trim();
  const tex = math && ommlToTex(math);
  if (text === '' && !tex) return;
  if (tex === undefined) losses.add('equation', text);
  const style =
    tex === undefined
      ? ''
      : `<w:rPr><w:rStyle w:val="${isDisplay ? MATH_STYLES.display : MATH_STYLES.inline}"/></w:rPr>`;
  written.push(`<w:r ${WORD}>${style}<w:t xml:space="preserve">${encodeXml(tex ?? ` ${text} `)}</w:t></w:r>`);
}

const WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const VML = 'xmlns:v="urn:schemas-microsoft-com:vml"';

function endBranch({ written, open, losses, shown }: Part, name: 'choice' | 'fallback', branch: Open): void {
  const alternatives = open.at(-1);
  if (alternatives?.name !== 'AlternateContent') return;
  alternatives[name] = {
    written: [branch.at, written.length],
    losses: [branch.lossesBefore, losses.losses.length],
    shown: shown - branch.shown,
  };
}

/** Keeps the fallback of alternate content if it shows anything, because the converter reads it best. */
function closeAlternatives({ written, losses }: Part, { choice, fallback }: Open): void {
  if (!choice || !fallback) return;
  const dropped = fallback.shown > 0 || choice.shown === 0 ? choice : fallback;
  const remove = (list: unknown[], [start, end]: [number, number]) => list.splice(start, end - start);
  remove(written, dropped.written);
  remove(losses.losses, dropped.losses);
}

function writeBoxes({ written }: Part, { boxes }: Open): void {
  if (boxes)
    written.push(
      `<w:pict ${WORD}><v:textbox ${VML}><w:txbxContent>${boxes.join('')}</w:txbxContent></v:textbox></w:pict>`,
    );
}
