import { fileURLToPath } from 'node:url';
import { getDocument, type PDFDocumentProxy } from 'unpdf/pdfjs';
import { ExtractError } from '../extract-error.ts';
import { IMAGE_PIXELS } from './pictures/pictures.ts';

/**
 * The predefined encodings of Chinese, Japanese and Korean fonts, which unpdf does not include. A confined process gets
 * the directory in its environment.
 */
const CHARACTER_MAPS =
  process.env.CHARACTER_MAPS ?? fileURLToPath(new URL('cmaps/', import.meta.resolve('pdfjs-dist/package.json')));

/** Opens a PDF, including PDFs encrypted with an empty password. Throws an ExtractError if it cannot be opened. */
export async function openPdf(bytes: Uint8Array): Promise<PDFDocumentProxy> {
  try {
    return await getDocument({
      // PDF.js takes ownership of the bytes.
      data: new Uint8Array(bytes),
      // PDF.js must not load system fonts, addresses, or other files.
      cMapUrl: CHARACTER_MAPS,
      cMapPacked: true,
      useSystemFonts: false,
      disableFontFace: true,
      // Needed by readable-fonts.ts to see how a font maps codes to characters.
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
        'the PDF is password-protected; save it without a password and upload it again',
      );
    }
    throw unreadable();
  }
}

export function unreadable(): ExtractError {
  return new ExtractError('unreadable', 'the PDF is damaged and cannot be read; save it again and upload it again');
}
