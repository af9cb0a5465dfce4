/**
 * Makes the width of the tree adjustable by pointer and arrow keys. The width, in rem, is stored in a cookie, so that
 * the service renders the next page with it and nothing moves when the scripts load.
 */
export function resizeSidebar(): void {
  const separator = document.querySelector<HTMLElement>('.sidebar-size');
  if (!separator) return;
  const root = document.documentElement;
  const [narrowest, widest] = [Number(separator.ariaValueMin), Number(separator.ariaValueMax)];
  const width = () => Number(separator.ariaValueNow);

  function set(rem: number): void {
    const now = String(Math.max(narrowest, Math.min(widest, Math.round(rem))));
    if (separator) separator.ariaValueNow = now;
    root.dataset.sidebar = now;
  }

  function keep(): void {
    const secure = location.protocol === 'https:' ? '; Secure' : '';
    // biome-ignore lint/suspicious/noDocumentCookie: Firefox and Safari of last year have no CookieStore.
    document.cookie = `sidebar=${width()}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
  }

  separator.addEventListener('pointerdown', (event) => {
    separator.setPointerCapture(event.pointerId);
    // Do not select text while dragging.
    event.preventDefault();
    separator.focus();
  });
  separator.addEventListener('pointermove', ({ pointerId, clientX }) => {
    if (!separator.hasPointerCapture(pointerId)) return;
    const isFromRight = getComputedStyle(root).direction === 'rtl';
    set((isFromRight ? innerWidth - clientX : clientX) / Number.parseFloat(getComputedStyle(root).fontSize));
  });
  separator.addEventListener('pointerup', keep);
  separator.addEventListener('keydown', ({ key }) => {
    const step = getComputedStyle(root).direction === 'rtl' ? -1 : 1;
    const to = { ArrowLeft: width() - step, ArrowRight: width() + step, Home: narrowest, End: widest }[key];
    if (to === undefined) return;
    set(to);
    keep();
  });
}
