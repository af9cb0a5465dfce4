import { deleteDraft } from './drafts.ts';
import type { LocalDraft } from './local-draft.ts';
import { makeNote, timeOf } from './notes.ts';
import type { ServerDraft } from './server-draft.ts';
import type { Draft } from './stored-drafts.ts';

const OTHER_DEVICE = 'another device';

/** The editor to which drafts are offered. */
export interface OfferedTo {
  host: HTMLElement;
  addNote(note: HTMLElement): void;
  isNew: boolean;
  /** The revision that the editor was opened with. */
  base: string;
  /** The id of the draft that the user came for; "" where they came for none. */
  wanted: string;
  isChanged(): boolean;
  /** Whether the draft is what the page has already. */
  isSaved(draft: { title: string; markdown: string }): boolean;
  /** Goes on with the draft; what is in the editor stays stored. `where`: where it comes from, to be said. */
  resume(draft: Draft, where?: string): void;
}

interface Found {
  id: string;
  draft: Draft;
  where: string;
  /** Another tab is writing it. */
  isOpen: boolean;
  /** Nothing goes on with it unasked. */
  isOnlyOffered: boolean;
  resume(): void;
  discard(): void;
}

/**
 * Goes on with the latest of what other tabs of this browser and other devices have of the page and have not saved, and offers
 * the rest. Of new pages, which are not the same text, it goes on only with the one that the user came for.
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
  // Each is shown above the one before it: the latest is the first.
  for (const other of open.filter((it) => it !== next).reverse()) {
    const { title, markdown, pending } = other.draft;
    const isSame = next?.draft.title === title && next.draft.markdown === markdown;
    if (isSame && !other.isOpen && !pending) other.discard();
    else offer(to, other);
  }
}

/** The latest first. */
async function findDrafts(local: LocalDraft, server: ServerDraft, to: OfferedTo): Promise<Found[]> {
  const [tabs, copies] = await Promise.all([local.others(), server.list()]);
  const here = new Set([local.id, ...tabs.map(({ id }) => id)]);
  const elsewhere = (copies ?? []).filter(({ autosave_id }) => !here.has(autosave_id));
  const ofTabs = tabs.map(({ key, id, draft, isOpen }): Found => {
    // Another device has gone on with it, and has saved or discarded that since.
    const isGone = copies !== undefined && !copies.some(({ autosave_id }) => autosave_id === id);
    return {
      id,
      draft,
      where: isOpen ? 'another tab, which is open' : 'a tab that is closed',
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
      // It may have been saved there, and its deletion was not sent because the page was left.
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
  // The button that was pressed is gone, and the keys go on in the text.
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
