import { ApiError, callApi } from '../call-api.ts';
import { makeNote } from './notes.ts';

const POLL_MS = 2_000;

/**
 * Asks the user to sign in again in a separate window, so that the page and its text stay untouched. Resolves when the
 * same user is signed in again, in that window or in another tab. Shows at most one note at a time.
 */
export function signInAgain(show: (note: HTMLElement) => void, user_id: string): Promise<void> {
  waiting ??= ask(show, user_id).finally(() => {
    waiting = undefined;
  });
  return waiting;
}

let waiting: Promise<void> | undefined;

async function ask(show: (note: HTMLElement) => void, user_id: string): Promise<void> {
  let opened: Window | null = null;
  let woken = (): void => undefined;
  const open = {
    label: 'Sign in',
    stays: true as const,
    run: () => {
      opened = window.open('/sign-in', 'ibid-sign-in', 'popup,width=480,height=720');
    },
  };
  const words = 'You are signed out. Your text is stored in this browser. Sign in to continue where you are.';
  const note = makeNote(words, [open], true);
  show(note);
  const wake = () => woken();
  addEventListener('focus', wake);
  try {
    for (;;) {
      const me = await whoIsSignedIn();
      if (me?.user_id === user_id) return;
      const text = note.querySelector('p');
      if (me && text)
        text.textContent = `You are now signed in as ${me.email}. To save this text, sign in as the user who wrote it.`;
      await new Promise<void>((done) => {
        woken = done;
        setTimeout(done, POLL_MS);
      });
    }
  } finally {
    removeEventListener('focus', wake);
    note.remove();
    (opened as Window | null)?.close();
  }
}

async function whoIsSignedIn(): Promise<{ user_id: string; email: string } | undefined> {
  try {
    return await callApi<{ user_id: string; email: string }>('GET', '/v1/me');
  } catch (error) {
    // Not signed in yet, or the service is unreachable: poll again.
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
