import assert from 'node:assert/strict';
import { minorDigits } from '../../../src/platform/providers/payments/money.ts';
import type { BilledWorkspace } from './billed-workspace.ts';

/**
 * Previews a change and makes it. Asserts that it charges the previewed amount exactly once, or nothing. Returns
 * whether the change made an invoice.
 */
export async function assertCharged(
  it: BilledWorkspace,
  plan_id: string,
  { isDoubled = false } = {},
): Promise<boolean> {
  const seen = await it.post('preview', { plan_id });
  if (seen.status !== 200) return false;
  const { currency, total, line_items } = seen.body;
  const minor = (amount: number) => Math.round(amount * 10 ** minorDigits(currency ?? 'usd'));
  const sum = (line_items as { total: number }[]).reduce((all, line) => all + minor(line.total), 0);
  assert.equal(sum, minor(total ?? 0), 'the lines of a preview are its total');
  const before = new Set(it.invoices().map(({ id }) => id));
  const body = { plan_id, preview_hash: seen.headers.get('preview-hash') ?? 'none' };
  const answers = await Promise.all([it.post('change', body), ...(isDoubled ? [it.post('change', body)] : [])]);
  const made = it.invoices().filter(({ id }) => !before.has(id));
  const due = made.reduce((all, invoice) => all + invoice.amount_due, 0);
  const told = `${plan_id}: ${JSON.stringify(seen.body)} → ${answers.map(({ status }) => status)}`;
  assert.ok(made.length <= 1, `a change is charged once; ${told}`);
  const isDone = answers.some(({ status }) => status === 200);
  if (isDone) assert.equal(due, Math.max(0, minor(total)), told);
  else assert.ok(made.length === 0 || due === Math.max(0, minor(total)), told);
  const [invoice] = made;
  // A credit larger than the charges goes to the balance.
  if (invoice && total < 0) assert.equal(invoice.total + Math.max(0, invoice.starting_balance), minor(total), told);
  return isDone && made.length === 1;
}
