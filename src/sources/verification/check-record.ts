import { isDeepStrictEqual } from 'node:util';
import type { Property } from '@ibid/markdown/plain-text.ts';
import type { RenderedPage } from '@ibid/markdown/render.ts';
import { type Finding, finding } from './findings.ts';

/** The row of a page, which lists and searches show, with fields of its current revision. */
export interface StoredRecord {
  page_id: string;
  /** From the row of the page; `title` and `origin` are from the current revision. */
  page_title: string;
  page_origin: 'authored' | 'compiled';
  description: string;
  word_count: number;
  tags: readonly string[];
  properties: readonly Property[];
  source_count: number;
  /** The counted number of its sources. */
  sources: number;
  title: string;
  origin: 'authored' | 'compiled';
  revision: number;
  /** The highest revision number of the page. */
  last_revision: number;
  has_revision: boolean;
}

/**
 * Checks the row of a page that was made from a file against its current revision and, if it was rendered again,
 * against the rendered Markdown.
 */
export function checkRecord(page: StoredRecord, rendered: RenderedPage | undefined): Finding[] {
  const { page_id, revision, last_revision, has_revision } = page;
  if (!has_revision) {
    return [finding('record_altered', `the revision ${revision} that the page shows does not exist`, page_id)];
  }
  const findings = Object.entries({
    'it does not show its last revision': revision === last_revision,
    'its title differs from the title of its revision': page.page_title === page.title,
    'it was made from a file but is recorded as written by people': page.page_origin === 'compiled',
    'its first revision was made from a file but is recorded as written by a person':
      revision > 1 || page.origin === 'compiled',
    'its number of sources is wrong': page.source_count === page.sources,
    'its description, tags, properties or word count do not match its text': !rendered || isSame(page, rendered),
  });
  return findings.flatMap(([what, holds]) => (holds ? [] : [finding('record_altered', what, page_id)]));
}

type OfText = Pick<RenderedPage, 'description' | 'word_count' | 'tags' | 'properties'>;

function isSame(page: StoredRecord, rendered: OfText): boolean {
  return isDeepStrictEqual(ofText(page), ofText(rendered));
}

function ofText({ description, word_count, tags, properties }: OfText | StoredRecord) {
  return { description, word_count, tags, properties };
}
