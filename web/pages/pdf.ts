import { html } from '../html.ts';
import type { WebRoute } from '../visit.ts';

/**
 * The frame that shows PDFs. A file may be hostile, and PDF.js is large. So the frame is sandboxed into an opaque
 * origin, even when it is opened directly, and its policy allows no requests except for our scripts: the embedding page
 * sends the file in parts. `wasm-unsafe-eval` permits the decoders of JPEG 2000 and JBIG2, but no eval of scripts.
 */
export const pdfFrame: WebRoute = {
  method: 'GET',
  path: '/-/pdf',
  handle: async ({ assets }) => ({
    contentSecurityPolicy:
      "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src blob:; style-src 'unsafe-inline'; img-src blob: data:; font-src data:; frame-ancestors 'self'; sandbox allow-scripts",
    page: html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>PDF</title>
<style>
html { background: #d6d3ca; --zoom: 1; --column: 100vw; overflow-y: scroll }
body { margin: 8px; width: max-content; min-width: calc(100% - 16px) }
.page { --total-scale-factor: calc(var(--column) / 1px / var(--width) * var(--zoom)); --scale-round-x: 1px; --scale-round-y: 1px;
  position: relative; width: calc(var(--column) * var(--zoom)); aspect-ratio: var(--width) / var(--height); margin: 0 auto 8px; background: #fff; color: #333; overflow: clip; font: 1rem sans-serif }
.page canvas { display: block; width: 100%; height: 100% }
div.mark { position: absolute; background: #ffd84d; mix-blend-mode: multiply; border-radius: 2px; outline: 2px solid #a86f00; outline-offset: 1px }
span.mark { background: rgb(255 216 77 / 45%) }
.textLayer { position: absolute; inset: 0; overflow: clip; line-height: 1; text-align: initial; transform-origin: 0 0; forced-color-adjust: none; text-size-adjust: none;
  --min-font-size: 1; --text-scale-factor: calc(var(--total-scale-factor) * var(--min-font-size)); --min-font-size-inv: calc(1 / var(--min-font-size)) }
.textLayer :is(span, br) { position: absolute; color: transparent; white-space: pre; cursor: text; transform-origin: 0 0 }
.textLayer > :not(.markedContent), .textLayer .markedContent span:not(.markedContent) { --font-height: 0; --scale-x: 1; --rotate: 0deg;
  font-size: calc(var(--text-scale-factor) * var(--font-height)); transform: rotate(var(--rotate)) scaleX(var(--scale-x)) scale(var(--min-font-size-inv)) }
.textLayer .markedContent { display: contents }
.textLayer[data-main-rotation="90"] { transform: rotate(90deg) translateY(-100%) }
.textLayer[data-main-rotation="180"] { transform: rotate(180deg) translate(-100%, -100%) }
.textLayer[data-main-rotation="270"] { transform: rotate(270deg) translateX(-100%) }
.textLayer ::selection { background: rgb(0 90 200 / 30%) }
</style>
<script type="module" src="${assets.url('pdf-frame.js')}"></script></head><body tabindex="0"></body></html>
`,
  }),
};
