/** Marks the heading in the outline that the reader has scrolled to. */
export function highlightCurrentHeading(): void {
  const links = new Map<Element, HTMLAnchorElement>();
  for (const link of document.querySelectorAll<HTMLAnchorElement>('.outline a')) {
    const heading = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (heading) links.set(heading, link);
  }
  if (links.size === 0) return;
  const headings = [...links.keys()];
  const observer = new IntersectionObserver(
    () => {
      // The current heading is the last one in the upper third of the window or above.
      const line = innerHeight / 3;
      const current = headings.findLast((heading) => heading.getBoundingClientRect().top < line) ?? headings[0];
      for (const [heading, link] of links) link.classList.toggle('here', heading === current);
    },
    { rootMargin: '0px 0px -66% 0px', threshold: [0, 1] },
  );
  for (const heading of headings) observer.observe(heading);
}
