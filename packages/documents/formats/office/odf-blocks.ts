import { countCharacters } from '../losses.ts';
import { escaped } from './as-document.ts';
import type { OdfStyles } from './odf-styles.ts';
import type { OfficePackage } from './office-package.ts';
import { childOf, childrenOf, findAll, textOf, type XmlNode } from './xml-nodes.ts';

/** Elements that only wrap text. */
const CONTAINERS =
  /^(?:section|index-body|index-title|text-box|table-of-content|alphabetical-index|illustration-index|bibliography|g|a|numbered-paragraph|list-header)$/;

/** Elements without content: declarations, and marks for programs. */
const IGNORED =
  /^(?:sequence-decls|variable-decls|user-field-decls|forms|soft-page-break|.*-source|index-title-template|bookmark.*|reference-mark.*|change.*|shapes)$/;

/** The limit of repeated spaces in one element. */
const SPACES_MAX = 200;

/** Reads the blocks of an OpenDocument text or slide as HTML and lists omitted content as losses. */
export class OdfBlocks {
  /** The words of the paragraph with the title style; "" without one. */
  title = '';
  /** Characters of the file that are neither text nor a loss: note marks, descriptions, names of authors. */
  uncounted = 0;
  readonly #styles: OdfStyles;
  readonly #office: OfficePackage;
  readonly #notes: string[] = [];

  constructor(styles: OdfStyles, office: OfficePackage) {
    this.#styles = styles;
    this.#office = office;
  }

  read(node: XmlNode | undefined): string {
    return childrenOf(node)
      .map((child) => this.#block(child))
      .join('');
  }

  notes(): string {
    return this.#notes.length === 0 ? '' : `<ol>${this.#notes.join('')}</ol>`;
  }

  #block(node: XmlNode): string {
    const { name, attributes } = node;
    if (name === 'p' || name === 'h') return this.#paragraph(node);
    if (name === 'list') return this.#list(node, attributes['style-name'] ?? '', 1);
    if (name === 'table') return this.#table(node);
    if (name === 'frame' || name === 'custom-shape') return this.frame(node);
    if (name === 'tracked-changes') {
      for (const deletion of findAll(node, 'deletion')) {
        const words = findAll(deletion, 'p', 'h').map(textOf).join(' ');
        if (words.trim() !== '') this.#office.losses.add('tracked_change', words);
      }
      // Author and date of the change.
      for (const about of findAll(node, 'change-info')) this.uncounted += countCharacters(textOf(about));
      return '';
    }
    if (IGNORED.test(name)) {
      this.uncounted += countCharacters(textOf(node));
      return '';
    }
    return CONTAINERS.test(name) ? this.read(node) : this.#inline(node);
  }

