/**
 * Permissions of a frame: it may run under its own origin and open its own pages in other windows. It can neither
 * navigate this page nor read it.
 */
const SANDBOX =
  'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-presentation';

/**
 * Shows a card's content when its button is pressed, and removes it at the next press. Nothing is requested before
 * that.
 */
document.addEventListener('click', ({ target }) => {
  const button = target instanceof Element ? target.closest<HTMLButtonElement>('.embed-do') : null;
  const card = button?.closest<HTMLElement>('.embed');
  if (!button || !card) return;
  const shown = card.querySelector('iframe');
  if (shown) shown.remove();
  else card.append(frameOf(card, button.dataset.frame ?? ''));
  const words = card.querySelector('a')?.textContent ?? '';
  const verb = shown ? (button.dataset.verb ?? '') : 'Close';
  button.textContent = verb;
  button.setAttribute('aria-label', `${verb} ${words}`);
  button.setAttribute('aria-expanded', String(!shown));
});

function frameOf(card: HTMLElement, address: string): HTMLIFrameElement {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', SANDBOX);
  frame.allow = 'autoplay; fullscreen; picture-in-picture; encrypted-media';
  // Players refuse to play for a page that sends no origin. The path of the page is never sent.
  frame.referrerPolicy = card.classList.contains('video') ? 'strict-origin' : 'no-referrer';
  frame.title = card.querySelector('a')?.textContent ?? '';
  frame.src = address;
  return frame;
}
