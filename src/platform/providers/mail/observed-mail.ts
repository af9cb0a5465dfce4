import { traced } from '../../core/tracing.ts';
import { type Mail, MailRefused } from './mail.ts';

/**
 * sent: the mail server accepted the message. deferred: it may be sent again. refused: the server refuses it
 * permanently.
 */
export const MAIL_OUTCOMES = ['sent', 'deferred', 'refused'] as const;
export type MailOutcome = (typeof MAIL_OUTCOMES)[number];

/** Called after each attempt to hand a message to the mail server. */
export type OnMail = (outcome: MailOutcome) => void;

/** Wraps a mail provider and reports the outcome of each message. */
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
