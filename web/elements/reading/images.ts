/** Smaller pictures, such as badges and icons in a line, cannot be enlarged. */
const WIDTH_MIN = 200;

/** Enlarges a picture to the size of the window on a click or Enter. A picture in a link follows the link. */
export function enlargeImages(prose: HTMLElement): void {
  for (const image of prose.querySelectorAll('img')) {
    replaceIfBroken(image);
    if (image.closest('a')) continue;
    const makeUsable = () => {
      if (image.naturalWidth <= Math.max(WIDTH_MIN, image.clientWidth)) return;
      image.tabIndex = 0;
      image.setAttribute('role', 'button');
      image.setAttribute('aria-label', `Enlarge the picture ${image.alt}`.trim());
      image.classList.add('zooms');
      image.addEventListener('click', () => open(image));
      image.addEventListener('keydown', (event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        open(image);
      });
    };
    if (image.complete) makeUsable();
    else image.addEventListener('load', makeUsable, { once: true });
  }
}

/**
 * Replaces a player that cannot play its file with the link to the file. A player with several sources fails at the
 * last one.
 */
export function replaceBrokenPlayers(prose: HTMLElement): void {
  for (const player of prose.querySelectorAll<HTMLMediaElement>('audio, video')) {
    const failing = player.querySelector('source:last-of-type') ?? player;
    const replace = () => {
      const place = document.createElement('span');
      place.append(...[...player.childNodes].filter((node) => node.nodeName !== 'SOURCE'));
      player.replaceWith(place);
    };
    failing.addEventListener('error', replace, { once: true });
    if (player.error || player.networkState === HTMLMediaElement.NETWORK_NO_SOURCE) replace();
  }
}

/** Replaces a picture that cannot be loaded, for which a browser draws only a small broken icon. */
function replaceIfBroken(image: HTMLImageElement): void {
  const replace = () => {
    const place = document.createElement('span');
    place.className = 'no-picture';
    place.setAttribute('role', 'img');
    const label = image.alt.trim();
    place.ariaLabel = label === '' ? 'Picture unavailable' : `${label} (picture unavailable)`;
    place.textContent = label || 'Picture unavailable';
    place.title = image.src;
    image.replaceWith(place);
  };
  image.addEventListener('error', replace, { once: true });
  if (image.complete && image.naturalWidth === 0) image.decode().catch(replace);
}

function open({ src, alt }: HTMLImageElement): void {
  const dialog = document.createElement('dialog');
  dialog.className = 'zoom';
  dialog.setAttribute('aria-label', alt || 'Picture');
  const large = document.createElement('img');
  large.src = src;
  large.alt = alt;
  large.referrerPolicy = 'no-referrer';
  const close = document.createElement('button');
  close.type = 'button';
  close.textContent = '×';
  close.setAttribute('aria-label', 'Close');
  dialog.append(large, close);
  dialog.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