  #paragraph(node: XmlNode): string {
    const style = node.attributes['style-name'] ?? '';
    const framed = findAll(node, 'frame', 'custom-shape').filter(
      (each) => findAll(each, 'text-box', 'table').length > 0,
    );
    const html = this.#inline(node);
    const boxes = framed.map((each) => this.frame(each)).join('');
    if (html.trim() === '') return boxes;
    if (this.title === '' && this.#styles.isOf(style, /^Title$/)) this.title = textOf(node).replace(/\s+/g, ' ').trim();
    const level = node.name === 'h' ? Number(node.attributes['outline-level'] ?? 1) : this.#styles.levelOf(style);
    if (this.#styles.isOf(style, /^Title$/)) return `<h1>${html}</h1>${boxes}`;
    if (level !== undefined)
      return `<h${Math.min(6, Math.max(1, level))}>${html}</h${Math.min(6, Math.max(1, level))}>${boxes}`;
    if (this.#styles.isOf(style, /^Preformatted/)) return `<pre>${html.replaceAll('<br>', '\n')}</pre>${boxes}`;
    if (this.#styles.isOf(style, /^Quotations$/)) return `<blockquote><p>${html}</p></blockquote>${boxes}`;
    return `<p>${html}</p>${boxes}`;
  }

  #list(node: XmlNode, style: string, level: number): string {
    const kind = this.#styles.isOrdered(style, level) ? 'ol' : 'ul';
    const items = childrenOf(node).map((item) => {
      const content = childrenOf(item).map((each) =>
        each.name === 'list' ? this.#list(each, each.attributes['style-name'] ?? style, level + 1) : this.#block(each),
      );
      return item.name === 'list-item' ? `<li>${withoutParagraph(content.join(''))}</li>` : content.join('');
    });
    const start = Number(childrenOf(node, 'list-item')[0]?.attributes['start-value'] ?? 1);
    // A heading may be in a list to get its number.
    if (items.length === 1 && /^<li><h\d>/.test(items[0] ?? '')) return (items[0] ?? '').slice(4, -5);
    return `<${kind}${kind === 'ol' && start > 1 ? ` start="${start}"` : ''}>${items.join('')}</${kind}>`;
  }

  #table(node: XmlNode): string {
    const rows = findAll(node, 'table-row').map((row) => {
      const cells = childrenOf(row, 'table-cell').map((cell) => {
        const { 'number-columns-spanned': columns = '1', 'number-rows-spanned': lines = '1' } = cell.attributes;
        const spans = `${Number(columns) > 1 ? ` colspan="${Number(columns)}"` : ''}${Number(lines) > 1 ? ` rowspan="${Number(lines)}"` : ''}`;
        return `<td${spans}>${this.read(cell)}</td>`;
      });
      return `<tr>${cells.join('')}</tr>`;
    });
    return `<table>${rows.join('')}</table>`;
  }

  /** Reads a frame with a picture, a text box or a table. */
  frame(node: XmlNode): string {
    const alternative = textOf(childOf(node, 'desc')) || textOf(childOf(node, 'title'));
    this.uncounted += countCharacters(textOf(childOf(node, 'desc')) + textOf(childOf(node, 'title')));
    const box = childOf(node, 'text-box') ?? (node.name === 'custom-shape' ? node : undefined);
    if (box) return this.read(box);
    const [inTable] = findAll(node, 'table');
    if (inTable) return this.#table(inTable);
    const object = childOf(node, 'object') ?? childOf(node, 'object-ole');
    if (object) {
      this.#office.losses.addThing('embedded_object', alternative || (node.attributes.name ?? ''));
      return '';
    }
    const href = childOf(node, 'image')?.attributes.href ?? '';
    if (href === '') return '';
    const address = this.#office.pictureAt(href.replace(/^\.\//, ''), alternative);
    return address === '' ? '' : `<img src="${address}" alt="${escaped(alternative)}">`;
  }

  /** Reads the words of a paragraph with their marks. Frames that contain blocks are left to `#paragraph`. */
  #inline(node: XmlNode): string {
    return node.children
      .map((child) => {
        if (typeof child === 'string') return escaped(child.replace(/\s+/g, ' '));
        return this.#inlineElement(child);
      })
      .join('');
  }

  #inlineElement(node: XmlNode): string {
    const { name, attributes } = node;
    if (name === 's') return ' '.repeat(Math.min(SPACES_MAX, Number(attributes.c ?? 1) || 1));
    if (name === 'tab') return ' ';
    if (name === 'line-break') return '<br>';
    if (name === 'frame' || name === 'custom-shape')
      return findAll(node, 'text-box', 'table').length > 0 ? '' : this.frame(node);
    if (name === 'note') return this.#note(node);
    if (name === 'annotation') {
      const words = findAll(node, 'p').map(textOf).join(' ');
      this.#office.losses.add('comment', words);
      this.uncounted += countCharacters(textOf(node)) - countCharacters(words);
      return '';
    }
    if (name === 'hidden-text' || name === 'hidden-paragraph') {
      this.#office.losses.add('hidden_text', textOf(node) || (attributes['string-value'] ?? ''));
      return '';
    }
    // Ruby readings follow their words in brackets.
    if (name === 'ruby')
      return `${this.#inline(childOf(node, 'ruby-base') ?? node)} (${this.#inline(childOf(node, 'ruby-text') ?? node)})`;
    if (IGNORED.test(name)) {
      this.uncounted += countCharacters(textOf(node));
      return '';
    }
    const words = this.#inline(node);
    if (name === 'a' && /^(?:https?|mailto):/i.test(attributes.href ?? ''))
      return `<a href="${escaped(attributes.href ?? '')}">${words}</a>`;
    if (name !== 'span' || words.trim() === '') return words;
    return this.#styles
      .marksOf(attributes['style-name'] ?? '')
      .reduce((inner, mark) => `<${mark}>${inner}</${mark}>`, words);
  }

  #note(node: XmlNode): string {
    this.uncounted += countCharacters(textOf(childOf(node, 'note-citation')));
    const number = this.#notes.length + 1;
    this.#notes.push('');
    this.#notes[number - 1] =
      `<li id="footnote-${number}">${this.read(childOf(node, 'note-body'))} <a href="#footnote-ref-${number}">↑</a></li>`;
    return `<sup><a href="#footnote-${number}" id="footnote-ref-${number}">[${number}]</a></sup>`;
  }
}

/** Unwraps the paragraph of an item if it is the only one; otherwise Markdown would make a loose list. */
function withoutParagraph(html: string): string {
  return html.split('<p>').length === 2 || /^<p>(?:(?!<p>).)*<\/p><[ou]l/s.test(html)
    ? html.replace(/^<p>(.*?)<\/p>/s, '$1')
    : html;
}
