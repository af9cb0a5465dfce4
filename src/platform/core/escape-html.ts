const SPECIAL = /[&<>"']/;

/** Escapes a text for use in HTML content and quoted attribute values. */
export function escapeHtml(text: string): string {
  // Fast path: a page escapes hundreds of texts, and most contain no special characters.
  if (!SPECIAL.test(text)) return text;
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
