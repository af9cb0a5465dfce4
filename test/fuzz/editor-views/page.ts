/// <reference lib="dom" />
import { closeCompletion } from '@codemirror/autocomplete';
import { undo, undoDepth } from '@codemirror/commands';
import { ChangeSet, type EditorState, findClusterBreak, StateEffect, type Text, Transaction } from '@codemirror/state';
import { EditorView, type ViewUpdate } from '@codemirror/view';
import { insertBlock } from '../../../web/elements/editor/text/commands.ts';
import { readText, writeText } from '../../../web/elements/editor/text/line-ends.ts';
import { isBelowParagraph } from '../../../web/elements/editor/text/rich/paragraph-keys.ts';
import { createTextView, type TextView } from '../../../web/elements/editor/text/text-view.ts';
import { KEYS, type Step } from './steps.ts';

/** Runs in a browser: one sequence of edits in the rich view and in the source view of the product. */

/** Result of a step in the rich view: the text after it, and its changes if the source view lacks that place or key. */
interface Done {
  text: string;
  ofRich: { changes: unknown; userEvent: string | undefined }[] | undefined;
}

/** Faults that the browser or CodeMirror reports, such as a plugin that crashed. */
const reported: string[] = [];
addEventListener('error', ({ message, error }) => reported.push(error?.stack ?? message));
addEventListener('unhandledrejection', ({ reason }) => reported.push(String(reason?.stack ?? reason)));

class Fault extends Error {}

function must(holds: boolean, words: () => string): void {
  if (!holds) throw new Fault(words());
}

/** Simulated time between steps: the steps that an undo reverts must not depend on real speed. */
const STEP_MS = 10_000;
let ahead = 0;
const now = Date.now.bind(Date);
Date.now = () => now() + ahead;

const show = (text: string) => JSON.stringify(text);

/** Runs the browser's queued microtasks, in which CodeMirror reads typed text and tables take the focus. */
const settle = () => new Promise<void>((done) => queueMicrotask(() => queueMicrotask(done)));

interface Opened {
  it: TextView;
  /** Updates that changed the text in the last step. */
  updates: ViewUpdate[];
  /** State of the view without text and history. */
  empty: EditorState;
}

function open(text: string, asSource: boolean): Opened {
  const it = createTextView(text, [], {
    api: '/v1/wikis/none',
    root: '/none/none',
    attachmentsUrl: () => Promise.reject(new Error('there are no attachments')),
    pagePath: () => 'page',
    values: () => ({ title: '', date: '', author: '' }),
    showStatus: () => undefined,
    resolvePicture: () => 'data:,',
    onChange: () => undefined,
    onSelect: () => undefined,
    save: () => undefined,
  });
  document.body.append(it.host);
  it.isSource = asSource;
  const updates: ViewUpdate[] = [];
  it.view.dispatch({
    effects: StateEffect.appendConfig.of([
      EditorView.updateListener.of((update) => void (update.docChanged && updates.push(update))),
      EditorView.exceptionSink.of((error) => void reported.push(String(error?.stack ?? error))),
    ]),
  });
  return { it, updates, empty: it.view.state };
}

const opened = new Map<boolean, Opened>();

/** Opens a text as `createTextView` does, but in an existing view: creating one takes 25 ms. */
function reopen(text: string, asSource: boolean): Opened {
  const view = opened.get(asSource) ?? open('', asSource);
  opened.set(asSource, view);
  const { it, empty, updates } = view;
  it.isSource = asSource;
  for (const other of opened.values()) other.it.host.hidden = other !== view;
  const { doc, effect } = readText(text);
  const annotations = Transaction.addToHistory.of(false);
  it.view.setState(empty.update({ changes: { from: 0, insert: doc }, effects: effect, annotations }).state);
  updates.length = 0;
  must(it.text === text, () => `a text that is opened stays as it is: ${show(it.text)}`);
  return view;
}

/** Asserts that the bytes before the first change and after the last one are unchanged. */
function checkUntouched({ startState, state, changes }: ViewUpdate): void {
  const [before, after] = [writeText(startState), writeText(state)];
  let first = startState.doc.length;
  let last = 0;
  changes.iterChangedRanges((from, to) => {
    first = Math.min(first, from);
    last = Math.max(last, to);
  });
  const tail = startState.doc.length - last;
  must(
    after.slice(0, first) === before.slice(0, first),
    () => `what is before a change: ${show(before)} ${show(after)}`,
  );
  must(
    after.slice(after.length - tail) === before.slice(before.length - tail),
    () => `what is behind a change: ${show(before)} ${show(after)}`,
  );
}

