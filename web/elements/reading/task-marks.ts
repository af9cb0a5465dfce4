/** The character of a task that marks it as done or open. */
export interface TaskMark {
  /** In UTF-16 units of the Markdown. */
  offset: number;
  isDone: boolean;
}

const FENCE = /^(?:[ \t]|>|[-+*][ \t]|\d{1,9}[.)][ \t])*(`{3,}|~{3,})/;
const TASK = /^((?:[ \t]|>)*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)+\[)([ xX])\][ \t]/;

/**
 * Finds the task marks of a Markdown text, in order, outside fenced code. It scans lines and does not parse the syntax,
 * so callers must compare the number and states of the tasks with the page.
 */
export function taskMarks(markdown: string): TaskMark[] {
  const marks: TaskMark[] = [];
  let fence = '';
  let start = 0;
  for (const line of markdown.split('\n')) {
    const marker = FENCE.exec(line)?.[1] ?? '';
    if (fence !== '') {
      if (marker.startsWith(fence)) fence = '';
    } else if (marker !== '') fence = marker;
    else {
      const [, before = '', state = ''] = TASK.exec(line) ?? [];
      if (before !== '') marks.push({ offset: start + before.length, isDone: state !== ' ' });
    }
    start += line.length + 1;
  }
  return marks;
}
