import { AZURE_DEVOPS } from './azure-devops.ts';
import { BOOKSTACK } from './bookstack.ts';
import { CONFLUENCE } from './confluence.ts';
import { DOCMOST } from './docmost.ts';
import { GITBOOK } from './gitbook.ts';
import { JOPLIN } from './joplin.ts';
import { LOGSEQ } from './logseq.ts';
import { NOTION } from './notion.ts';
import { OBSIDIAN } from './obsidian.ts';
import { OUTLINE } from './outline.ts';
import type { WikiExport } from './wiki-export.ts';
import { WIKIJS } from './wikijs.ts';

/** All recognized exports, the most reliable signs first. */
export const EXPORTS: readonly WikiExport[] = [
  LOGSEQ,
  DOCMOST,
  AZURE_DEVOPS,
  GITBOOK,
  WIKIJS,
  NOTION,
  CONFLUENCE,
  OUTLINE,
  BOOKSTACK,
  OBSIDIAN,
  JOPLIN,
];

/** Recognizes the wiki from which an upload was exported, by its file names; undefined if they show no sign of one. */
export function exportOf(filenames: readonly string[]): WikiExport | undefined {
  return EXPORTS.find((each) => each.isIn(filenames));
}
