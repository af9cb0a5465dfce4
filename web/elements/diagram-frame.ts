import type { DrawRequest, DrawResult } from './diagrams.ts';

/** What Mermaid's own script, which stands before this one, leaves in the window. */
declare const mermaid: {
  initialize(config: object): void;
  render(id: string, text: string): Promise<{ svg: string }>;
};

/** Draws what the page around asks for. It may be hostile, and whatever it does it does in here: see web/pages/diagram.ts. */
addEventListener('message', ({ source, data }: MessageEvent<DrawRequest>) => {
  if (source === parent) void draw(data);
});

const reply = (drawn: DrawResult) => parent.postMessage(drawn, '*');

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
    document.body.innerHTML = svg;
    // A link would lead the frame away, and that is all it could lead.
    for (const link of document.querySelectorAll('a')) {
      for (const name of ['href', 'xlink:href']) link.removeAttribute(name);
    }
    reply({ height: Math.ceil(document.body.getBoundingClientRect().height) });
  } catch (error) {
    // The page shows the text of what cannot be drawn, and this below it.
    reply({ height: 0, problem: String((error as Error).message) });
  }
}

// The same picture is lower in a narrower window.
new ResizeObserver(() => {
  const { height } = document.body.getBoundingClientRect();
  if (height > 0) reply({ height: Math.ceil(height) });
}).observe(document.body);