const focusedCell = (view: EditorView): HTMLElement | undefined => {
  const active = (view.root as ShadowRoot).activeElement;
  return active instanceof HTMLTableCellElement ? active : undefined;
};

function press(target: HTMLElement, name: string): void {
  const key = KEYS[name];
  if (key)
    target.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, cancelable: true, composed: true, ...key }));
}

function transfer(target: HTMLElement, type: 'cut' | 'paste', text: string): void {
  const clipboardData = new DataTransfer();
  if (type === 'paste') clipboardData.setData('text/plain', text);
  target.dispatchEvent(new ClipboardEvent(type, { clipboardData, bubbles: true, cancelable: true, composed: true }));
}

/**
 * Types as a keyboard or an input method does. It takes 8 ms, but `insertText` behaves differently over a selection
 * with more than text.
 */
declare const typeText: (text: string) => Promise<void>;
/** Writes with an input method: each key replaces the composition, which is then accepted. */
declare const composeText: (text: string) => Promise<void>;

/**
 * Returns whether an end of the selection is inside a replaced range. There the editor itself writes typed text, and
 * deletes the whole range.
 */
function isInReplaced(view: EditorView): boolean {
  const { from, to } = view.state.selection.main;
  let isIn = false;
  for (const ranges of view.state.facet(EditorView.atomicRanges)) {
    for (const end of [from, to])
      ranges(view).between(end, end, (start, after) => {
        isIn ||= start < end && end < after;
      });
  }
  return isIn;
}

async function type(view: EditorView, text: string): Promise<void> {
  if (view.state.selection.main.empty && !text.includes('\n') && !isInReplaced(view))
    document.execCommand('insertText', false, text);
  else await typeText(text);
}

/** Runs a step in a view whose focus is in its text. */
async function act({ view }: TextView, [name, , , text]: Step): Promise<void> {
  if (name === 'type') await type(view, text);
  else if (name === 'compose') await composeText(text);
  else if (name === 'paste') transfer(view.contentDOM, name, text);
  // Without a selection a line is cut, and pasted as a line. CodeMirror keeps that clipboard for all views together.
  else if (name === 'cut') view.state.selection.main.empty || transfer(view.contentDOM, name, text);
  else if (name === 'block') insertBlock(view, '> \0');
  else press(view.contentDOM, name);
}

/**
 * Runs a step in a cell of a table: text is typed into the cell, keys add rows or leave it, and its buttons change the
 * table.
 */
function actInCell(cell: HTMLElement, [name, at, , text]: Step): void {
  const buttons = cell.closest('.rich-table')?.querySelectorAll<HTMLElement>('.table-bar button') ?? [];
  if (name === 'type') document.execCommand('insertText', false, text.replaceAll('\n', ' '));
  else if (name === 'backspace') document.execCommand('delete');
  else if (name === 'block') buttons[at % buttons.length]?.click();
  else press(cell, name);
}

const IN_PLACE = new Set(['undo', 'redo', 'source']);

function select({ view }: TextView, [name, at, end]: Step): void {
  ahead += STEP_MS;
  if (!view.hasFocus) view.focus();
  if (IN_PLACE.has(name)) return;
  const { doc } = view.state;
  view.dispatch({ selection: { anchor: caretAt(doc, at), head: caretAt(doc, end) } });
}

/** Returns the caret position at or before `at` that is not between a letter and its accent. */
function caretAt(doc: Text, at: number): number {
  const line = doc.lineAt(Math.min(at, doc.length));
  const column = Math.min(at, doc.length) - line.from;
  return line.from + (column === 0 ? 0 : findClusterBreak(line.text, column - 1));
}

