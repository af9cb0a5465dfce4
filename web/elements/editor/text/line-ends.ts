import { invertedEffects } from '@codemirror/commands';
import {
  type ChangeSet,
  type EditorState,
  type Extension,
  RangeSet,
  RangeValue,
  StateEffect,
  StateField,
  type Text,
} from '@codemirror/state';

/** A line break that differs from most line breaks of the text. The range covers the break and is deleted with it. */
class OtherBreak extends RangeValue {
  override startSide = 1;
  override endSide = -1;
}

interface LineEnds {
  /** Whether most line breaks are CRLF. New line breaks are then CRLF too. */
  isCrlf: boolean;
  others: RangeSet<OtherBreak>;
}

const setLineEnds = StateEffect.define<LineEnds>({
  map: ({ isCrlf, others }, changes) => ({ isCrlf, others: others.map(changes) }),
});
const restoreBreaks = StateEffect.define<number[]>({
  map: (positions, changes) => positions.map((at) => changes.mapPos(at, 1)),
});
const breakAt = (at: number) => new OtherBreak().range(at, at + 1);

/**
 * The line breaks as written in the text. The editor's document has LF only, so that commands need not handle CR. A CR
 * without LF, U+2028 and the like are characters of a line.
 */
const lineEnds = StateField.define<LineEnds>({
  create: () => ({ isCrlf: false, others: RangeSet.empty }),
  update(value, transaction) {
    let { isCrlf, others } = value;
    if (transaction.docChanged && others.size > 0) others = mapped(others, transaction.changes);
    for (const effect of transaction.effects) {
      if (effect.is(setLineEnds)) ({ isCrlf, others } = effect.value);
      if (effect.is(restoreBreaks)) others = others.update({ add: effect.value.map(breakAt), sort: true });
    }
    return isCrlf === value.isCrlf && others === value.others ? value : { isCrlf, others };
  },
});

/**
 * Maps the breaks through a change and drops replaced ones. Mapping alone would make a replaced break cover the text
 * inserted in its place.
 */
function mapped(others: RangeSet<OtherBreak>, changes: ChangeSet): RangeSet<OtherBreak> {
  let left = others;
  changes.iterChangedRanges((from, to) => {
    if (to > from) left = left.update({ filterFrom: from, filterTo: to, filter: (at) => at < from || at >= to });
  });
  return left.map(changes);
}

/** Restores the original form of a break when undo brings it back. */
const undoBreaks = invertedEffects.of((transaction) => {
  const before = transaction.startState.field(lineEnds);
  if (transaction.effects.some((effect) => effect.is(setLineEnds))) return [setLineEnds.of(before)];
  const { others } = before;
  const deleted: number[] = [];
  if (transaction.docChanged && others.size > 0) {
    transaction.changes.iterChangedRanges((from, to) => {
      others.between(from, to, (at) => {
        if (at >= from && at < to) deleted.push(at);
      });
    });
  }
  return deleted.length === 0 ? [] : [restoreBreaks.of(deleted)];
});

export const keepLineEnds: Extension = [lineEnds, undoBreaks];

/** Converts a text for the editor: a document with LF only, and an effect that records the original line breaks. */
export function readText(text: string): { doc: string; effect: StateEffect<LineEnds> } {
  const breaks: boolean[] = [];
  const positions: number[] = [];
  let dropped = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    const hasCr = text[at - 1] === '\r';
    if (hasCr) dropped += 1;
    breaks.push(hasCr);
    positions.push(at - dropped);
  }
  const isCrlf = dropped * 2 > breaks.length;
  const others = positions.filter((_, i) => breaks[i] !== isCrlf);
  return {
    doc: text.replaceAll('\r\n', '\n'),
    effect: setLineEnds.of({ isCrlf, others: RangeSet.of(others.map(breakAt)) }),
  };
}

/** Cache of the written texts of a document's parts, with LF and with CRLF. */
const partTexts = { lf: new WeakMap<Text, string>(), crlf: new WeakMap<Text, string>() };

/** Returns the text with its original line breaks. */
export function writeText(state: EditorState): string {
  return writeParts(state).join('');
}

/**
 * Returns the same text in parts. The text of a long document is read every second, and a change leaves most of its
 * parts untouched; untouched parts are the same strings each time.
 */
export function writeParts(state: EditorState): string[] {
  const { isCrlf, others } = state.field(lineEnds);
  const parts = state.doc.children ?? [state.doc];
  let from = 0;
  return parts.map((part, i) => {
    const to = from + part.length + (i < parts.length - 1 ? 1 : 0);
    const written = writePart(part, { from, to, isCrlf, others });
    from = to;
    return written;
  });
}

/** `from`, `to`: the range of the part in the document, including the line break that follows it, if any. */
function writePart(part: Text, { from, to, isCrlf, others }: { from: number; to: number } & LineEnds): string {
  const [usual, other] = isCrlf ? ['\r\n', '\n'] : ['\n', '\r\n'];
  const breaks: number[] = [];
  if (others.size > 0)
    others.between(from, to, (at) => {
      if (at >= from && at < to) breaks.push(at - from);
    });
  const end = to - from > part.length ? '\n' : '';
  const lines = (text: string) => (isCrlf ? text.replaceAll('\n', usual) : text);
  if (breaks.length === 0) {
    const known = isCrlf ? partTexts.crlf : partTexts.lf;
    // With the following line break, which all parts except the last have.
    const key = end === '' ? undefined : part;
    const text = (key && known.get(key)) ?? lines(part.toString() + end);
    if (key) known.set(key, text);
    return text;
  }
  const text = part.toString() + end;
  const pieces: string[] = [];
  let at = 0;
  for (const next of breaks) {
    pieces.push(lines(text.slice(at, next)), other);
    at = next + 1;
  }
  return pieces.join('') + lines(text.slice(at));
}
