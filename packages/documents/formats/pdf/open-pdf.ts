import { fileURLToPath } from 'node:url';
import { getDocument, type PDFDocumentProxy } from 'unpdf/pdfjs';
import { ExtractError } from '../extract-error.ts';
import { IMAGE_PIXELS } from './pictures/pictures.ts';

/**
 * The predefined encodings of Chinese, Japanese and Korean fonts: unpdf has the library without its data. A confined process is
 * told where they are.
 */
const CHARACTER_MAPS =
  process.env.CHARACTER_MAPS ?? fileURLToPath(new URL('cmaps/', import.meta.resolve('pdfjs-dist/package.json')));

/** Opens a PDF; one that is encrypted with an empty password, too. Throws an ExtractError if it cannot. */
export async function openPdf(bytes: Uint8Array): Promise<PDFDocumentProxy> {
  try {
    return await getDocument({
      // The library takes ownership of the bytes.
      data: new Uint8Array(bytes),
      // The library must not load system fonts, addresses, or files other than these.
      cMapUrl: CHARACTER_MAPS,
      cMapPacked: true,
      useSystemFonts: false,
      disableFontFace: true,
      // A font tells how its codes became characters: see readable-fonts.ts.
      fontExtraProperties: true,
      useWorkerFetch: false,
      enableXfa: false,
      maxImageSize: IMAGE_PIXELS,
      verbosity: 0,
    }).promise;
  } catch (error) {
    if ((error as Error).name === 'PasswordException') {
      throw new ExtractError(
        'unreadable',
        'the PDF is protected by a password; save it without one and upload it again',
      );
    }
    throw unreadable();
  }
}

export function unreadable(): ExtractError {
  return new ExtractError('unreadable', 'the PDF is damaged and cannot be read; save it again and upload it again');
}
