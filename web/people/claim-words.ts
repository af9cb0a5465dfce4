import type { PageSurroundings } from '../../src/wiki/pages/schema.ts';
import { type Html, html } from '../html.ts';
import { time } from '../layout.ts';

export type ArchiveClaim = NonNullable<PageSurroundings['claim']>;

/** Who imported a text, and what the archive says of it, which is not verified. */
export function claimWords({ author_name, created_at, imported_by_name }: ArchiveClaim): Html {
  const importer = imported_by_name === '' ? 'Imported' : html`Imported by <span dir="auto">${imported_by_name}</span>`;
  const author = author_name === '' ? 'no author' : html`<span dir="auto">${author_name}</span>`;
  return html`${importer}; the archive names ${author}, ${time(created_at)}`;
}
