import { traced } from '../../core/tracing.ts';
import { type Mail, MailRefused } from './mail.ts';

/** sent: the mail server has it. deferred: it may be sent again. refused: the server will not take it. */
export const MAIL_OUTCOMES = ['sent', 'deferred', 'refused'] as const;
export type MailOutcome = (typeof MAIL_OUTCOMES)[number];

/** Called after each attempt to hand a message to the mail server. */
export type OnMail = (outcome: MailOutcome) => void;

/** A mail provider that reports how each message went. */
export function observedMail(mail: Mail, onMail: OnMail | undefined): Mail {
  return {
    check: mail.check,
    send: (message) =>
      traced('mail.send', 'client', {}, async () => {
        try {
          await mail.send(message);
        } catch (error) {
          onMail?.(error instanceof MailRefused ? 'refused' : 'deferred');
          throw error;
        }
        onMail?.('sent');
      }),
  };
}
