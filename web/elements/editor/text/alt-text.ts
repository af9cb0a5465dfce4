import { type EditorState, type Extension, StateEffect, StateField, type Transaction } from '@codemirror/state';
import { EditorView, showTooltip, type Tooltip, type TooltipView } from '@codemirror/view';
import { questionForm } from './question-form.ts';

/** The range of a picture's description, between its brackets. */
interface AltPlace {
  from: number;
  to: number;
}

const ask = StateEffect.define<AltPlace>();
const answered = StateEffect.define<null>();

/** The pictures whose descriptions are asked for. The question about the first is open. */
const questions = StateField.define<readonly AltPlace[]>({
  create: () => [],
  update: (places, transaction) => nextPlaces(places, transaction),
  provide: (field) => showTooltip.compute([field], (state) => tooltipFor(state)),
});

function nextPlaces(places: readonly AltPlace[], { changes, docChanged, effects }: Transaction): readonly AltPlace[] {
  let next = places;
  if (docChanged && places.length > 0) {
    const moved = places.map(({ from, to }) => ({ from: changes.mapPos(from, -1), to: changes.mapPos(to, 1) }));
    // Drop the questions about deleted pictures.
    next = moved.filter(({ from, to }, i) => to > from || places[i]?.from === places[i]?.to);
  }
  for (const effect of effects) {
    if (effect.is(ask)) next = [...next, effect.value];
    if (effect.is(answered)) next = next.slice(1);
  }
  return next;
}

function tooltipFor(state: EditorState): Tooltip | null {
  const [first] = state.field(questions);
  // Below the line, because a picture shown in place of its text leaves no positions inside it.
  return first ? { pos: state.doc.lineAt(first.to).to, create: createQuestion } : null;
}

function createQuestion(view: EditorView): TooltipView {
  const close = (alt: string) => {
    answer(view, alt);
    input.value = '';
    view.focus();
  };
  const { form, input } = questionForm({
    className: 'alt-question',
    label: 'What does the picture show? ',
    placeholder: 'For people who cannot see it',
    buttons: ['Save', 'Skip'],
    onAnswer: close,
    onLeave: () => close(''),
  });
  return { dom: form };
}

function answer(view: EditorView, alt: string): void {
  const [place] = view.state.field(questions);
  if (!place) return;
  const written = alt.trim().replace(/[[\]\\]/g, '\\$&');
  view.dispatch({
    effects: answered.of(null),
    ...(written !== '' && { changes: { ...place, insert: written }, userEvent: 'input' }),
  });
}

/** Asks for the description of a picture, next to the picture. Focuses the field if `isFocused`. */
export function askForAlt(view: EditorView, place: AltPlace, isFocused: boolean): void {
  view.dispatch({ effects: ask.of(place) });
  // The tooltip is drawn at the next measurement.
  if (isFocused) setTimeout(() => view.dom.querySelector<HTMLElement>('.alt-question input')?.focus());
}

export const altQuestions: Extension = [
  questions,
  EditorView.theme({
    '.alt-question': { display: 'flex', flexWrap: 'wrap', gap: '0.5rem', alignItems: 'center', padding: '0.5rem' },
    '.alt-question input': { minWidth: 'min(18rem, 60vw)', padding: '0.3rem 0.5rem', font: 'inherit' },
  }),
];
