import type { Element, ElementContent } from 'hast';
import type { Blockquote, Code, Image, Node, Paragraph, Text } from 'mdast';
import { defaultHandlers, type Handlers, type State } from 'mdast-util-to-hast';
import { calloutOf, markedText } from './dialects/callouts.ts';
import { definitionList } from './dialects/definition-lists.ts';
import { languageOf } from './dialects/language-of.ts';
import { highlighter } from './highlight.ts';
import type { InlineMath, MathBlock } from './math-syntax.ts';
import { anchorOf, headingAnchor } from './safe-addresses.ts';
import type { WikiLink } from './wiki-link-syntax.ts';
import { relativeAddress, type Wiki } from './wiki-links.ts';

/**
 * Returns handlers for syntax that CommonMark lacks: highlighted code, wiki links, and mathematics and diagrams as
 * marked code, which a browser draws (without scripts it shows the source).
 */
export function elementHandlers(wiki: Wiki): Handlers {
  const highlight = highlighter();
  return {
    blockquote(state: State, node: Blockquote): Element {
      const callout = calloutOf(state, node);
      return callout ? withPosition(node, callout) : defaultHandlers.blockquote(state, node);
    },
    text: (_state: State, node: Text): ElementContent[] => markedText(node),
    code(state: State, node: Code): Element {
      const language = languageOf(`${node.lang ?? ''} ${node.meta ?? ''}`);
      const fences = node.data?.isFenced ? 1 : 0;
      if (language === 'math') return withPosition(node, mathBlock(node.value), fences);
      if (language === 'mermaid') {
        return withPosition(node, element('pre', { className: ['mermaid'] }, [text(node.value)]), fences);
      }
      const pre: Element = defaultHandlers.code(state, { ...node, lang: language || null });
      const [code] = pre.children;
      if (code?.type === 'element') {
        if (node.value !== '') code.children = highlight(language, `${node.value}\n`);
        withPosition(node, code, fences);
      }
      return withPosition(node, pre, fences);
    },
    image(state: State, node: Image): Element {
      const { title, size } = sizedTitle(node.title);
      const made = defaultHandlers.image(state, { ...node, title });
      Object.assign(made.properties, size);
      const [, alt, width, height] = SIZED_ALT.exec(node.alt ?? '') ?? [];
      if (width !== undefined) Object.assign(made.properties, { alt, width, height });
      return made;
    },
    math: (_state: State, node: MathBlock): Element => withPosition(node, mathBlock(node.value), 1),
    inlineMath(_state: State, node: InlineMath): Element {
      return withPosition(node, mathCode(node.value, node.display ? 'math-display' : 'math-inline'));
    },
    paragraph(state: State, node: Paragraph): Element {
      const [only, ...others] = node.children;
      if (only?.type === 'inlineMath' && only.display && others.length === 0)
        return withPosition(only, mathBlock(only.value));
      if (only?.type === 'image' && sizedTitle(only.title).title && others.length === 0)
        return withPosition(node, figure(state, only));
      const definitions = definitionList(state, node);
      if (!definitions) return defaultHandlers.paragraph(state, node);
      return withPosition(node, { ...definitions, properties: { ...node.data?.hProperties } });
    },
    wikiLink: (_state: State, node: WikiLink): Element => withPosition(node, wikiLink(node, wiki)),
  };
}

/** Alternative text with the size of the picture after a bar, as in Obsidian: `The plan|300x200`. */
const SIZED_ALT = /^([^|]*)\|(\d{1,4})(?:x(\d{1,4}))?$/;

/** Splits the size off the end of a picture's title: `The plan =300x200`. */
function sizedTitle(written: Image['title']): { title: Image['title']; size: Element['properties'] } {
  const [end, width, height] = SIZED_TITLE.exec(written ?? '') ?? [];
  if (end === undefined || !(width || height)) return { title: written, size: {} };
  return {
    title: written?.slice(0, -end.length) || null,
    size: { ...(width && { width }), ...(height && { height }) },
  };
}

const SIZED_TITLE = /(?:^|(?<![ \t])[ \t]+)=(\d{0,4})x(\d{0,4})[ \t]*$/;

/** Gives the element the source position of the node; its content starts `lines` lines later. */
function withPosition({ position }: Node, made: Element, lines = 0): Element {
  if (position) {
    const start = lines === 0 ? position.start : { line: position.start.line + lines, column: 1 };
    made.position = { start, end: position.end };
  }
  return made;
}

function wikiLink({ target, heading, text: shown, isEmbed }: WikiLink, { page_path, findPage }: Wiki): Element {
  const embed = isEmbed ? ['embed'] : [];
  const fragment = heading === '' ? '' : `#${encodeURIComponent(anchorOfPlace(heading).toWellFormed())}`;
  if (target === '') return element('a', { className: ['wiki', ...embed], href: fragment }, [text(shown)]);
  const page = findPage(target);
  // A missing page gives an element without an address. The web application offers to create the page, and
  // withCurrentLinks makes it a link once the page exists.
  if (!page) {
    const dataFragment = fragment === '' ? undefined : fragment;
    const className = ['wiki', 'missing', ...embed];
    return element('a', { className, dataTarget: target, dataFragment }, [text(shown)]);
  }
  const href = relativeAddress(page_path, page.path) + fragment;
  return element('a', { className: ['wiki', ...embed], href }, [text(shown)]);
}

/** Returns the id of a heading, or of a block for `^id`. */
function anchorOfPlace(place: string): string {
  return place.startsWith('^') ? anchorOf(place) : headingAnchor(place);
}

/** Renders a picture that stands alone, with its title as a caption. */
function figure(state: State, image: Image): Element {
  const { title } = sizedTitle(image.title);
  const shown = state.one(image, undefined) as Element;
  delete shown.properties.title;
  return element('figure', {}, [shown, element('figcaption', {}, [text(title ?? '')])]);
}

function mathBlock(value: string): Element {
  return element('pre', { className: ['math'] }, [mathCode(value, 'math-display')]);
}

function mathCode(value: string, kind: 'math-inline' | 'math-display'): Element {
  return element('code', { className: ['language-math', kind] }, [text(value)]);
}

function element(tagName: string, properties: Element['properties'], children: ElementContent[]): Element {
  return { type: 'element', tagName, properties, children };
}

function text(value: string): ElementContent {
  return { type: 'text', value };
}
