import type { Element, Root, RootContent } from 'hast';

/** A text, or a tag up to its name: attributes and the end of the tag follow. */
const TOKEN = /<(\/?)([a-z][a-z0-9-]*)|[^<]+|</giy;
/** Attributes and the end of a tag; values in quotes may contain `>`. */
const REST_OF_TAG = /((?:[^"'>]|"[^"]*"|'[^']*')*)>/y;
const ATTRIBUTE = /\s+([^\s=>"']+)(?:=(?:"([^"]*)"|'([^']*)'))?/gy;
const EMPTY_ELEMENTS = new Set('br hr img input source wbr'.split(' '));
/** The elements whose attributes are read. */
const WITH_ATTRIBUTES = new Set('a audio code h2 img input li ol pre section source video'.split(' '));
/** Attributes that are read on any element. */
const SAYS = /\s(?:dir|colspan|rowspan)=/;
const PROPERTIES: Record<string, string> = {
  id: 'id',
  alt: 'alt',
  checked: 'checked',
  dir: 'dir',
  colspan: 'colSpan',
  rowspan: 'rowSpan',
  class: 'className',
  href: 'href',
  src: 'src',
  start: 'start',
  'data-target': 'dataTarget',
  'data-fragment': 'dataFragment',
  'data-footnotes': 'dataFootnotes',
  'data-footnote-ref': 'dataFootnoteRef',
  'data-footnote-backref': 'dataFootnoteBackref',
};

/** Our HTML is never nested deeper. Deeper HTML from elsewhere is read as if it were nested no further. */
const DEPTH_MAX = 1_000;

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

/**
 * Parses HTML written by `writeHtml` to a tree with all that `readPageText` needs. Requires that every element is
 * closed and attributes are quoted. Takes linear time, a fraction of the time of a general HTML parser.
 */
export function parseShownHtml(html: string): Root {
  const root: Root = { type: 'root', children: [] };
  const open: (Root | Element)[] = [root];
  for (let at = 0; at < html.length; ) {
    const parent = open.at(-1) ?? root;
    TOKEN.lastIndex = at;
    const [token = '', slash, name] = TOKEN.exec(html) ?? [];
    at += Math.max(1, token.length);
    if (name === undefined) {
      addText(parent, token);
      continue;
    }
    REST_OF_TAG.lastIndex = at;
    const [rest, attributes = ''] = REST_OF_TAG.exec(html) ?? [];
    // An unclosed tag ends the text, as in a browser.
    if (rest === undefined) break;
    at += rest.length;
    if (slash === '/') close(open, name.toLowerCase());
    else openElement(open, parent, elementOf(name.toLowerCase(), attributes));
  }
  return root;
}

function openElement(open: (Root | Element)[], parent: Root | Element, element: Element): void {
  (parent.children as RootContent[]).push(element);
  if (!EMPTY_ELEMENTS.has(element.tagName) && open.length < DEPTH_MAX) open.push(element);
}

function addText(parent: Root | Element, token: string): void {
  const isInPre = parent.type === 'element' && parent.tagName === 'pre' && parent.children.length === 0;
  // A browser drops a line break directly after <pre>.
  const value = decode(isInPre ? token.replace(/^\n/, '') : token);
  if (value !== '') (parent.children as RootContent[]).push({ type: 'text', value });
}

function close(open: (Root | Element)[], tagName: string): void {
  const at = open.findLastIndex((element) => element.type === 'element' && element.tagName === tagName);
  if (at > 0) open.length = at;
}

function elementOf(tagName: string, attributes: string): Element {
  const properties: Element['properties'] = {};
  if (WITH_ATTRIBUTES.has(tagName) || SAYS.test(attributes)) {
    for (const [, name = '', double, single] of attributes.matchAll(ATTRIBUTE)) {
      const property = PROPERTIES[name.toLowerCase()];
      const value = decode(double ?? single ?? '');
      if (property !== undefined) properties[property] = property === 'className' ? value.split(/\s+/) : value;
    }
  }
  return { type: 'element', tagName, properties, children: [] };
}

function decode(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|([a-z]+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return NAMED[name] ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
