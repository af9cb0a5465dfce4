import { html } from '../html.ts';
import type { WebRoute } from '../visit.ts';

/**
 * The frame in which a page's diagrams are drawn. What it draws may be hostile, and Mermaid writes styles of its own: so it
 * has no origin, whoever opens it, and its policy lets nothing leave it, not even for a picture. It knows nothing of anybody.
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
