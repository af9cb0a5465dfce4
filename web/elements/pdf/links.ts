import { importSibling } from '../lazy-modules.ts';
import type { PdfLink } from './messages.ts';
import type * as Panel from './panel.ts';

/** Opens links to PDFs beside the page. Without a script, and with a modified click, the browser's own viewer shows them. */
export function openPdfLinks(): void {
  document.addEventListener('click', async (event) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element).closest<HTMLAnchorElement>('a[data-pdf]');
    if (!link) return;
    event.preventDefault();
    try {
      const { openPdf } = (await importSibling('pdf.js')) as typeof Panel;
      openPdf(link, JSON.parse(link.dataset.pdf ?? '') as PdfLink);
    } catch {
      // After an update of the service the script has another address.
      location.href = link.href;
    }
  });
}
