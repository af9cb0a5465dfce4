import { withCurrentLinks } from '@ibid/markdown/page-links.ts';
import type { FullPage, FullPageRow } from './schema.ts';

/** Returns the page as shown to readers, with links to the current paths of their pages. */
export function shownPage({ moved, folder, ...page }: FullPageRow): FullPage {
  return moved === null ? page : withCurrentLinks(page, folder, moved);
}
