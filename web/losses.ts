import { lossesInWords, lossWords } from '@ibid/documents/formats/loss-words.ts';
import type { IncompleteSource, SourceLoss } from '../src/sources/records/schema.ts';
import { type Content, html, nothing } from './html.ts';
import type { WikiContext } from './wiki-context.ts';

/** The anchor of the list of losses on the page of a source. */
const ANCHOR = 'losses';

/** Notes that a page does not show everything in its sources, with links to the lists. */
export function incompleteNote(
  context: WikiContext,
  sources: readonly Pick<IncompleteSource, 'source_id' | 'filename' | 'losses'>[],
): Content {
  return sources.map(
    ({ source_id, filename, losses }) => html`<p class="small">
      <a href="${context.actionUrl('sources', source_id)}#${ANCHOR}">${parts(losses)} of ${filename}</a> ${losses === 1 ? 'is' : 'are'} not shown on this page.</p>`,
  );
}

/**
 * Lists the content of a file that is missing from its text. `share`: the fraction of the file's characters that the
 * text has; undefined if not counted.
 */
export function lossList(losses: readonly SourceLoss[], share: number | undefined): Content {
  if (losses.length === 0) return nothing;
  const review = lossesInWords(losses);
  return html`<section id="${ANCHOR}"><h2>Missing from the text</h2>
    <p>${share !== undefined && `The text has ${percent(share)} of the file’s characters. `}${review !== '' && `To review: ${review}.`}</p>
    <div class="scroll" tabindex="0" role="group" aria-label="Missing from the text"><table><thead><tr><th scope="col">Content</th><th scope="col">Location</th><th scope="col">Characters</th><th scope="col">Starts with</th></tr></thead><tbody>
    ${losses.map((loss) => html`<tr><td>${lossWords(loss)}</td><td>${placeOf(loss)}</td><td>${loss.characters || ''}</td><td>${loss.excerpt}</td></tr>`)}
    </tbody></table></div></section>`;
}

function placeOf({ first_page, last_page, place }: SourceLoss): string {
  const pages = first_page === last_page ? `page ${first_page}` : `pages ${first_page} to ${last_page}`;
  return [first_page > 0 && pages, place].filter(Boolean).join(', ');
}

function parts(count: number): string {
  return count === 1 ? '1 part' : `${count} parts`;
}

/** Rounds down, so that only a complete text has 100 %. */
function percent(share: number): string {
  return `${Math.floor(share * 1_000) / 10} %`;
}
