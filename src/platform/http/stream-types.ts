/** Media types of streamed bodies. */
export const STREAM_TYPES = {
  multipart: ['multipart/form-data'],
  bytes: ['application/offset+octet-stream'],
  picture: ['image/png', 'image/jpeg', 'image/webp', 'image/gif'],
} as const satisfies Record<string, readonly string[]>;

/** Lists the accepted media types, for the error message about another type. */
export function typesInWords(consumes: keyof typeof STREAM_TYPES): string {
  return STREAM_TYPES[consumes].join(' or ');
}
