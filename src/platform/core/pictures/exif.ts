/** Prefix of the TIFF structure in the Exif segment of a JPEG. Some writers also put it in a WebP. */
export const EXIF = Buffer.from('Exif\0\0', 'latin1');

/** Returns the orientation of the camera, 1 to 8; 1 (upright) if the TIFF structure does not contain it. */
export function orientationOf(tiff: Buffer): number {
  const isLittle = tiff.toString('latin1', 0, 2) === 'II';
  const at16 = (at: number) => (at + 2 > tiff.length ? 0 : isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const directory = tiff.length < 8 ? tiff.length : isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  for (let entry = 0; entry < at16(directory); entry += 1) {
    const at = directory + 2 + entry * 12;
    if (at + 12 > tiff.length) return 1;
    if (at16(at) !== 0x0112) continue;
    const value = at16(at + 8);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

/**
 * Creates a TIFF structure with only an orientation. Browsers apply it to a JPEG; for WebP only some other programs
 * apply it.
 */
export function tiffOf(orientation: number): Buffer {
  const tiff = Buffer.from('4d4d002a000000080001011200030000000100000000' + '00000000', 'hex');
  tiff.writeUInt16BE(orientation, 18);
  return tiff;
}
