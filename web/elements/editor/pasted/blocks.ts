import type { Element, Root } from 'hast';
import {
  classesOf,
  findElement,
  type HtmlNode,
  hasClass,
  isBlock,
  isElement,
  newElement,
  newText,
  rewrite,
  styleOf,
  textOf,
} from './hast.ts';

/** What is not text: nothing of these is kept. */
const DROPPED = new Set('button canvas head link meta noscript script style svg template title xml'.split(' '));

/** What is for those who use the page that was copied from. */
const HIDDEN =
  /(?:^|\s)(?:visually-hidden|sr-only|mw-editsection|example-header|ak-editor-panel__icon|zeroclipboard-container|markdown-alert-title)(?:\s|$)/;

/** Drops what is not shown: comments, scripts, styles, and what programs write for themselves. */
export function dropHidden() {
  return (tree: Root): void =>
    rewrite(tree, (node) => {
      if (node.type === 'comment' || node.type === 'doctype') return [];
      if (!isElement(node)) return [node];
      if (node.tagName === 'o:p') return textOf(node).trim() === '' ? [] : node.children;
      const isHidden = styleOf(node, 'display') === 'none' || styleOf(node, 'mso-hide') === 'all';
      return isHidden || DROPPED.has(node.tagName) || HIDDEN.test(classesOf(node)) ? [] : [node];
    });
}

/** The words of programs for the kinds of callouts. */
const KINDS: Record<string, string> = {
  tip: 'TIP',
  success: 'TIP',
  important: 'IMPORTANT',
  warning: 'WARNING',
  note: 'NOTE',
  caution: 'CAUTION',
  error: 'CAUTION',
};
/** Confluence's yellow macro is named `note`, and its red one `warning`. */
const MACRO_KINDS: Record<string, string> = { tip: 'TIP', note: 'WARNING', warning: 'CAUTION' };

/** What Confluence, GitHub, Notion and editors of code write for blocks that HTML has no elements for. */
export function readBlocks() {
  return (tree: Root): void =>
    rewrite(tree, (node) => {
      if (!isElement(node)) return [node];
      if (node.tagName === 'img') return picture(node);
      if (node.tagName === 'pre') return [codeBlock(linesOf(node), languageOf(node))];
      const pre = node.tagName === 'div' ? findElement(node, ({ tagName }) => tagName === 'pre') : undefined;
      if (pre) nameLanguage(pre, languageOf(node));
      if (node.tagName === 'div' && /^pre/.test(styleOf(node, 'white-space')) && isMonospaced(node)) {
        const code = linesOf(node).replace(/\n$/, '');
        return code.includes('\n') ? [codeBlock(code, '')] : [newElement('code', [newText(code)])];
      }
      const callout = calloutOf(node);
      if (callout) return [calloutElement(node, callout)];
      if (node.tagName === 'a' && String(node.properties.href).startsWith('https://camo.githubusercontent.com/'))
        return node.children;
      const { dataEmojiText, dataTaskState } = node.properties;
      if (dataEmojiText) return [newText(String(dataEmojiText))];
      if (dataTaskState) return [newElement('li', [checkbox(dataTaskState === 'DONE'), ...node.children])];
      if (node.properties.dataNodeType === 'actionList') return [newElement('ul', node.children)];
      if (hasClass(node, 'expand-control')) return [newElement('p', [newElement('strong', node.children)])];
      const level = Number(node.properties.ariaLevel);
      if (node.properties.role === 'heading' && level > 0) node.tagName = `h${Math.min(level, 6)}`;
      return [node];
    });
}

function calloutElement({ children }: Element, kind: string): Element {
  const title = children.find((node) => isElement(node) && node.tagName === 'p' && hasClass(node, 'title'));
  const others = children.filter((node) => node !== title);
  return newElement('ibid-callout', others, { kind, ...(title && { title: textOf(title).trim() }) });
}

function calloutOf(element: Element): string | undefined {
  const { dataPanelType } = element.properties;
  if (dataPanelType) return KINDS[String(dataPanelType)] ?? 'NOTE';
  if (element.tagName === 'aside' || (element.tagName === 'figure' && hasClass(element, 'callout'))) return 'NOTE';
  const [, alert] = /\bmarkdown-alert-(\w+)/.exec(classesOf(element)) ?? [];
  if (alert) return KINDS[alert] ?? 'NOTE';
  if (!hasClass(element, 'confluence-information-macro')) return undefined;
  const [, macro = ''] = /\bconfluence-information-macro-(\w+)/.exec(classesOf(element)) ?? [];
  return MACRO_KINDS[macro] ?? 'NOTE';
}

/** What Word adds to an alternative text. */
const MADE_UP = /(?:[.,]? Description automatically generated.*|[.,]? AI-generated content may be incorrect\.)$/;

/** A picture whose address only the program knows that copied it is its alternative text. */
function picture(image: Element): HtmlNode[] {
  const { src, alt, dataCanonicalSrc, dataEmojiFallback, ariaRoleDescription, width, height } = image.properties;
  if (String(ariaRoleDescription) === 'checkbox' || (Number(width) === 1 && Number(height) === 1)) return [];
  const words = String(dataEmojiFallback ?? alt ?? '')
    .replace(/\s+/g, ' ')
    .replace(MADE_UP, '');
  const isEmoji = dataEmojiFallback !== undefined || hasClass(image, 'emoji');
  const address = String(dataCanonicalSrc ?? src ?? '');
  if (isEmoji || address === '' || /^(?!https?:)[a-z][a-z\d+.-]*:/i.test(address)) return [newText(words)];
  image.properties = { src: address, alt: words };
  return [image];
}

export const checkbox = (isChecked: boolean) => newElement('input', [], { type: 'checkbox', checked: isChecked });

export function isMonospaced(element: Element): boolean {
  return /courier|consolas|menlo|monaco|mono(?!type)/.test(styleOf(element, 'font-family'));
}

export function codeBlock(code: string, language: string): Element {
  const className = language === '' ? [] : [`language-${language}`];
  return newElement('pre', [newElement('code', [newText(code.replaceAll('\u00a0', ' '))], { className })]);
}

function nameLanguage(pre: Element, language: string): void {
  const code = pre.children[0];
  if (isElement(code) && language !== '' && !classesOf(code).includes('language-'))
    code.properties.className = [`language-${language}`];
}

function languageOf(element: Element): string {
  const inner = element.tagName === 'pre' ? findElement(element, ({ tagName }) => tagName === 'code') : undefined;
  const params = String(element.properties.dataSyntaxhighlighterParams ?? element.properties.dataLanguage ?? '');
  const said = `${classesOf(element)} ${inner ? classesOf(inner) : ''} ${params}`;
  const [, language = ''] =
    /(?:\blanguage-|\blang-|\bhighlight-(?:source|text)-|\bbrush: ?)([\w+#-]+)/.exec(said) ?? [];
  return { shell: 'sh', js: 'js', ts: 'ts', 'html-basic': 'html', plain: '', none: '' }[language] ?? language;
}

/** The text of code, whose lines may be elements. */
function linesOf(element: Element): string {
  let text = '';
  for (const node of element.children) {
    if (node.type === 'text') text += node.value;
    else if (!isElement(node)) continue;
    else if (node.tagName === 'br') text += '\n';
    else if (isBlock(node)) {
      if (text !== '' && !text.endsWith('\n')) text += '\n';
      const inner = linesOf(node);
      text += inner.endsWith('\n') ? inner : `${inner}\n`;
    } else text += linesOf(node);
  }
  return text;
}
