/** What the frame says of a diagram: how high it is in CSS pixels, or 0 and why it cannot be drawn. */
export interface Drawn {
  height: number;
  problem?: string;
}

/** What the frame is asked to draw, in the colours of the page around. */
export interface Drawing {
  text: string;
  isDark: boolean;
  font: string;
  colours: Record<string, string>;
}

/** Higher than any screen, and lower than what a hostile diagram could ask for. */
const MOST_HIGH = 6_000;

/** Characters of what Mermaid says is wrong. */
const MOST_WORDS = 500;

/** Of Mermaid's colours, which of ours they are. */
const COLOURS = {
  background: '--paper',
  primaryColor: '--accent-soft',
  primaryTextColor: '--ink',
  primaryBorderColor: '--accent',
  secondaryColor: '--paper-3',
  tertiaryColor: '--paper-2',
  edgeLabelBackground: '--paper',
  lineColor: '--ink-2',
  textColor: '--ink',
  noteBkgColor: '--note-soft',
  noteTextColor: '--ink',
} as const;

const watching = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      watching.unobserve(target);
      draw(target as HTMLElement);
    }
  },
  { rootMargin: '400px' },
);

/**
 * Draws the diagrams of an element, each when it comes near what is seen. They are drawn in frames of no origin, from where
 * nothing of the page, of the service or of the network can be reached; what comes back is how high the picture is. The
 * text stays, for whoever cannot see the picture, and alone where it cannot be drawn.
 */
export function drawDiagrams(root: ParentNode): void {
  for (const source of root.querySelectorAll<HTMLElement>('pre.mermaid:not(.diagram *)')) watching.observe(source);
}

function draw(source: HTMLElement): void {
  const text = source.textContent ?? '';
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.title = 'Diagram';
  frame.src = '/-/diagram';
  const figure = document.createElement('figure');
  figure.className = 'diagram';
  source.replaceWith(figure);
  figure.append(frame, source);

  const isDark = matchMedia('(prefers-color-scheme: dark)');
  // The frame has no origin that could be named, and what it is told is what stands in the page.
  const ask = () => frame.contentWindow?.postMessage(drawingOf(figure, text, isDark.matches), '*');
  const listen = ({ source: from, data }: MessageEvent) => {
    if (!frame.isConnected) return stop();
    if (from !== frame.contentWindow) return;
    const { height, problem } = (data ?? {}) as Partial<Record<keyof Drawn, unknown>>;
    if (typeof height === 'number' && height > 0) return show(figure, frame, source, Math.min(height, MOST_HIGH));
    stop();
    source.dataset.problem = `This cannot be drawn. ${String(problem).slice(0, MOST_WORDS)}`;
    figure.replaceWith(source);
  };
  const stop = () => {
    removeEventListener('message', listen);
    isDark.removeEventListener('change', ask);
  };
  frame.addEventListener('load', ask);
  isDark.addEventListener('change', ask);
  addEventListener('message', listen);
}

function show(figure: HTMLElement, frame: HTMLIFrameElement, source: HTMLElement, height: number): void {
  frame.style.height = `${height}px`;
  if (figure.classList.contains('drawn')) return;
  figure.classList.add('drawn');
  const details = document.createElement('details');
  const summary = document.createElement('summary');
  summary.textContent = 'The diagram as text';
  details.append(summary, source);
  figure.append(details);
}

function drawingOf(place: HTMLElement, text: string, prefersDark: boolean): Drawing {
  const { theme } = document.documentElement.dataset;
  const probe = document.createElement('span');
  place.append(probe);
  const style = getComputedStyle(probe);
  const colours: Record<string, string> = {};
  for (const [name, property] of Object.entries(COLOURS)) {
    // A computed colour is one that Mermaid can count with, whatever the style sheet says.
    probe.style.color = `var(${property})`;
    colours[name] = style.color;
  }
  const font = style.fontFamily;
  probe.remove();
  return { text, isDark: theme === 'dark' || (theme !== 'light' && prefersDark), font, colours };
}

drawDiagrams(document);
