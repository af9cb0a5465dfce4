import { Type } from 'typebox';
import { Id } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { defineJob } from '../../platform/jobs/define-job.ts';
import { MailRefused } from '../../platform/providers/mail/mail.ts';
import { type BillingLetter, billingMail } from './billing-mail.ts';

export const sendBillingMail = defineJob({
  name: 'send-billing-mail',
  for: 'workspace',
  lane: 'mail',
  key: ({ user_id, step, at }) => `${user_id} ${step} ${at}`,
  attempts: 10,
  timeoutSeconds: 60,
  input: Type.Object({ user_id: Id, step: Type.String(), at: Type.String() }),
  async run({ db: { query }, input, services }) {
    const [letter] = await query<Omit<BillingLetter, 'step'>>(sql`
      select u.email, w.name as workspace_name, w.slug, coalesce(s.amount_due, 0)::bigint as amount_due,
        coalesce(s.currency, '') as currency, s.writes_end_at
      from memberships m join users u on u.user_id = m.user_id join workspaces w on w.workspace_id = m.workspace_id
        left join subscriptions s on s.workspace_id = m.workspace_id
      where m.user_id = ${input.user_id} and m.role = 'owner' and m.status = 'active'`);
    // The recipient is no longer an owner.
    if (!letter) return;
    try {
      await services.mail.send(billingMail(services.publicUrl, { ...letter, step: input.step }));
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      services.log.warn({ err: error, ...input }, 'the mail server rejected a billing message');
    }
  },
});
