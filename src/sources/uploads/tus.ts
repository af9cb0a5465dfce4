import { ApiError } from '../../platform/core/errors.ts';

/** The supported subset of https://tus.io/protocols/resumable-upload, version 1.0.0. */
export const TUS = { 'tus-resumable': '1.0.0', 'tus-version': '1.0.0' };
export const TUS_EXTENSIONS = 'expiration,checksum';
const ALGORITHMS = ['sha256', 'sha1', 'md5'];
export const TUS_ALGORITHMS = ALGORITHMS.join(',');

export const TUS_RESUMABLE = 'Version of the protocol: 1.0.0.';

type ReadHeader = (name: string) => string | undefined;

/** Answers 412 for an unsupported version, or for a missing one if it is required. */
export function requireTus(header: ReadHeader, isNeeded = true): void {
  const version = header('Tus-Resumable');
  if (version === '1.0.0' || (version === undefined && !isNeeded)) return;
  throw new ApiError('precondition_failed', 'Send Tus-Resumable: 1.0.0.');
}

/** Parses Upload-Offset. Answers 400 if it is not a number of bytes. */
export function readOffset(header: ReadHeader): number {
  const text = header('Upload-Offset') ?? '';
  if (!/^\d{1,15}$/.test(text)) {
    throw new ApiError('invalid_request', 'Send Upload-Offset: the number of bytes that the file already has.');
  }
  return Number(text);
}

export interface Checksum {
  algorithm: string;
  digest: Buffer;
}

/** Parses `sha256 <base64>`. Returns undefined if the client sent no checksum; answers 400 if it is invalid. */
export function readChecksum(header: ReadHeader): Checksum | undefined {
  const text = header('Upload-Checksum');
  if (text === undefined) return undefined;
  const [, algorithm = '', digest = ''] = /^(\w+) ([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  if (ALGORITHMS.includes(algorithm)) return { algorithm, digest: Buffer.from(digest, 'base64') };
  throw new ApiError(
    'invalid_request',
    `Send Upload-Checksum as an algorithm (${TUS_ALGORITHMS}), a space and the digest in base64.`,
  );
}
