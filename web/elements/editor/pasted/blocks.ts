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

/** Elements without text, which are dropped with their content. */
const DROPPED = new Set('button canvas head link meta noscript script style svg template title xml'.split(' '));

/** Classes of elements that only serve readers of the original page. */
const HIDDEN =
  /(?:^|\s)(?:visually-hidden|sr-only|mw-editsection|example-header|ak-editor-panel__icon|zeroclipboard-container|markdown-alert-title|katex-html|mwe-math-fallback-image-\w+|heading-anchor-wrapper)(?:\s|$)/;

/** Drops content that is not displayed: comments, scripts, styles, and data that programs store for themselves. */
export function dropHidden() {
  return (tree: Root): void =>
    rewrite(tree, (node) => {
      if (node.type === 'comment' || node.type === 'doctype') return [];
      if (!isElement(node)) return [node];
      // PDF.js ends each line of a page with this element.
      if (node.tagName === 'br' && node.properties.role === 'presentation') return [newText(' ')];
      if (node.tagName === 'o:p') return textOf(node).trim() === '' ? [] : node.children;
      const formula = formulaOf(node);
      if (formula) return [formula];
      const isHidden = styleOf(node, 'display') === 'none' || styleOf(node, 'mso-hide') === 'all';
      if (isHidden || DROPPED.has(node.tagName) || HIDDEN.test(classesOf(node)))
        // A page may hide a formula and show a picture of it, so keep the formula.
        return node.children.filter((child) => isElement(child) && child.tagName === 'ibid-formula');
      // The markers of Google's comments, which are not copied with the text.
      return node.tagName === 'a' && /^#cmnt/.test(String(node.properties.href)) ? [] : [node];
    });
}

/** Returns a formula if its TeX source accompanies its MathML, as in KaTeX and on Wikipedia. */
function formulaOf(math: Element): Element | undefined {
  if (math.tagName !== 'math') return undefined;
  const source = findElement(math, ({ properties }) => properties.encoding === 'application/x-tex');
  if (!source) return undefined;
  const tex = textOf(source).trim();
  const [, inner = tex] = /^\{\\displaystyle\s*([\s\S]*)\}$/.exec(tex) ?? [];
  return newElement('ibid-formula', [newText(inner)], { isBlock: math.properties.display === 'block' });
}

/** Names of callout kinds in other programs. */
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

/** Converts blocks of Confluence, GitHub, Notion and code editors that HTML has no elements for. */
export function readBlocks() {
  return (tree: Root): void =>
    rewrite(tree, (node) => {
      if (!isElement(node)) return [node];
      if (node.tagName === 'img') return picture(node);
      if (node.tagName === 'pre' && hasClass(node, 'moz-quote-pre')) return [plainText(node)];
      if (node.tagName === 'pre' || node.tagName === 'codeblock') return [preformatted(node)];
      if (node.tagName === 'code' && /\n./.test(textOf(node)) && /^pre/.test(styleOf(node, 'white-space')))
        return [codeBlock(linesOf(node), languageOf(node))];
      const numbered = node.tagName === 'table' ? numberedLines(node) : undefined;
      if (numbered !== undefined) return [codeBlock(numbered, '')];
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

/** Converts a `pre` and drops other content next to its code, such as a button that copies it. */
function preformatted(pre: Element): Element {
  const code = findElement(pre, ({ tagName }) => tagName === 'code');
  const language = languageOf(pre) || (pre.tagName === 'codeblock' ? classesOf(pre).toLowerCase() : '');
  return codeBlock(linesOf(code ?? pre), language);
}

/** Converts the plain text of a mail and keeps its lines. */
function plainText(pre: Element): Element {
  const lines = linesOf(pre).trimEnd().split('\n');
  return newElement(
    'p',
    lines.flatMap((line, i) => [...(i > 0 ? [newElement('br')] : []), newText(line)]),
  );
}

/** Returns the code of a table with a cell for the number of each line. */
function numberedLines(table: Element): string | undefined {
  const lines: string[] = [];
  const visit = (row: Element): void => {
    for (const child of row.children.filter(isElement)) {
      if (child.tagName !== 'td' || child.properties.dataLineNumber === undefined) visit(child);
      else
        lines.push(
          row.children
            .filter((cell) => isElement(cell) && cell !== child)
            .map(textOf)
            .join(''),
        );
    }
  };
  visit(table);
  return lines.length > 0 ? lines.map((line) => line.replace(/\n$/, '')).join('\n') : undefined;
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

/** Text that Word appends to an alternative text. */
const MADE_UP = /(?:[.,]? Description automatically generated.*|[.,]? AI-generated content may be incorrect\.)$/;

/** Replaces a picture with its alternative text if only the source program can load its address. */
function picture(image: Element): HtmlNode[] {
  const { src, alt, dataCanonicalSrc, dataEmojiFallback, dataStringifyEmoji, ariaRoleDescription, width, height } =
    image.properties;
  if (String(ariaRoleDescription) === 'checkbox' || (Number(width) === 1 && Number(height) === 1)) return [];
  const words = String(dataEmojiFallback ?? alt ?? '')
    .replace(/\s+/g, ' ')
    .replace(MADE_UP, '');
  const isEmoji =
    dataEmojiFallback !== undefined ||
    dataStringifyEmoji !== undefined ||
    hasClass(image, 'emoji') ||
    /^\p{Extended_Pictographic}[\p{Extended_Pictographic}\p{M}\u200d]*$/u.test(words);
  const address = String(dataCanonicalSrc ?? src ?? '');
  if (isEmoji || address === '' || /^(?!https?:)[a-z][a-z\d+.-]*:/i.test(address)) return [newText(words)];
  image.properties = { src: address, alt: words };
  return [image];
}

export const checkbox = (isChecked: boolean) => newElement('input', [], { type: 'checkbox', checked: isChecked });

export function isMonospaced(element: Element): boolean {
  const font = styleOf(element, 'font-family') || String(element.properties.face ?? '').toLowerCase();
  return /courier|consolas|menlo|monaco|mono(?!type)/.test(font);
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

/** Returns the text of code, whose lines may be elements. */
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
