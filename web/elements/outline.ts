/** Marks the heading in the outline that the reader has scrolled to, until the signal is aborted. */
export function highlightCurrentHeading(signal: AbortSignal): void {
  const links = new Map<Element, HTMLAnchorElement>();
  for (const link of document.querySelectorAll<HTMLAnchorElement>('.outline a')) {
    const heading = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (heading) links.set(heading, link);
  }
  if (links.size === 0) return;
  const headings = [...links.keys()];
  const panel = links.values().next().value?.closest<HTMLElement>('.outline');
  let shown: Element | undefined;
  let frame = 0;

  function mark(): void {
    frame = 0;
    // The current heading is the last heading in the upper third of the window or above.
    const line = innerHeight / 3;
    const current = headings.findLast((heading) => heading.getBoundingClientRect().top < line) ?? headings[0];
    if (current === shown) return;
    shown = current;
    for (const [heading, link] of links) link.classList.toggle('here', heading === current);
    const link = current && links.get(current);
    // Scroll an outline that is longer than the window.
    if (panel && link)
      panel.scrollTop += link.getBoundingClientRect().top - panel.getBoundingClientRect().top - panel.clientHeight / 2;
  }

  addEventListener('scroll', () => (frame ||= requestAnimationFrame(mark)), { passive: true, signal });
  mark();
}
