import type { ExtractedDocument } from '../extracted.ts';
import { countCharacters } from '../losses.ts';
import type { ZipEntry } from '../zip/zip.ts';
import { asDocument, escaped, tableOf } from './as-document.ts';
import { needed, type OfficePackage, openOffice, type Relation, titleIn } from './office-package.ts';
import { childOf, childrenOf, findAll, textOf, type XmlNode } from './xml-nodes.ts';

const TYPE = 'application/vnd.openxmlformats-officedocument.presentationml.presentation';

/** Types of placeholders that repeat on every slide. */
const REPEATED = new Set(['dt', 'ftr', 'sldNum', 'hdr']);

interface Slide {
  name: string;
  relations: Map<string, Relation>;
}

/**
 * Reads a PowerPoint presentation: each slide as a heading with its texts, lists, tables and pictures, and its notes as
 * a quotation. Comments, hidden slides, equations, charts and diagrams are listed as losses. Throws an ExtractError if
 * the file is damaged.
 */
export function readPptx(entries: readonly ZipEntry[]): ExtractedDocument {
  const office = openOffice(entries);
  const presentation = needed(office.read('ppt/presentation.xml'));
  const relations = office.relationsOf('ppt/presentation.xml');
  const slides = findAll(presentation, 'sldId').flatMap((slide): string[] => {
    const target = relations.get(slide.attributes['r:id'] ?? '')?.target;
    return target === undefined ? [] : [target];
  });
  let file_characters = 0;
  const parts = slides.flatMap((name, i): string[] => {
    const slide = office.read(name);
    if (!slide) return [];
    const root = needed(slide);
    const own = { name, relations: office.relationsOf(name) };
    const notes = notesOf(own, office);
    const words = wordsIn(root);
    file_characters += countCharacters(words) + countCharacters(notes.words);
    for (const { type, target } of own.relations.values()) if (/^comments?$/i.test(type)) addComments(office, target);
    if (root.attributes.show === '0' || root.attributes.show === 'false') {
      office.losses.add('hidden_text', words + notes.words);
      return [];
    }
    return [slideHtml(root, own, i + 1, office), notes.html];
  });
  const title = titleIn(office.read('docProps/core.xml'));
  // Ignore the default titles of presentation programs.
  const ownTitle = /^(?:power ?point.*|presentation|präsentation|untitled)\d*$/i.test(title) ? '' : title;
  return asDocument(
    { kind: 'pptx', content_type: TYPE, html: parts.join('\n'), title: ownTitle, file_characters },
    office,
  );
}

function wordsIn(node: XmlNode): string {
  return findAll(node, 't').map(textOf).join(' ');
}

function slideHtml(slide: XmlNode, own: Slide, number: number, office: OfficePackage): string {
  const shapes = shapesIn(childOf(slide, 'cSld', 'spTree'));
  // A placeholder without a type accepts any content.
  const placeholder = (shape: XmlNode) => findAll(shape, 'ph').map(({ attributes }) => attributes.type ?? 'obj')[0];
  const isTitle = (shape: XmlNode) =>
    /^(?:title|ctrTitle)$/.test(placeholder(shape) ?? '') && wordsIn(shape).trim() !== '';
  for (const equation of findAll(slide, 'oMath')) office.losses.add('equation', textOf(equation));
  const title = shapes.find(isTitle);
  const words = title
    ? childrenOf(childOf(title, 'txBody'), 'p')
        .map((each) => paragraph(each, own))
        .join(' ')
        .replaceAll('<br>', ' ')
    : `Slide ${number}`;
  const content = shapes.flatMap((shape): string[] => {
    if (shape === title) return [];
    if (REPEATED.has(placeholder(shape) ?? '')) {
      if (wordsIn(shape).trim() !== '') office.losses.sum('repeated_line', wordsIn(shape));
      return [];
    }
    return [shapeHtml(shape, own, office, placeholder(shape))];
  });
  return `<h2>${words}</h2>${content.join('')}`;
}

/** Returns the shapes in document order, with groups flattened. */
function shapesIn(tree: XmlNode | undefined): XmlNode[] {
  return childrenOf(tree).flatMap((child) => {
    if (child.name === 'grpSp') return shapesIn(child);
    if (child.name === 'AlternateContent') return shapesIn(childOf(child, 'Choice') ?? childOf(child, 'Fallback'));
    return /^(?:sp|pic|graphicFrame|cxnSp)$/.test(child.name) ? [child] : [];
  });
}

