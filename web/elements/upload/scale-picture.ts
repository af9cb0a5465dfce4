/** Pixels of the longer side of a picture of a person, twice of what is ever shown. */
const SIDE = 512;

/**
 * A picture made as small as pictures of people are shown, which loses where it was taken and turns it upright. What the
 * browser cannot read, or is small enough, stays as it is: the service says what is wrong with it.
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
  // Only photos have no transparency.
  const type = file.type === 'image/jpeg' ? 'image/jpeg' : 'image/png';
  return new Promise((resolve) => canvas.toBlob((scaled) => resolve(scaled ?? file), type, 0.9));
}
