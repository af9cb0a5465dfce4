/** Values for the variables of a template. A variable without a value is left in the text. */
export interface TemplateValues {
  title?: string;
  /** `2026-11-22` */
  date?: string;
  author?: string;
}

/** Maximum number of replacements per text; bounds how long the result becomes. */
const FILLED_MAX = 1_000;

/**
 * Replaces `{{title}}`, `{{date}}` and `{{author}}` with the given values. Any other text in braces is left unchanged,
 * including the spelling with spaces (`{{ title }}`), which belongs to the templates of other programs.
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
