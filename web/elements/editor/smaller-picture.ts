/** Maximum length of a picture's longer side in pixels: twice the width of a page's text on a dense screen. */
const SIDE_MAX = 2_560;

/** Smaller files are uploaded unchanged, however many pixels they have. */
const BYTES_MIN = 1_000_000;

/** Largest ratio of new to old size at which the smaller picture is used. */
const WORTH = 0.8;

const QUALITY = 0.85;

/**
 * Types that a canvas can write without loss of content. SVG has no pixels, and of a GIF a canvas would write only the
 * first frame.
 */
const TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/webp']);

/**
 * Scales down a picture with far more pixels than a page shows, and applies its EXIF orientation. Returns other files,
 * and files that the browser cannot decode, unchanged. `note`: a message for the writer about the change.
 */
export async function smallerPicture(file: File): Promise<{ file: File; note?: string }> {
  if (!TYPES.has(file.type) || file.size < BYTES_MIN || (await isAnimated(file))) return { file };
  const picture = await createImageBitmap(file).catch(() => {
    // The file is damaged or too large to draw. The service will say which.
    return undefined;
  });
  if (!picture) return { file };
  const { width, height } = picture;
  const scale = SIDE_MAX / Math.max(width, height);
  if (scale >= 1) return { file };
  const blob = await drawn(picture, Math.round(width * scale), Math.round(height * scale), file.type);
  picture.close();
  if (!blob || blob.size > WORTH * file.size) return { file };
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  const name = file.name || 'The picture';
  return {
    file: new File([blob], file.name, { type: blob.type }),
    note: `${name} was scaled down: ${width} × ${height} to ${SIDE_MAX} pixels, ${megabytes(file.size)} to ${megabytes(blob.size)}.`,
  };
}

/** Returns whether a PNG or WebP is animated, which a chunk near its beginning states. */
async function isAnimated(file: File): Promise<boolean> {
  const start = new TextDecoder('latin1').decode(await file.slice(0, 4_096).arrayBuffer());
  return /acTL|ANIM/.test(start);
}

function drawn(picture: ImageBitmap, width: number, height: number, type: string): Promise<Blob | null> {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [width, height];
  const pen = canvas.getContext('2d');
  if (!pen) return Promise.resolve(null);
  pen.imageSmoothingQuality = 'high';
  pen.drawImage(picture, 0, 0, width, height);
  return new Promise((resolve) => canvas.toBlob(resolve, type, QUALITY));
}
