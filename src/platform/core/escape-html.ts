const SPECIAL = /[&<>"']/;

/** Escapes a text for HTML content and quoted attribute values. */
export function escapeHtml(text: string): string {
  // Most texts have nothing to escape, and a page has hundreds of them.
  if (!SPECIAL.test(text)) return text;
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
