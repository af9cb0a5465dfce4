import { mergeParts } from '@ibid/markdown/compare/merge-texts.ts';
import { diffWordsWithSpace } from 'diff';
import type { KeptChoice } from './stored-drafts.ts';

export { conflictMarkLine, mergeTexts } from '@ibid/markdown/compare/merge-texts.ts';

type Choice = NonNullable<KeptChoice['choice']>;

const CHOICES: readonly [choice: Choice, label: string][] = [
  ['mine', 'Yours'],
  ['theirs', 'Theirs'],
  ['both', 'Both, yours first'],
  ['edit', 'Edit'],
];

/** Longer texts are shown without marked words, because the marks would not help in them. */
const COMPARED_CHARACTERS = 20_000;

/**
 * Asks, place by place, which of two versions to keep where both changed it. Resolves with the whole text, or with
 * undefined if the user cancels. `kept`: earlier choices, which apply to places that have not changed. `keep` is called
 * with the choices after each change.
 */
export function chooseVersions(
  base: string,
  mine: string,
  theirs: string,
  kept: readonly KeptChoice[] = [],
  keep: (choices: KeptChoice[]) => void = () => undefined,
): Promise<string | undefined> {
  const parts = mergeParts(base, mine, theirs);
  const dialog = document.createElement('dialog');
  dialog.className = 'conflict';
  const form = document.createElement('form');
  form.method = 'dialog';
  const count = parts.filter((part) => 'mine' in part).length;
  const heading = document.createElement('h2');
  heading.id = 'conflict-heading';
  heading.textContent = 'You and another user changed the same text';
  dialog.setAttribute('aria-labelledby', heading.id);
  form.append(heading);
  let number = 0;
  const choices: KeptChoice[] = [];
  const [saveButton, notNow] = [button('Save', 'save', true), button('Not now', 'cancel', false)];
  const open = document.createElement('p');
  open.className = 'conflict-open';
  open.setAttribute('role', 'status');
  // The text cannot be saved while a place has no choice, and Enter does nothing.
  const showOpen = () => {
    const left = choices.filter(({ choice }) => choice === undefined).length;
    saveButton.disabled = left > 0;
    open.textContent = left === 0 ? '' : `Choose a version${count === 1 ? '' : ` for ${left} of ${count} conflicts`}.`;
  };
  const results = parts.map((part) => {
    if (!('mine' in part)) return () => part.lines;
    number += 1;
    const [own, other] = [part.mine.join('\n'), part.theirs.join('\n')];
    const before = kept.find((it) => it.mine === own && it.theirs === other);
    const choice = before ?? { mine: own, theirs: other, choice: undefined, edited: bothOf(own, other) };
    choices.push(choice);
    const { place, result } = renderPlace(part, choice, { number, count }, () => {
      keep(choices);
      showOpen();
    });
    form.append(place);
    return result;
  });
  showOpen();
  const bar = document.createElement('div');
  bar.className = 'conflict-do';
  bar.append(saveButton, notNow, open);
  form.append(bar);
  dialog.append(form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'save' ? results.flatMap((result) => result()).join('\n') : undefined);
    });
  });
}

const bothOf = (own: string, other: string) => [own, other].filter(Boolean).join('\n');

/** Renders one place: both versions and the possible choices. Writes the user's choice into `kept`. */
function renderPlace(
  { mine, theirs }: { mine: readonly string[]; theirs: readonly string[] },
  kept: KeptChoice,
  { number, count }: { number: number; count: number },
  keep: () => void,
) {
  const place = document.createElement('fieldset');
  const legend = document.createElement('legend');
  legend.textContent = `Conflict ${number} of ${count}`;
  const versions = document.createElement('div');
  versions.className = 'conflict-versions';
  versions.append(renderVersion('Yours', kept.mine, kept.theirs), renderVersion('Theirs', kept.theirs, kept.mine));
  const edited = document.createElement('textarea');
  edited.setAttribute('aria-label', `Text for conflict ${number}`);
  edited.value = kept.edited;
  edited.rows = Math.min(12, mine.length + theirs.length + 1);
  edited.hidden = kept.choice !== 'edit';
  edited.addEventListener('input', () => {
    kept.edited = edited.value;
    keep();
  });
  const choices = document.createElement('div');
  for (const [choice, text] of CHOICES) {
    const label = document.createElement('label');
    const radio = document.createElement('input');
    radio.type = 'radio';
    radio.name = `place-${number}`;
    radio.required = true;
    radio.checked = kept.choice === choice;
    radio.addEventListener('change', () => {
      kept.choice = choice;
      keep();
      edited.hidden = choice !== 'edit';
      if (choice === 'edit') edited.focus();
    });
    label.append(radio, ` ${text}`);
    choices.append(label, ' ');
  }
  place.append(legend, versions, choices, edited);
  const result = () => {
    if (kept.choice === 'mine') return mine;
    if (kept.choice === 'theirs') return theirs;
    return kept.choice === 'both' ? [...mine, ...theirs] : edited.value === '' ? [] : edited.value.split('\n');
  };
  return { place, result };
}

/** Renders a version and marks the words that the other version does not have. */
function renderVersion(name: string, text: string, other: string): HTMLElement {
  const figure = document.createElement('figure');
  const caption = document.createElement('figcaption');
  caption.textContent = name;
  const shown = document.createElement('pre');
  shown.tabIndex = 0;
  const words =
    text.length + other.length > COMPARED_CHARACTERS
      ? [{ value: text, added: false, removed: false }]
      : diffWordsWithSpace(other, text);
  for (const { value, added, removed } of words) {
    if (removed) continue;
    const piece = document.createElement(added ? 'mark' : 'span');
    piece.textContent = value;
    shown.append(piece);
  }
  if (text === '') shown.textContent = '(deleted)';
  figure.append(caption, shown);
  return figure;
}

function button(label: string, value: string, isMain: boolean): HTMLButtonElement {
  const made = document.createElement('button');
  made.className = isMain ? 'button main' : 'button';
  made.value = value;
  made.textContent = label;
  made.formNoValidate = !isMain;
  return made;
}
