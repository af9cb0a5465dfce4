import { type AbstractBlock, Html5Converter, type Inline } from '@asciidoctor/core';

/**
 * Makes the HTML that the HTML reader expects, where Asciidoctor's own differs: formulas, footnotes, and notes without
 * a table.
 */
export class PageConverter extends Html5Converter {
  override async convert_stem(node: AbstractBlock): Promise<string> {
    return formula(String(await node.content()), node.style === 'latexmath', true);
  }

  override async convert_inline_quoted(node: Inline): Promise<string> {
    if (node.type !== 'latexmath' && node.type !== 'asciimath') return super.convert_inline_quoted(node);
    return formula(node.text ?? '', node.type === 'latexmath', false);
  }

  override async convert_inline_footnote(node: Inline): Promise<string> {
    const index = node.getAttribute('index');
    if (!index) return super.convert_inline_footnote(node);
    return `<a class="footnote-ref" href="#_footnotedef_${index}">${index}</a>`;
  }

  override async convert_admonition(node: AbstractBlock): Promise<string> {
    const title = node.hasTitle() ? `<p><strong>${node.title}</strong></p>` : '';
    const content = String(await node.content());
    const text = content.startsWith('<') ? content : `<p>${content}</p>`;
    return `<blockquote><p><strong>${node.getAttribute('textlabel')}</strong></p>${title}${text}</blockquote>`;
  }
}

/** Only TeX becomes a formula in Markdown; AsciiMath is shown as code. */
function formula(text: string, isTex: boolean, isBlock: boolean): string {
  const tag = isBlock ? 'div' : 'span';
  if (!isTex) return isBlock ? `<pre><code>${text}</code></pre>` : `<code>${text}</code>`;
  return `<${tag} class="math">${isBlock ? `\\[${text}\\]` : `\\(${text}\\)`}</${tag}>`;
}