async function doStep(opened: Opened, step: Step): Promise<Done> {
  const { it, updates } = opened;
  select(it, step);
  await settle();
  updates.length = 0;
  const cell = focusedCell(it.view);
  const from = it.view.state;
  const isCut = isInReplaced(it.view) && step[0] !== 'type';
  if (cell) actInCell(cell, step);
  else await act(it, step);
  await settle();
  closeCompletion(it.view);
  for (const update of updates) checkUntouched(update);
  // The oracle for typed text: it replaces the selection, and all other text stays.
  if (!cell && /^(?:type|compose)$/.test(step[0]) && /^[x日本]+$/.test(step[3])) {
    const { main } = from.selection;
    const begin = !it.isSource && isBelowParagraph(from) ? '\n' : '';
    const expected = from.sliceDoc(0, main.from) + begin + step[3] + from.sliceDoc(main.to);
    const found = it.view.state.doc.toString();
    must(found === expected, () => `typed ${step[3]}: ${show(expected)} was expected, not ${show(found)}`);
  }
  if (reported.length > 0) throw new Fault(reported.splice(0).join('\n'));
  // An undo or redo concerns each view's own history.
  const isOfRich =
    !/^(?:undo|redo)$/.test(step[0]) &&
    (cell !== undefined ||
      isCut ||
      OWN_KEYS.has(step[0]) ||
      updates.some(joinsLines) ||
      (!it.isSource && isBelowParagraph(from)));
  const made = updates.flatMap(({ transactions }) => transactions.filter(({ docChanged }) => docChanged));
  return {
    text: it.text,
    ofRich: (isOfRich ? made : undefined)?.map((one) => ({
      changes: one.changes.toJSON(),
      userEvent: one.annotation(Transaction.userEvent),
    })),
  };
}

/** Keys that behave differently in a paragraph of the rich view. */
const OWN_KEYS = new Set(['enter', 'line up']);

/**
 * Returns whether a key has deleted an empty line, or a line break with the prefix of the next line. If lines are shown
 * as one, or paragraphs meet, these are a single caret position.
 */
function joinsLines({ startState, changes, transactions }: ViewUpdate): boolean {
  let isOne = transactions.some((made) => made.isUserEvent('delete'));
  changes.iterChanges((from, to, _from, _to, inserted) => {
    if (inserted.length > 0 || !/^\n[\n \t>]+$/.test(startState.sliceDoc(from, to))) isOne = false;
  });
  return isOne;
}

/** Repeats a step in the source view. A change that only the rich view can make is applied to the text directly. */
async function repeat(opened: Opened, step: Step, { ofRich }: Done): Promise<string> {
  // The source view stays as is while the rich view toggles.
  if (step[0] === 'source') return opened.it.text;
  if (!ofRich) return (await doStep(opened, step)).text;
  const { view } = opened.it;
  select(opened.it, step);
  for (const { changes, userEvent } of ofRich) {
    view.dispatch({ changes: ChangeSet.fromJSON(changes), ...(userEvent && { userEvent }) });
  }
  return opened.it.text;
}

async function undoAll({ it }: Opened, text: string): Promise<void> {
  while (undoDepth(it.view.state) > 0) undo(it.view);
  await settle();
  must(it.text === text, () => `all is undone: ${show(it.text)}`);
}

/** Runs a sequence in both views. Returns the broken guarantee, or undefined. */
async function runSequence(text: string, steps: Step[]): Promise<string | undefined> {
  reported.length = 0;
  try {
    const rich = reopen(text, false);
    const done: Done[] = [];
    for (const step of steps) done.push(await doStep(rich, step));
    await undoAll(rich, text);
    const source = reopen(text, true);
    for (const [i, step] of steps.entries()) {
      const written = await repeat(source, step, done[i] as Done);
      must(written === done[i]?.text, () => `step ${i}: ${show(done[i]?.text ?? '')} is not ${show(written)}`);
    }
    await undoAll(source, text);
    return undefined;
  } catch (error) {
    // Crashed views are not reused.
    for (const { it } of opened.values()) close(it);
    opened.clear();
    return error instanceof Fault ? error.message : String((error as Error).stack);
  }
}

function close({ view, host }: TextView): void {
  view.destroy();
  host.remove();
}

/** Maximum number of screens of a long text to show. */
const WINDOWS = 12;

/**
 * Scrolls through a text in the rich view, in the source view, and in the rich view again. Returns whether each byte is
 * unchanged, and the editor's fault, if any.
 */
async function lookThrough(text: string): Promise<{ isSame: boolean; fault: string | undefined }> {
  reported.length = 0;
  const { it, updates } = reopen(text, false);
  for (const asSource of [false, true, false]) {
    it.isSource = asSource;
    for (let i = 0; i < WINDOWS; i += 1) {
      const { scrollHeight } = document.documentElement;
      scrollTo(0, Math.max(i * innerHeight, (i * scrollHeight) / WINDOWS));
      await new Promise((done) => requestAnimationFrame(done));
      if (scrollY + innerHeight >= scrollHeight) break;
    }
  }
  return { isSame: it.text === text && updates.length === 0, fault: reported.splice(0)[0] };
}

export type Views = { runSequence: typeof runSequence; lookThrough: typeof lookThrough };
Object.assign(globalThis, { views: { runSequence, lookThrough } satisfies Views });
