import { ApiError, callApi, errorMessage } from '../call-api.ts';
import { announce } from './copy.ts';
import { taskMarks } from './task-marks.ts';

interface StoredPage {
  revision: number;
  markdown: string;
}

/**
 * Lets users with write permission tick the tasks of a page, which changes one character of its text. If the tasks
 * cannot be matched with the text reliably, nothing is changed.
 */
export function tickTasks(prose: HTMLElement): void {
  const { wiki, page, revision } = prose.dataset;
  const boxes = [...prose.querySelectorAll<HTMLInputElement>('.task-list-item input[type="checkbox"]')].filter(
    // These tasks belong to a transcluded page.
    (box) => !box.closest('.transclusion'),
  );
  if (!wiki || !page || !revision || boxes.length === 0) return;
  const path = `/v1/wikis/${wiki}/pages/${page}`;
  let shown = Number(revision);
  // Run writes one after another: each is based on the revision that the previous one created.
  let last: Promise<void> = Promise.resolve();
  for (const [at, box] of boxes.entries()) {
    box.disabled = false;
    box.setAttribute('aria-label', wordsOf(box.closest('li')));
    box.addEventListener('change', () => {
      last = last.then(() => write(at, box));
    });
  }

  async function write(at: number, box: HTMLInputElement): Promise<void> {
    const isTicked = box.checked;
    box.setAttribute('aria-busy', 'true');
    try {
      const stored = await callApi<StoredPage>('GET', path);
      if (stored.revision !== shown) throw new ApiError(409, CHANGED);
      const marks = taskMarks(stored.markdown);
      const others = boxes.map((each) => (each === box ? !isTicked : each.checked));
      if (marks.length !== boxes.length || !marks.every(({ isDone }, i) => isDone === others[i])) {
        throw new ApiError(0, { message: 'Could not find this task in the text. Edit the page to tick it.' });
      }
      const place = marks[at]?.offset ?? 0;
      const markdown = `${stored.markdown.slice(0, place)}${isTicked ? 'x' : ' '}${stored.markdown.slice(place + 1)}`;
      shown = (await callApi<StoredPage>('PATCH', path, { markdown, base_revision: shown })).revision;
      announce(isTicked ? 'Done' : 'Not done');
    } catch (problem) {
      box.checked = !isTicked;
      tell(box, problem instanceof ApiError && problem.status === 409 ? CHANGED.message : errorMessage(problem));
    } finally {
      box.removeAttribute('aria-busy');
    }
  }
}

/** Returns the words of a task, without the words of its subtasks. */
function wordsOf(item: HTMLElement | null): string {
  const own = [...(item?.childNodes ?? [])].filter((node) => !(node instanceof Element && node.matches('ul, ol')));
  return own
    .map((node) => node.textContent ?? '')
    .join('')
    .trim()
    .slice(0, 200);
}

const CHANGED = { message: 'The page has changed. Reload it, then try again.' };

function tell(box: HTMLElement, words: string): void {
  const item = box.closest('li') ?? box;
  const note = item.querySelector(':scope > .task-note') ?? document.createElement('span');
  note.className = 'task-note';
  note.textContent = words;
  item.append(note);
  announce(words);
}
