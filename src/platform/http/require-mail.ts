import { ApiError } from '../core/errors.ts';
import { type Mail, MailUnavailable } from '../providers/mail/mail.ts';

/**
 * Throws 503 `email_unavailable` if the mail server does not respond. The check can be slow, so call it outside
 * transactions.
 */
export async function requireMail(mail: Mail): Promise<void> {
  try {
    await mail.check();
  } catch (cause) {
    if (!(cause instanceof MailUnavailable)) throw cause;
    throw new ApiError('email_unavailable', 'The mail server is not responding. Try again in a moment.', { cause });
  }
}
