import { withCurrentLinks } from '@ibid/markdown/page-links.ts';
import type { FullPage, FullPageRow } from './schema.ts';

/** The page as it is shown: links lead to where their pages are now. */
export function shownPage({ moved, folder, ...page }: FullPageRow): FullPage {
  return moved === null ? page : withCurrentLinks(page, folder, moved);
}
