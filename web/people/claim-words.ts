import type { PageSurroundings } from '../../src/wiki/pages/schema.ts';
import { type Html, html } from '../html.ts';
import { time } from '../layout.ts';

export type ArchiveClaim = NonNullable<PageSurroundings['claim']>;

/** States the importer of a text, and the author and time that the archive claims, which are not verified. */
export function claimWords({ author_name, created_at, imported_by_name }: ArchiveClaim): Html {
  const importer = imported_by_name === '' ? 'Imported' : html`Imported by <span dir="auto">${imported_by_name}</span>`;
  const author = author_name === '' ? 'no author' : html`<span dir="auto">${author_name}</span>`;
  return html`${importer}; the archive names ${author}, ${time(created_at)}`;
}
