import { traced } from '../core/tracing.ts';
import type { PreparedStatement } from './prepared-query.ts';

/** Maximum number of cached summaries, equal to the number of prepared statements. */
const KEPT_MAX = 2_000;

const summaries = new Map<string, string>();

/**
 * Runs a statement in a span. The span names the tables read and written, because the full text of several kilobytes
 * would cost too much.
 */
export function inStatementSpan<T>({ text }: PreparedStatement, work: () => Promise<T>): Promise<T> {
  return traced('statement', 'client', { 'db.system.name': 'postgresql' }, (span) => {
    if (span?.isSampled) span.set({ 'db.query.summary': summaryOf(text) });
    return work();
  });
}

/**
 * Summarizes a statement, for example "update pages, insert into revisions, from api_keys". Omits the names of CTEs.
 */
function summaryOf(text: string): string {
  const known = summaries.get(text);
  if (known !== undefined) return known;
  const own = new Set(
    [...text.matchAll(/(\w+)(?: \([\w, ]+\))? as (?:not )?(?:materialized )?\(/g)].map(([, name]) => name),
  );
  const uses = [...text.matchAll(/\b(insert into|update|delete from|from) ([a-z_]{3,})\b(?! ?\()/g)]
    .filter(([, , table]) => !own.has(table) && table !== 'set')
    .map(([use]) => use);
  const writes = uses.filter((use) => !use.startsWith('from '));
  const summary = [...new Set([...writes, ...uses])].join(', ').slice(0, 200);
  if (summaries.size < KEPT_MAX) summaries.set(text, summary);
  return summary;
}