function shapeHtml(shape: XmlNode, own: Slide, office: OfficePackage, placeholder: string | undefined): string {
  const description = findAll(shape, 'cNvPr')[0]?.attributes;
  const alternative = description?.descr ?? '';
  if (shape.name === 'pic') {
    const relation = own.relations.get(findAll(shape, 'blip')[0]?.attributes['r:embed'] ?? '');
    const address = relation ? office.pictureAt(relation.target, alternative) : '';
    return address === '' ? '' : `<p><img src="${address}" alt="${escaped(alternative)}"></p>`;
  }
  const [table] = findAll(shape, 'tbl');
  if (table) {
    const rows = childrenOf(table, 'tr').map((row) =>
      childrenOf(row, 'tc').map((cell) =>
        childrenOf(childOf(cell, 'txBody'), 'p')
          .map((each) => paragraph(each, own))
          .filter(Boolean)
          .join('<br>'),
      ),
    );
    return tableOf(rows);
  }
  if (shape.name === 'graphicFrame') {
    office.losses.addThing('embedded_object', alternative || description?.name || '');
    return '';
  }
  return paragraphs(childrenOf(childOf(shape, 'txBody'), 'p'), own, placeholder);
}

/**
 * Renders the paragraphs of a shape. Paragraphs with bullets, and several paragraphs in the body of a slide, become
 * list items.
 */
function paragraphs(all: readonly XmlNode[], own: Slide, placeholder: string | undefined): string {
  const filled = all.filter((each) => paragraph(each, own) !== '');
  const isBody = placeholder === 'body' || placeholder === 'obj';
  const isItem = (each: XmlNode) => {
    const properties = childOf(each, 'pPr');
    if (childOf(properties, 'buNone')) return false;
    if (childOf(properties, 'buChar') || childOf(properties, 'buAutoNum')) return true;
    return isBody && filled.length > 1;
  };
  let html = '';
  let open: string[] = [];
  const closeTo = (depth: number) => {
    while (open.length > depth) html += `</li></${open.pop()}>`;
  };
  for (const each of filled) {
    if (!isItem(each)) {
      closeTo(0);
      html += `<p>${paragraph(each, own)}</p>`;
      continue;
    }
    const properties = childOf(each, 'pPr');
    const depth = Math.min(Number(properties?.attributes.lvl ?? 0) || 0, open.length) + 1;
    const kind = childOf(properties, 'buAutoNum') ? 'ol' : 'ul';
    closeTo(depth);
    if (open.length === depth && open.at(-1) !== kind) closeTo(depth - 1);
    if (open.length === depth) html += '</li><li>';
    else {
      html += `<${kind}><li>`;
      open = [...open, kind];
    }
    html += paragraph(each, own);
  }
  closeTo(0);
  return html;
}

/** Renders the runs of a paragraph with links, bold and italic type. */
function paragraph(node: XmlNode, own: Slide): string {
  const html = childrenOf(node).flatMap((run): string[] => {
    if (run.name === 'br') return ['<br>'];
    if (run.name !== 'r' && run.name !== 'fld') return [];
    const properties = childOf(run, 'rPr');
    let words = escaped(textOf(childOf(run, 't')));
    if (words.trim() === '') return [words];
    const { b, i, baseline } = properties?.attributes ?? {};
    if (Number(baseline) > 0) words = `<sup>${words}</sup>`;
    else if (Number(baseline) < 0) words = `<sub>${words}</sub>`;
    if (i === '1' || i === 'true') words = `<em>${words}</em>`;
    if (b === '1' || b === 'true') words = `<strong>${words}</strong>`;
    const link = own.relations.get(childOf(properties, 'hlinkClick')?.attributes['r:id'] ?? '');
    return [link?.isExternal ? `<a href="${escaped(link.target)}">${words}</a>` : words];
  });
  const isSpace = (piece: string) => piece === '<br>' || piece.trim() === '';
  const first = html.findIndex((piece) => !isSpace(piece));
  const last = html.findLastIndex((piece) => !isSpace(piece));
  return html
    .slice(Math.max(0, first), last + 1)
    .join('')
    .trim();
}

function notesOf({ relations }: Slide, office: OfficePackage): { html: string; words: string } {
  const relation = [...relations.values()].find(({ type }) => type === 'notesSlide');
  const notes = relation && office.read(relation.target);
  if (!relation || !notes) return { html: '', words: '' };
  const own = { name: relation.target, relations: office.relationsOf(relation.target) };
  const body = findAll(notes, 'sp').filter((shape) => findAll(shape, 'ph')[0]?.attributes.type === 'body');
  const html = body.map((shape) => paragraphs(childrenOf(childOf(shape, 'txBody'), 'p'), own, undefined)).join('');
  return {
    html: html === '' ? '' : `<blockquote><p>Notes:</p>${html}</blockquote>`,
    words: body.map(wordsIn).join(' '),
  };
}

function addComments(office: OfficePackage, part: string): void {
  const comments = office.read(part);
  for (const comment of findAll(comments, 'cm')) {
    const words = findAll(comment, 'text', 't').map(textOf).join(' ');
    if (words.trim() !== '') office.losses.add('comment', words);
  }
}
