import type { DrawRequest, DrawResult } from './diagrams.ts';

/** The global of Mermaid's own script, which is loaded before this one. */
declare const mermaid: {
  initialize(config: object): void;
  render(id: string, text: string): Promise<{ svg: string }>;
};

/**
 * Draws the diagram that the embedding page sends. The text may be hostile; the sandbox of web/pages/diagram.ts
 * contains it.
 */
addEventListener('message', ({ source, data }: MessageEvent<DrawRequest>) => {
  if (source === parent) void draw(data);
});

const reply = (drawn: DrawResult) => parent.postMessage(drawn, '*');

/**
 * The element with the drawn diagram. Its own height is reported, because Mermaid adds elements to the body while it
 * measures.
 */
const place = document.createElement('div');
document.body.append(place);

async function draw({ text, isDark, font, colours }: DrawRequest): Promise<void> {
  document.documentElement.style.colorScheme = isDark ? 'dark' : 'light';
  try {
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: 'strict',
      suppressErrorRendering: true,
      theme: 'base',
      fontFamily: font,
      themeVariables: {
        ...colours,
        darkMode: isDark,
        fontFamily: font,
        fontSize: '15px',
        dropShadow: 'none',
        useGradient: false,
      },
    });
    const { svg } = await mermaid.render('diagram', text);
    place.innerHTML = svg;
    document.body.replaceChildren(place);
    // A link would navigate the frame to another page.
    for (const link of place.querySelectorAll('a')) {
      for (const name of ['href', 'xlink:href']) link.removeAttribute(name);
    }
    reply({ height: Math.ceil(place.getBoundingClientRect().height) });
  } catch (error) {
    // The page shows the text of the diagram and this message below it.
    reply({ height: 0, problem: String((error as Error).message) });
  }
}

// The height depends on the width of the window.
new ResizeObserver(() => {
  const { height } = place.getBoundingClientRect();
  if (height > 0) reply({ height: Math.ceil(height) });
}).observe(place);
