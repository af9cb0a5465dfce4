/** Pixels of the longer side of a person's picture: twice the largest displayed size. */
const SIDE = 512;

/**
 * Scales a picture down to the size of a person's picture, which removes its location and applies its orientation.
 * Returns a small picture, or a file that the browser cannot decode, unchanged; the service reports its errors.
 */
export async function scalePicture(file: Blob): Promise<Blob> {
  let image: ImageBitmap;
  try {
    image = await createImageBitmap(file);
  } catch {
    return file;
  }
  const scale = SIDE / Math.max(image.width, image.height);
  if (scale >= 1) {
    image.close();
    return file;
  }
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(image.width * scale));
  canvas.height = Math.max(1, Math.round(image.height * scale));
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  image.close();
  // Only JPEG has no transparency to lose.
  const type = file.type === 'image/jpeg' ? 'image/jpeg' : 'image/png';
  return new Promise((resolve) => canvas.toBlob((scaled) => resolve(scaled ?? file), type, 0.9));
}
