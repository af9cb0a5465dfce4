/** A Hugo shortcode alone in its line: `{{% note "Title" %}}`, `{{< hint info >}}`, `{{< /hint >}}`. */
const SHORTCODE = /^([ \t]*)\{\{([<%])[ \t]*(\/?)[ \t]*([a-z][\w-]*)((?:[ \t][^{}\n]*?)?)[ \t]*([>%])\}\}[ \t]*$/i;

/** Shortcodes of themes (Book, Docsy, Relearn, Hextra and others) whose argument is the kind of box. */
const BOXES = new Set(['admonition', 'alert', 'callout', 'hint', 'notice']);

export interface Shortcode {
  indent: string;
  /** The name that the opening and the closing shortcode share. */
  name: string;
  isEnd: boolean;
  /** The kind of a box. */
  word: string;
  title: string;
}

/** Longer lines are treated as text: on a line of spaces, the pattern takes quadratic time. */
const LINE_MAX = 500;

/** Parses a line that is a shortcode. Returns undefined for other lines. */
export function shortcodeOf(line: string, isBox: (word: string) => boolean): Shortcode | undefined {
  if (line.length > LINE_MAX) return undefined;
  const [, indent = '', open, slash = '', written = '', rest = '', close] = SHORTCODE.exec(line) ?? [];
  // A self-closing shortcode has no content.
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
