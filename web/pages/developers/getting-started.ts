import { readFile } from 'node:fs/promises';
import { PACKAGE } from '../../../src/platform/core/package/package-files.ts';
import { fromApi, html } from '../../html.ts';
import type { Visit, WebResponse } from '../../visit.ts';
import { developerPage } from './developer-page.ts';

const FILE = new URL('docs/getting-started.md', PACKAGE);
let text: Promise<string> | undefined;

/** Renders docs/getting-started.md with the address of this service in its commands. */
export async function gettingStartedPage(visit: Visit): Promise<WebResponse> {
  text ??= render(visit.publicUrl);
  return {
    page: developerPage(visit, {
      title: 'Getting started',
      body: html`<main class="reference-plain">${fromApi(await text)}</main>`,
    }),
  };
}

async function render(publicUrl: string): Promise<string> {
  // Load the parser on the first visit, because no other page needs it in this process.
  const { renderMarkdown } = await import('@ibid/markdown/render.ts');
  const text = await readFile(FILE, 'utf8');
  return renderMarkdown(text.replaceAll('](errors.md', '](/docs/errors').replaceAll('http://127.0.0.1:8080', publicUrl))
    .html;
}
