import type { PDFPageProxy } from 'unpdf/pdfjs';
import { type Line, linesOf, type PlacedText } from './lines.ts';

/** A page as lines, in points. */
export interface PdfPage {
  /** The object number of the page in the PDF; 0 if it cannot be read. */
  object: number;
  height: number;
  bottom: number;
  lines: Line[];
}

export async function readPage(page: PDFPageProxy): Promise<PdfPage> {
  const [, bottom = 0, , top = 0] = page.view;
  const { items } = await page.getTextContent({ disableNormalization: false });
  const links = await linksOf(page);
  const texts: PlacedText[] = [];
  for (const item of items) {
    if (!('str' in item)) continue;
    const [a, b, c, d, x, y] = item.transform as [number, number, number, number, number, number];
    // Text that runs up the margin is a stamp.
    if (Math.abs(b) > Math.abs(a)) continue;
    const size = Math.hypot(c, d) || item.height;
    const middle = { x: x + item.width / 2, y: y + size / 3 };
    const link = links.find(
      (area) => area.x0 <= middle.x && middle.x <= area.x1 && area.y0 <= middle.y && middle.y <= area.y1,
    );
    texts.push({ text: item.str.replace(/\s+/g, ' '), x, y, width: item.width, size, url: link?.url ?? '' });
  }
  page.cleanup();
  return { object: page.ref?.num ?? 0, height: top - bottom, bottom, lines: linesOf(texts) };
}

interface LinkArea {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
  url: string;
}

async function linksOf(page: PDFPageProxy): Promise<LinkArea[]> {
  const annotations = (await page.getAnnotations()) as { subtype?: string; url?: string; rect?: number[] }[];
  return annotations.flatMap(({ subtype, url, rect }) => {
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = rect ?? [];
    return subtype === 'Link' && url !== undefined && /^https?:\/\//i.test(url) ? [{ x0, y0, x1, y1, url }] : [];
  });
}
