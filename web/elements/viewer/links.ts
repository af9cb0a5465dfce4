import { importSibling } from '../lazy-modules.ts';
import type { PdfLink } from '../pdf/messages.ts';
import type { SourceLink } from './messages.ts';
import type * as Viewer from './viewer.ts';

/**
 * Opens links to PDFs and to the text of sources in a panel next to the page. Without a script, or with a modified
 * click, the browser's own viewer shows a PDF, and the page of the source shows its text.
 */
export function openViewerLinks(): void {
  document.addEventListener('click', async (event) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element).closest<HTMLAnchorElement>('a[data-pdf], a[data-source]');
    if (!link) return;
    event.preventDefault();
    const { pdf, source } = link.dataset;
    try {
      const { openPdf, openSource } = (await importSibling('viewer.js')) as typeof Viewer;
      if (pdf !== undefined) openPdf(link, JSON.parse(pdf) as PdfLink);
      else openSource(link, JSON.parse(source ?? '') as SourceLink);
    } catch {
      // After an update of the service the script has another address.
      location.href = link.href;
    }
  });
}
