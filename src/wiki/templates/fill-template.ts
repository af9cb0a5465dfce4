/** What the variables of a template stand for. */
export interface TemplateValues {
  title?: string;
  /** `2026-11-22` */
  date?: string;
  author?: string;
}

/** Maximum number of variables that are replaced, which bounds how long a text becomes. */
const FILLED_MAX = 1_000;

/**
 * The text with `{{title}}`, `{{date}}` and `{{author}}` replaced by the values that are given. Everything else in braces stays as
 * it is, and so does what is written with spaces, as other programs' templates are.
 */
export function fillTemplate(text: string, values: TemplateValues): string {
  let filled = 0;
  return text.replace(/\{\{(title|date|author)\}\}/g, (written, name: keyof TemplateValues) => {
    const value = values[name];
    if (value === undefined || filled === FILLED_MAX) return written;
    filled += 1;
    return value;
  });
}
