import { MARKDOWN_MAX } from '@ibid/documents/formats/extracted.ts';
import { uploadLinkResolver } from '@ibid/documents/upload-link-resolver.ts';
import { mergeTexts } from '@ibid/markdown/compare/merge-texts.ts';
import { folderOf, mayLead } from '@ibid/markdown/page-links.ts';
import { possibleWikiTargets } from '@ibid/markdown/wiki-link-syntax.ts';
import type { Query } from '../../platform/db/db.ts';
import type { SentFile } from '../../platform/sandbox/rendering/responses.ts';
import type { Sandbox } from '../../platform/sandbox/sandbox.ts';
import { knownTargets } from '../../wiki/pages/links/wiki-targets.ts';
import type { CompiledUploadFile, ExistingPage, Merged } from './compiled-upload.ts';
import { readExistingPages } from './existing-pages.ts';

/**
 * Three-way merges the files of a batch with edits since the last upload; the base is the last uploaded version. Edits
 * made during the merge are detected when the batch is written.
 */
export async function mergeEdits(
  { query, sandbox, wiki_id, upload_id }: { query: Query; sandbox: Sandbox; wiki_id: string; upload_id: string },
  pages: ReadonlyMap<string, string>,
  compiled: readonly CompiledUploadFile[],
): Promise<ReadonlyMap<string, Merged>> {
  const found = await readExistingPages(query, { wiki_id, upload_id, compiled, isLocked: false });
  const merges = new Map<string, Merged>();
  for (const { file, page: ours } of compiled) {
    const present = found.get(file.page_id);
    if (!ours || !present?.is_edited || present.is_trashed || isSame(present, ours)) continue;
    merges.set(file.page_id, { present, page: await merged(present, ours, file.page_path) });
  }
  return merges;

  async function merged(present: ExistingPage, ours: SentFile, page_path: string) {
    // Relative links of a page that moved after its last edit start from another folder, so do not merge them.
    const isElsewhere = present.folder !== folderOf(page_path) && (present.has_links || ours.page_links.some(mayLead));
    const title = mergeTitles(present.base_title, present.title, ours.title);
    if (isElsewhere || title === undefined) return undefined;
    const { text, conflicts } = mergeTexts(present.base_markdown, present.markdown, ours.markdown);
    if (conflicts > 0 || Buffer.byteLength(text) > MARKDOWN_MAX) return undefined;
    if (text === ours.markdown) return { ...ours, title };
    const upload = uploadLinkResolver({ wiki_id, page_path }, pages);
    const pagesByTarget = new Map(await knownTargets(async (work) => (await query(work))[0] as never, wiki_id, text));
    for (const target of possibleWikiTargets(text)) {
      const page = upload.findPage(target);
      if (page) pagesByTarget.set(target, page.path);
    }
    const { links, ...rendered } = await sandbox.render({ wiki_id, markdown: text, page_path, pagesByTarget });
    return { ...ours, ...rendered, title, markdown: text, page_links: links };
  }
}

/** Whether a file is unchanged, apart from the addresses of pages that moved. */
export function isSame(present: ExistingPage, ours: SentFile): boolean {
  return present.is_same_file || (present.base_markdown === ours.markdown && present.base_title === ours.title);
}

function mergeTitles(base: string, theirs: string, ours: string): string | undefined {
  if (theirs === ours || theirs === base) return ours;
  return ours === base ? theirs : undefined;
}
