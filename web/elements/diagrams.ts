import { onPage } from './on-page.ts';

/** The frame's reply: the height of the diagram in CSS pixels, or 0 and the reason why it cannot be drawn. */
export interface DrawResult {
  height: number;
  problem?: string;
}

/** The message to the frame: the diagram to draw, in the colours of the page. */
export interface DrawRequest {
  text: string;
  isDark: boolean;
  font: string;
  colours: Record<string, string>;
}

/** Limits the height that a hostile diagram can claim. */
const MAX_HEIGHT_PX = 6_000;

/** Limits the length of Mermaid's error message, in characters. */
const MAX_PROBLEM_LENGTH = 500;

/** Mermaid's theme variables, with the custom properties that supply their values. */
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

const visibility = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      visibility.unobserve(target);
      draw(target as HTMLElement);
    }
  },
  { rootMargin: '400px' },
);

/**
 * Draws the diagrams of an element, each when it is scrolled near. They are drawn in sandboxed frames of an opaque
 * origin, which cannot reach the page, the service or the network, and report only their height. The text is kept for
 * readers who cannot see the picture; it alone is shown if the diagram cannot be drawn.
 */
export function drawDiagrams(root: ParentNode): void {
  for (const source of root.querySelectorAll<HTMLElement>('pre.mermaid:not(.diagram *)')) visibility.observe(source);
}

/** Aborted when the reader leaves the current page. */
let left: AbortSignal | undefined;

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
  // An opaque origin cannot be named as a target. The message contains only content of the page.
  const requestDrawing = () => frame.contentWindow?.postMessage(drawRequest(figure, text, isDark.matches), '*');
  const onMessage = ({ source: from, data }: MessageEvent) => {
    if (!frame.isConnected) return stop();
    if (from !== frame.contentWindow) return;
    const { height, problem } = (data ?? {}) as Partial<Record<keyof DrawResult, unknown>>;
    if (typeof height === 'number' && height > 0) return show(figure, frame, source, Math.min(height, MAX_HEIGHT_PX));
    stop();
    source.dataset.problem = `Could not draw this diagram. ${String(problem).slice(0, MAX_PROBLEM_LENGTH)}`;
    figure.replaceWith(source);
  };
  const stop = () => {
    removeEventListener('message', onMessage);
    isDark.removeEventListener('change', requestDrawing);
  };
  frame.addEventListener('load', requestDrawing);
  isDark.addEventListener('change', requestDrawing);
  addEventListener('message', onMessage);
  // A frame removed with its page sends no more messages, so its listeners must be removed here.
  left?.addEventListener('abort', stop, { once: true });
}

function show(figure: HTMLElement, frame: HTMLIFrameElement, source: HTMLElement, height: number): void {
  frame.style.height = `${height}px`;
  if (figure.classList.contains('drawn')) return;
  figure.classList.add('drawn');
  const details = document.createElement('details');
  const summary = document.createElement('summary');
  summary.textContent = 'Diagram source';
  details.append(summary, source);
  figure.append(details);
}

function drawRequest(figure: HTMLElement, text: string, prefersDark: boolean): DrawRequest {
  const { theme } = document.documentElement.dataset;
  const probe = document.createElement('span');
  figure.append(probe);
  const style = getComputedStyle(probe);
  const colours: Record<string, string> = {};
  for (const [name, property] of Object.entries(COLOURS)) {
    // Mermaid calculates with colours, so it needs computed values instead of var() and light-dark().
    probe.style.color = `var(${property})`;
    colours[name] = style.color;
  }
  const font = style.fontFamily;
  probe.remove();
  return { text, isDark: theme === 'dark' || (theme !== 'light' && prefersDark), font, colours };
}

onPage((signal) => {
  left = signal;
  visibility.disconnect();
  drawDiagrams(document);
});
