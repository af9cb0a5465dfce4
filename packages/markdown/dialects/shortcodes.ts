/** A shortcode of Hugo that is alone in its line: `{{% note "Title" %}}`, `{{< hint info >}}`, `{{< /hint >}}`. */
const SHORTCODE = /^([ \t]*)\{\{([<%])[ \t]*(\/?)[ \t]*([a-z][\w-]*)((?:[ \t][^{}\n]*?)?)[ \t]*([>%])\}\}[ \t]*$/i;

/** The names that themes have for boxes, whose kind is an argument: Book, Docsy, Relearn, Hextra and others. */
const BOXES = new Set(['admonition', 'alert', 'callout', 'hint', 'notice']);

export interface Shortcode {
  indent: string;
  /** What ends it; the same for the line that does. */
  name: string;
  isEnd: boolean;
  /** Of a box, the word that says what it is. */
  word: string;
  title: string;
}

/** A longer line is a text; the pattern takes the square of the length of one of spaces. */
const LINE_MAX = 500;

/** The shortcode that a line is; undefined for other lines. */
export function shortcodeOf(line: string, isBox: (word: string) => boolean): Shortcode | undefined {
  if (line.length > LINE_MAX) return undefined;
  const [, indent = '', open, slash = '', written = '', rest = '', close] = SHORTCODE.exec(line) ?? [];
  // One that ends itself has no content.
  if (written === '' || (open === '%') !== (close === '%') || rest.endsWith('/')) return undefined;
  const name = written.toLowerCase();
  const named = Object.fromEntries(
    [...rest.matchAll(/([a-z]+)=(?:"([^"]*)"|(\S+))/gi)].map(([, key = '', a, b]) => [key.toLowerCase(), a ?? b ?? '']),
  );
  const [first = '', ...others] = [...rest.replace(/[a-z]+=(?:"[^"]*"|\S+)/gi, '').matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, a, b]) => a ?? b ?? '',
  );
  if (!BOXES.has(name)) return { indent, name, isEnd: slash !== '', word: name, title: named.title ?? first };
  const kinds = [first, named.type, named.style, named.color, named.context, name].map((kind) =>
    (kind ?? '').toLowerCase(),
  );
  const word = kinds.find((kind) => isBox(kind)) ?? 'note';
  const title = named.title ?? (word === first.toLowerCase() ? (others[0] ?? '') : first);
  return { indent, name, isEnd: slash !== '', word, title };
}
