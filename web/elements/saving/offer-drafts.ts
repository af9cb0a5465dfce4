import { deleteDraft } from './drafts.ts';
import type { LocalDraft } from './local-draft.ts';
import { makeNote, timeOf } from './notes.ts';
import type { ServerDraft } from './server-draft.ts';
import type { Draft } from './stored-drafts.ts';

/** The editor to which drafts are offered. */
export interface OfferedTo {
  host: HTMLElement;
  isNew: boolean;
  isChanged(): boolean;
  /** Whether the draft is what the page has already. */
  isSaved(draft: { title: string; markdown: string }): boolean;
  /** Goes on with the draft; what is in the editor stays stored. */
  resume(draft: Draft): void;
}

/** Offers what other tabs of this browser and other devices have of the page, or of new pages, and have not saved. */
export async function offerDrafts(local: LocalDraft, server: ServerDraft, to: OfferedTo): Promise<void> {
  const tabs = await local.others();
  const [last] = tabs.filter(({ isOpen }) => !isOpen);
  for (const { key, id, draft, isOpen } of tabs) {
    const discard = () => {
      deleteDraft(key);
      server.forget(id);
    };
    const resume = () => {
      if (!isOpen) server.supersede(id);
      to.resume(draft);
      if (!isOpen) deleteDraft(key);
    };
    if (to.isSaved(draft) && !draft.pending) {
      if (!isOpen) discard();
      // The last tab in which this page was edited was closed, or crashed.
    } else if (key === last?.key && !to.isNew && !to.isChanged()) resume();
    else
      offer(
        to,
        draft,
        isOpen ? 'another tab, which is open' : 'a tab that is closed',
        resume,
        isOpen ? undefined : discard,
      );
  }
  const own = new Set([local.id, ...tabs.map(({ id }) => id)]);
  // Each is shown above the one before it: the latest is the first.
  for (const autosave of (await server.others(own)).reverse()) {
    const { autosave_id, title, markdown, base_revision, updated_at } = autosave;
    const discard = () => server.forget(autosave_id);
    const draft = { title, markdown, base_revision: String(base_revision || ''), at: Date.parse(updated_at) };
    if (to.isSaved(draft)) discard();
    else {
      const resume = () => {
        server.supersede(autosave_id);
        to.resume(draft);
      };
      offer(to, draft, 'another device', resume, discard);
    }
  }
}

function offer(
  to: OfferedTo,
  draft: Draft,
  where: string,
  resume: () => void,
  discard: (() => void) | undefined,
): void {
  const what = to.isNew ? `An unsaved new page “${draft.title || 'Untitled'}”` : 'Unsaved changes';
  to.host.prepend(
    makeNote(`${what} from ${where} (${timeOf(draft.at)}).`, [
      { label: 'Continue here', run: resume },
      ...(discard ? [{ label: 'Discard', run: discard }] : []),
    ]),
  );
}
