import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { ApiError, notFound } from '../../platform/core/errors.ts';
import { Id, InputText } from '../../platform/core/records.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';

interface Facts {
  name: string;
  /** Whether a plan renews, or a payment may be in progress. */
  is_paid: boolean;
}

/** After the commit the workspace has no active members, so no credential has access. See docs/decisions/029-retention.md. */
export const deleteWorkspace = endpoint({
  method: 'POST',
  path: '/v1/workspaces/:workspace_id/deletion',
  summary: 'Delete a workspace',
  description:
    "Takes effect at once: the workspace's endpoints return 404, its keys, widget tokens and invitations stop working, and its jobs stop. An owner can restore everything within 30 days; after that, the workspace is purged with its wikis. 409 while a plan renews or a payment started in the last day may still arrive (`conflict`), and under a legal hold (`legal_hold`).",
  access: onWorkspace('workspace:delete', { session: true }),
  event: 'workspace.deleted',
  // The caller loses access and could not replay the response.
  idempotent: false,
  whenUnpaid: true,
  params: Type.Object({ workspace_id: Id }),
  body: Type.Object({ name: InputText({ description: 'The name of the workspace, as confirmation.' }) }),
  status: 204,
  reply: Type.Null(),
  errors: ['invalid_name', 'conflict', 'legal_hold'],
  example: { body: { name: 'Acme' }, reply: null },
  run: ({ body, transaction }) =>
    transaction(async (tx) => {
      const facts = await tx.maybeOne<Facts>(sql`
        select w.name,
          exists (
            select from subscriptions s
            where s.workspace_id = w.workspace_id and s.subscription_id <> '' and not s.cancel_at_period_end)
          or exists (
            select from billing_customers c
            where c.workspace_id = w.workspace_id and c.checkout_opened_at > now() - interval '1 day'
              and not exists (select from subscriptions s where s.workspace_id = c.workspace_id)) as is_paid
        from access a join workspaces w on w.workspace_id = a.workspace_id`);
      if (!facts) throw notFound();
      if (body.name.trim() !== facts.name) {
        throw new ApiError('invalid_name', 'This is not the name of the workspace. Nothing was deleted.');
      }
      if (facts.is_paid) {
        throw new ApiError(
          'conflict',
          'The workspace has a renewing plan, or a payment started in the last day. Cancel the plan on the page “Plan”, then delete the workspace.',
        );
      }
      await tx.one({
        deleted: sql`select a.workspace_id, delete_workspace(a.workspace_id) as is_deleted from access a`,
        before: sql`
          select w.workspace_id, w.name, w.slug from deleted d join workspaces w on w.workspace_id = d.workspace_id
          where d.is_deleted`,
        result: raw('select from before'),
      });
      return null;
    }),
});
