import { isUtf8 } from 'node:buffer';
import { readFrontMatter } from '@ibid/markdown/front-matter/front-matter.ts';
import { parseMarkdown } from '@ibid/markdown/parse-markdown.ts';
import { isStorable } from '../../../platform/http/body.ts';
import type { ArchivedPage } from '../export/archive-format.ts';
import { invalid } from './archive-error.ts';
import type { ImportContext } from './import-context.ts';
import { shown } from './open-archive.ts';

/** The front matter that an export adds. The page's own text may start with another front matter. */
const FRONT_MATTER = /^---\r?\n[\s\S]*?\r?\n---\r?\n/;
const FRONT_MATTER_BYTES = 65_536;

/** Returns the title and text of a page whose file in the archive was edited; undefined if it is unchanged. */
export async function editedText(
  { archive, limits }: ImportContext,
  page: ArchivedPage,
  present: string,
): Promise<{ title: string; markdown: string } | undefined> {
  if (archive.crc32(page.file) === page.crc32) return undefined;
  const bytes = await archive.read(page.file, limits.markdown_bytes + FRONT_MATTER_BYTES);
  const text = bytes.toString('utf8');
  if (!isUtf8(bytes) || !isStorable(text)) throw invalid(`${shown(page.file)} is no UTF-8 text.`);
  const front = FRONT_MATTER.exec(text)?.[0] ?? '';
  const markdown = text.slice(front.length);
  if (Buffer.byteLength(markdown) > limits.markdown_bytes)
    throw invalid(`${shown(page.file)} exceeds the maximum length of a page.`);
  const title = readFrontMatter(parseMarkdown(front)).title || page.title;
  return markdown === present && title === page.title ? undefined : { title, markdown };
}
