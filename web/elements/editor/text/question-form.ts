/** A question next to the text: a labelled field, and two buttons that answer or cancel. */
interface Question {
  className: string;
  label: string;
  placeholder: string;
  buttons: readonly [answer: string, leave: string];
  onAnswer(text: string): void;
  onLeave(): void;
}

/** Creates the form of a question. Enter answers. Escape cancels, except as a key of an input method. */
export function questionForm({ className, label: words, placeholder, buttons, onAnswer, onLeave }: Question) {
  const form = document.createElement('form');
  form.className = className;
  const label = document.createElement('label');
  const input = document.createElement('input');
  input.placeholder = placeholder;
  label.append(words, input);
  form.append(label);
  buttons.forEach((name, i) => {
    const button = document.createElement('button');
    button.className = 'button';
    button.textContent = name;
    if (i > 0) {
      button.type = 'button';
      button.addEventListener('click', onLeave);
    }
    form.append(button);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    onAnswer(input.value);
  });
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.isComposing) return;
    event.preventDefault();
    onLeave();
  });
  return { form, input };
}
