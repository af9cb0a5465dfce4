import { html } from '../html.ts';
import type { WebRoute } from '../visit.ts';

/**
 * The frame that draws diagrams. Their text may be hostile, and Mermaid needs inline styles. So the frame is sandboxed
 * into an opaque origin, even when it is opened directly, and its policy allows no requests except for our scripts.
 */
export const diagramFrame: WebRoute = {
  method: 'GET',
  path: '/-/diagram',
  handle: async ({ assets }) => ({
    contentSecurityPolicy:
      "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'; sandbox allow-scripts",
    page: html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>Diagram</title>
<style>html, body { margin: 0; background: none } body { overflow: hidden } svg { display: block; margin: 0 auto; max-width: 100%; height: auto }</style>
<script src="${assets.url('mermaid.js')}" defer></script><script src="${assets.url('diagram-frame.js')}" defer></script></head><body></body></html>
`,
  }),
};
