import { type Loss, type LossKind, needsReview } from './losses.ts';

/** Singular and plural label of each kind of loss. */
const WORDS: Record<LossKind, readonly [one: string, several: string]> = {
  page_without_text: ['page without text', 'pages without text'],
  page_unreadable: ['unreadable page', 'unreadable pages'],
  picture: ['picture', 'pictures'],
  ornament: ['ornament', 'ornaments'],
  unreadable_text: ['text in a font without Unicode', 'texts in fonts without Unicode'],
  repeated_line: ['header, footer or page number', 'headers, footers and page numbers'],
  printers_mark: ["printer's mark", "printer's marks"],
  equation: ['equation', 'equations'],
  comment: ['comment', 'comments'],
  markup_comment: ['comment in the source', 'comments in the source'],
  hidden_text: ['hidden text', 'hidden texts'],
  tracked_change: ['tracked deletion', 'tracked deletions'],
  embedded_object: ['embedded object', 'embedded objects'],
  form_field: ['form field', 'form fields'],
  navigation: ['navigation element', 'navigation elements'],
  script: ['script or style', 'scripts and styles'],
  metadata: ['metadata entry', 'metadata entries'],
  cut_text: ['text beyond a limit', 'texts beyond a limit'],
  decoding: ['undecodable character', 'undecodable characters'],
  damaged_part: ['damaged part', 'damaged parts'],
  unaccounted: ['missing text', 'missing texts'],
};

/** Formats a loss as "2 equations" or "1 comment". */
export function lossWords({ kind, count }: Pick<Loss, 'kind' | 'count'>): string {
  const [one, several] = WORDS[kind];
  return `${count} ${count === 1 ? one : several}`;
}

/**
 * Formats the losses that a person should look at as "2 equations, 1 comment": each kind once, in the order of the
 * list.
 */
export function lossesInWords(losses: readonly Loss[]): string {
  const counts = new Map<LossKind, number>();
  for (const { kind, count } of losses.filter(needsReview)) counts.set(kind, (counts.get(kind) ?? 0) + count);
  return [...counts].map(([kind, count]) => lossWords({ kind, count })).join(', ');
}
