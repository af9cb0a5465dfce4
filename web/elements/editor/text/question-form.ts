/** What is asked beside the text: by a field with a label, and two buttons that answer or leave the question. */
interface Question {
  className: string;
  label: string;
  placeholder: string;
  buttons: readonly [answer: string, leave: string];
  onAnswer(text: string): void;
  onLeave(): void;
}

/** Enter answers; Escape leaves the question, and is no key of an input method. */
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
