import { timeWords } from '../time-words.ts';

/** A button of a note. Pressing it removes the note, unless `stays`. */
export interface NoteAction {
  label: string;
  run(): void;
  stays?: true;
}

/** Makes a message with buttons. `isBad`: screen readers announce it at once. */
export function makeNote(words: string, actions: readonly NoteAction[] = [], isBad = false): HTMLElement {
  const note = document.createElement('div');
  note.className = isBad ? 'note bad' : 'note';
  note.setAttribute('role', isBad ? 'alert' : 'status');
  const text = document.createElement('p');
  text.textContent = words;
  note.append(text);
  for (const { label, run, stays } of actions) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'button';
    button.textContent = label;
    button.addEventListener('click', () => {
      if (!stays) note.remove();
      run();
    });
    note.append(button, ' ');
  }
  return note;
}

/** Formats a time as `22:58` if it is today, otherwise as `27 Nov 2026, 22:58`. */
export function timeOf(at: number): string {
  const time = new Date(at);
  const words = timeWords(time, time.getTimezoneOffset());
  return time.toDateString() === new Date().toDateString() ? words.slice(-'00:00'.length) : words;
}
