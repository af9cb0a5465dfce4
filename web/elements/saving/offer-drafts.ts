import { deleteDraft } from './drafts.ts';
import type { LocalDraft } from './local-draft.ts';
import { makeNote, timeOf } from './notes.ts';
import type { ServerDraft } from './server-draft.ts';
import type { Draft } from './stored-drafts.ts';

const OTHER_DEVICE = 'another device';

export interface OfferedTo {
  host: HTMLElement;
  addNote(note: HTMLElement): void;
  isNew: boolean;
  /** The revision that the editor was opened with. */
  base: string;
  /** The id of the draft that the address asks for; "" without one. */
  wanted: string;
  isChanged(): boolean;
  /** Whether the page already has the text of the draft. */
  isSaved(draft: { title: string; markdown: string }): boolean;
  /**
   * Continues the draft in the editor. The editor's own text stays stored. `where`: the origin of the draft, shown to
   * the user.
   */
  resume(draft: Draft, where?: string): void;
}

interface Found {
  id: string;
  draft: Draft;
  where: string;
  /** Another tab is writing it. */
  isOpen: boolean;
  /** It is offered, but never resumed automatically. */
  isOnlyOffered: boolean;
  resume(): void;
  discard(): void;
}

/**
 * Resumes the latest unsaved draft of the page from another tab of this browser or another device, and offers the rest.
 * Drafts of new pages are different texts, so only the draft that the address asks for is resumed.
 */
export async function offerDrafts(local: LocalDraft, server: ServerDraft, to: OfferedTo): Promise<void> {
  const found = await findDrafts(local, server, to);
  const open = found.filter(({ draft, isOpen, discard }) => {
    const isDone = to.isSaved(draft) && !draft.pending;
    if (isDone && !isOpen) discard();
    return !isDone;
  });
  const next = to.isChanged()
    ? undefined
    : open.find(({ id, isOpen, isOnlyOffered }) => !isOpen && (to.isNew ? id === to.wanted : !isOnlyOffered));
  next?.resume();
  // Each note is added above the previous one, so add the latest draft last.
  for (const other of open.filter((it) => it !== next).reverse()) {
    const { title, markdown, pending } = other.draft;
    const isSame = next?.draft.title === title && next.draft.markdown === markdown;
    if (isSame && !other.isOpen && !pending) other.discard();
    else offer(to, other);
  }
}

/** Returns drafts latest first. */
async function findDrafts(local: LocalDraft, server: ServerDraft, to: OfferedTo): Promise<Found[]> {
  const [tabs, copies] = await Promise.all([local.others(), server.list()]);
  const here = new Set([local.id, ...tabs.map(({ id }) => id)]);
  const elsewhere = (copies ?? []).filter(({ autosave_id }) => !here.has(autosave_id));
  const ofTabs = tabs.map(({ key, id, draft, isOpen }): Found => {
    // Another device continued this draft, and then saved or discarded it.
    const isGone = copies !== undefined && !copies.some(({ autosave_id }) => autosave_id === id);
    return {
      id,
      draft,
      where: isOpen ? 'another open tab' : 'a closed tab',
      isOpen,
      isOnlyOffered: draft.isAside === true || (isGone && !draft.pending && draft.base_revision !== to.base),
      discard: () => {
        deleteDraft(key);
        server.forget(id);
      },
      resume: () => {
        if (!isOpen) server.supersede(id);
        to.resume(draft);
        if (!isOpen) deleteDraft(key);
      },
    };
  });
  const ofDevices = (await server.read(elsewhere, to.wanted)).map(
    ({ id, draft }): Found => ({
      id,
      draft,
      where: OTHER_DEVICE,
      isOpen: false,
      // The other device may have saved it without deleting the copy, if its page was left before the deletion was
      // sent.
      isOnlyOffered: draft.base_revision !== to.base,
      discard: () => server.forget(id),
      resume: () => {
        server.supersede(id);
        to.resume(draft, OTHER_DEVICE);
      },
    }),
  );
  return [...ofTabs, ...ofDevices].sort((one, other) => other.draft.at - one.draft.at);
}

function offer({ host, addNote, isNew }: OfferedTo, { draft, where, isOpen, resume, discard }: Found): void {
  // The pressed button is gone, so move the focus to the text.
  const thenWrite = (run: () => void) => () => {
    run();
    host.focus();
  };
  const what = isNew ? `An unsaved new page “${draft.title || 'Untitled'}”` : 'Unsaved changes';
  addNote(
    makeNote(`${what} from ${where} (${timeOf(draft.at)}).`, [
      { label: 'Continue here', run: thenWrite(resume) },
      ...(isOpen ? [] : [{ label: 'Discard', run: thenWrite(discard) }]),
    ]),
  );
}
