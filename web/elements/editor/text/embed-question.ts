import { StateEffect, StateField } from '@codemirror/state';
import { EditorView, showTooltip, type Tooltip, type TooltipView } from '@codemirror/view';
import { embedOf, SERVICE_NAMES } from '../../embeds/services.ts';
import { insertBlock } from './commands.ts';
import { questionForm } from './question-form.ts';

/** The position at which to ask for the address of an embed; null closes the question. */
const asked = StateEffect.define<number | null>();

const question = StateField.define<Tooltip | null>({
  create: () => null,
  update(tooltip, { effects, changes, docChanged }) {
    for (const effect of effects) {
      if (effect.is(asked)) return effect.value === null ? null : { pos: effect.value, create: createQuestion };
    }
    return tooltip && docChanged ? { ...tooltip, pos: changes.mapPos(tooltip.pos) } : tooltip;
  },
  provide: (field) => showTooltip.from(field),
});

function createQuestion(view: EditorView): TooltipView {
  const close = () => {
    view.dispatch({ effects: asked.of(null) });
    view.focus();
  };
  const { form, input } = questionForm({
    className: 'embed-question',
    label: 'Address to embed',
    placeholder: 'https://',
    buttons: ['Embed', 'Cancel'],
    onAnswer(text) {
      close();
      insertBlock(view, `${text.trim()}\n\n\0`);
    },
    onLeave: close,
  });
  input.type = 'url';
  input.required = true;
  const hint = document.createElement('span');
  hint.id = 'embed-services';
  hint.textContent = `From ${SERVICE_NAMES}`;
  input.setAttribute('aria-describedby', hint.id);
  input.addEventListener('input', () => {
    const isKnown = input.value.trim() === '' || embedOf(input.value.trim()) !== undefined;
    input.setCustomValidity(isKnown ? '' : `This address cannot be embedded. Enter one from ${SERVICE_NAMES}.`);
  });
  form.append(hint);
  return { dom: form };
}

const theme = EditorView.theme({
  '.embed-question': {
    display: 'flex',
    flexWrap: 'wrap',
    gap: '0.5rem',
    alignItems: 'end',
    padding: '0.6rem',
    maxWidth: 'min(40rem, 100vw)',
  },
  '.embed-question label': { display: 'grid', gap: '0.3rem', flex: '1 1 20rem' },
  '.embed-question input': {
    minHeight: '2.35rem',
    padding: '0.3rem 0.5rem',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius)',
    background: 'var(--paper)',
    font: 'inherit',
  },
  '.embed-question span': { flexBasis: '100%', fontSize: '0.85rem', color: 'var(--ink-2)' },
});

/** Asks for the address of content of another service and inserts it as a block. */
export function askForEmbed(view: EditorView): void {
  const isNew = view.state.field(question, false) === undefined;
  if (isNew) view.dispatch({ effects: StateEffect.appendConfig.of([question, theme]) });
  view.dispatch({ effects: asked.of(view.state.selection.main.head) });
  // The tooltip is drawn at the next measurement.
  setTimeout(() => view.dom.querySelector<HTMLElement>('.embed-question input')?.focus());
}
