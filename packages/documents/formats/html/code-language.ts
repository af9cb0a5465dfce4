import type { Element, Nodes } from 'hast';

/**
 * Returns the language of a code block, "" if none is named. Reads `language-js` and `lang-js` of HTML, `data-lang`,
 * the brush of SyntaxHighlighter (Confluence), the class of highlight.js, and the wrappers of Sphinx
 * (`highlight-python`) and GitHub (`highlight-source-js`).
 */
export function codeLanguage(pre: Element, frame: Nodes | undefined): string {
  const inner = pre.children.filter((child) => child.type === 'element' && child.tagName === 'code') as Element[];
  for (const element of [...inner, pre, ...(frame?.type === 'element' ? [frame] : [])]) {
    const { dataLang, dataLanguage, dataSyntaxhighlighterParams } = element.properties;
    const classes = [element.properties.className ?? []].flat().map(String);
    const named =
      String(dataLanguage ?? dataLang ?? '') ||
      (BRUSH.exec(`${dataSyntaxhighlighterParams ?? ''} ${classes.join(' ')}`)?.[1] ?? '') ||
      (classes.map((name) => CLASS.exec(name)?.[1] ?? '').find(Boolean) ?? '') ||
      (classes.includes('hljs') ? (classes.find((name) => name !== 'hljs') ?? '') : '');
    if (LANGUAGE.test(named)) return NO_LANGUAGE.has(named) ? '' : named;
  }
  return '';
}

const BRUSH = /(?:^|[\s;])brush:\s?([\w#+-]{1,30})/;
const CLASS = /^(?:lang(?:uage)?|highlight(?:-source)?)-([\w#+-]{1,30})$/;
const LANGUAGE = /^[\w#+-]{1,30}$/;
const NO_LANGUAGE = new Set(['default', 'none', 'plain', 'text', 'plaintext', 'nohighlight']);
