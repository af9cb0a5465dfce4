import { sha256 } from '../../platform/core/secrets.ts';
import type { BillingPreview } from './schema.ts';

/** Response header with the hash, because the record of a preview has exactly the fields of the specification. */
export const PREVIEW_HASH_HEADER = 'preview-hash';

/**
 * Hashes all contents of a preview. A change of plan must send the hash, so that customers are only charged amounts
 * they have seen.
 */
export function previewHash({ plan_id, checkout_type, currency, line_items, subtotal, total }: BillingPreview): string {
  const lines = line_items.map((line) => [line.name, line.description, line.quantity, line.subtotal, line.total]);
  return sha256(JSON.stringify([plan_id, checkout_type, currency, lines, subtotal, total])).toString('base64url');
}
