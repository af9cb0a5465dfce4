/** How much of a file is read for its weight, in bytes. */
export const WEIGHT_BYTES = 4_096;

/** Behind blank lines, too, as Hugo reads it. */
const FRONT_MATTER = /^\ufeff?(?:[ \t]*\n)*(?:---|\+\+\+)[ \t]*\n(?:([\s\S]*?)\n)?(?:---|\+\+\+)[ \t]*(?:\n|$)/;

/** Docusaurus, Hugo, just-the-docs (Jekyll). */
const FIELDS = ['sidebar_position', 'weight', 'nav_order'].map(
  (name) => new RegExp(String.raw`^${name}[ \t]*[:=][ \t]*["']?(-?\d{1,12}(?:\.\d{1,6})?)["']?[ \t]*(?:#.*)?$`, 'm'),
);

/**
 * Where a page stands among those beside it, by the front matter at the beginning of its text: small ones first; undefined
 * if it does not say. Only a line of its own at the top level counts, so no YAML is parsed.
 */
export function pageWeight(beginning: string): number | undefined {
  const [, fields = ''] = FRONT_MATTER.exec(beginning.replace(/\r\n?/g, '\n')) ?? [];
  // TOML: what follows belongs to a table.
  const [top = ''] = fields.split(/^\[/m, 1);
  for (const field of FIELDS) {
    const [, value] = field.exec(top) ?? [];
    // To Hugo a weight of 0 is none.
    if (value !== undefined && !(Number(value) === 0 && field === FIELDS[1])) return Number(value);
  }
  return undefined;
}
