/** Bytes of a file that are read for its weight. */
export const WEIGHT_BYTES = 4_096;

/** Blank lines may precede it, as in Hugo. */
const FRONT_MATTER = /^\ufeff?(?:[ \t]*\n)*(?:---|\+\+\+)[ \t]*\n(?:([\s\S]*?)\n)?(?:---|\+\+\+)[ \t]*(?:\n|$)/;

/** Docusaurus, Hugo, just-the-docs (Jekyll). */
const FIELDS = ['sidebar_position', 'weight', 'nav_order'].map(
  (name) => new RegExp(String.raw`^${name}[ \t]*[:=][ \t]*["']?(-?\d{1,12}(?:\.\d{1,6})?)["']?[ \t]*(?:#.*)?$`, 'm'),
);

/**
 * Returns the weight of a page among its siblings from its front matter; undefined if it has no weight. Smaller weights
 * come first. Only a separate top-level line counts, so no YAML is parsed.
 */
export function pageWeight(beginning: string): number | undefined {
  const [, fields = ''] = FRONT_MATTER.exec(beginning.replace(/\r\n?/g, '\n')) ?? [];
  // In TOML, the lines after a table's header belong to the table.
  const [top = ''] = fields.split(/^\[/m, 1);
  for (const field of FIELDS) {
    const [, value] = field.exec(top) ?? [];
    // Hugo treats a weight of 0 as unset.
    if (value !== undefined && !(Number(value) === 0 && field === FIELDS[1])) return Number(value);
  }
  return undefined;
}
