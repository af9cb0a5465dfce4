import type { Data } from 'mdast';
import type { Extension as FromMarkdown } from 'mdast-util-from-markdown';
import { normalizeIdentifier } from 'micromark-util-normalize-identifier';
import type { Code, Construct, Effects, Extension, State, TokenizeContext } from 'micromark-util-types';

/** `[[Target]]`, `[[Target#Heading]]` or `[[Target|text]]`; with `!` before it, the target is embedded. */
export interface WikiLink {
  type: 'wikiLink';
  /** The page as named by the author; "" for this page, as in `[[#Heading]]`. */
  target: string;
  heading: string;
  /** The text to show. */
  text: string;
  isEmbed?: boolean;
  /** The size of an embedded picture, as written: `300` or `300x200`. */
  size?: string;
  data?: Data;
}

declare module 'mdast' {
  interface PhrasingContentMap {
    wikiLink: WikiLink;
  }
  interface RootContentMap {
    wikiLink: WikiLink;
  }
}

declare module 'micromark-util-types' {
  interface TokenTypeMap {
    wikiLink: 'wikiLink';
    wikiLinkMarker: 'wikiLinkMarker';
    wikiLinkValue: 'wikiLinkValue';
  }
}

/** Longer than any title with a heading and a text. */
const VALUE_MAX = 600;

const EXCLAMATION = 33;
const OPEN = 91;
const CLOSE = 93;
const PARENTHESIS = 40;

/**
 * Links of CommonMark win: `[[1]](https://x.example)`, and `[[foo]]` in a document that defines `[foo]`, are not wiki
 * links.
 */
function tokenizeWikiLink(this: TokenizeContext, effects: Effects, ok: State, nok: State): State {
  const { parser, previous } = this;
  const slice = this.sliceSerialize;
  let size = 0;
  let markers = 0;
  return start;

  function start(code: Code): State | undefined {
    if (!mayFollow(previous)) return nok(code);
    effects.enter('wikiLink');
    effects.enter('wikiLinkMarker');
    if (code !== EXCLAMATION) return opening(code);
    effects.consume(code);
    return opening;
  }

  function opening(code: Code): State | undefined {
    if (markers === 2) {
      effects.exit('wikiLinkMarker');
      if (code === CLOSE) return nok(code);
      effects.enter('wikiLinkValue');
      return value(code);
    }
    if (code !== OPEN) return nok(code);
    effects.consume(code);
    markers += 1;
    return opening;
  }

  function value(code: Code): State | undefined {
    if (code === null || code < -2 || code === OPEN || size > VALUE_MAX) return nok(code);
    if (code !== CLOSE) {
      effects.consume(code);
      size += 1;
      return value;
    }
    const label = slice(effects.exit('wikiLinkValue'));
    if (partsOf(label) === undefined || parser.defined.includes(normalizeIdentifier(label))) return nok(code);
    effects.enter('wikiLinkMarker');
    markers = 0;
    return closing(code);
  }

  function closing(code: Code): State | undefined {
    if (markers === 2) {
      effects.exit('wikiLinkMarker');
      effects.exit('wikiLink');
      return code === PARENTHESIS ? nok(code) : ok(code);
    }
    if (code !== CLOSE) return nok(code);
    effects.consume(code);
    markers += 1;
    return closing;
  }
}

/** Splits a value into target, heading and text; undefined if it has neither a target nor a heading. */
function partsOf(value: string): Pick<WikiLink, 'target' | 'heading' | 'text'> | undefined {
  // In tables the bar must be escaped, and still separates the text.
  const plain = value.replaceAll('\\|', '|');
  const bar = plain.indexOf('|');
  const address = oneSpaced(bar < 0 ? plain : plain.slice(0, bar));
  const text = oneSpaced(bar < 0 ? plain : plain.slice(bar + 1)) || address;
  const hash = address.indexOf('#');
  const target = oneSpaced(hash < 0 ? address : address.slice(0, hash));
  const heading = hash < 0 ? '' : oneSpaced(address.slice(hash + 1));
  return target === '' && heading === '' ? undefined : { target, heading, text };
}

function oneSpaced(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Width, or width and height, in pixels. */
const PICTURE_SIZE = /^\d{1,4}(?:x\d{1,4})?$/;

/** Three brackets are literal. */
function mayFollow(previous: Code): boolean {
  return previous !== OPEN;
}

const wikiLink: Construct = { name: 'wikiLink', tokenize: tokenizeWikiLink, previous: mayFollow };

export const wikiLinkSyntax: Extension = { text: { [EXCLAMATION]: wikiLink, [OPEN]: wikiLink } };

export const wikiLinkFromMarkdown: FromMarkdown = {
  enter: {
    wikiLink(token) {
      const isEmbed = this.sliceSerialize(token).startsWith('!');
      this.enter({ type: 'wikiLink', target: '', heading: '', text: '', ...(isEmbed && { isEmbed }) }, token);
    },
  },
  exit: {
    wikiLinkValue(token) {
      const node = this.stack[this.stack.length - 1] as WikiLink;
      Object.assign(node, partsOf(this.sliceSerialize(token)));
      // After the bar of an embedded picture comes its size.
      if (node.isEmbed && PICTURE_SIZE.test(node.text)) {
        node.size = node.text;
        node.text = node.target;
      }
    },
    wikiLink(token) {
      this.exit(token);
    },
  },
};

/**
 * Returns all targets of wiki links in a text, possibly including some in code. Scans the text once, so that the pages
 * can be looked up before rendering.
 */
export function possibleWikiTargets(markdown: string): string[] {
  return [...new Set(wikiLinksIn(markdown).map(({ target }) => target))];
}

/**
 * Returns the targets and shown texts of wiki links in a text, in order, including text in code that only looks like a
 * link.
 */
export function wikiLinksIn(markdown: string): Pick<WikiLink, 'target' | 'text'>[] {
  const links = [];
  for (const [, value = ''] of markdown.matchAll(/\[\[([^[\]\r\n]{1,600})\]\]/g)) {
    const parts = partsOf(value);
    if (parts && parts.target !== '') links.push(parts);
  }
  return links;
}
