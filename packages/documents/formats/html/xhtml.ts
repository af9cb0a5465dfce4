const EMPTY_ELEMENT = /<([a-z][\w:.-]*)((?:\s+[^\s<>"'=/]+(?:\s*=\s*(?:"[^"<]*"|'[^'<]*'))?)*)\s*\/>/gi;
const VOID = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));

/** Rewrites XHTML for an HTML parser: empty elements get end tags, and MathML loses its prefix. */
export function asHtml(xhtml: string): string {
  const prefix = /\sxmlns:([a-z]\w{0,20})\s*=\s*["']http:\/\/www\.w3\.org\/1998\/Math\/MathML["']/i.exec(xhtml)?.[1];
  const plain = prefix === undefined ? xhtml : xhtml.replace(new RegExp(`<(/?)${prefix}:`, 'g'), '<$1');
  return plain.replace(EMPTY_ELEMENT, (tag, name: string, attributes: string) =>
    VOID.has(name.toLowerCase()) ? tag : `<${name}${attributes}></${name}>`,
  );
}

/** Whether a file declares XHTML at its beginning, as output of DocBook tools does even in .html files. */
export function isXhtml(html: string): boolean {
  return /^\ufeff?\s*(?:<\?xml\s|<!DOCTYPE\s+html\s+PUBLIC\s+["'][^"'<>]{0,80}\bXHTML\b)/i.test(html.slice(0, 1_000));
}
