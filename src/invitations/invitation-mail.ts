import { ApiError } from '../core/errors.ts';
import { escapeHtml } from '../core/escape-html.ts';
import type { Services } from '../http/services.ts';
import { MailUnavailable } from '../providers/mail/mail.ts';

interface InvitationLetter {
  email: string;
  role: string;
  workspace_name: string;
  inviter_name: string;
  expires_at: string;
  secret: string;
}

/**
 * Sends the letter with the link. Call it in the transaction that stores the invitation: 503 `email_unavailable` undoes
 * that. The link's host is PUBLIC_URL's alone.
 */
export async function sendInvitation(services: Services, letter: InvitationLetter): Promise<void> {
  const link = `${services.publicUrl}/invitations/accept?token=${letter.secret}`;
  const workspace = oneLine(letter.workspace_name);
  const inviter = oneLine(letter.inviter_name);
  const until = letter.expires_at.slice(0, 10);
  const intro = `${inviter} invites you to join "${workspace}" as ${letter.role}.`;
  try {
    await services.mail.send({
      to: letter.email,
      subject: `Invitation to ${workspace}`,
      text: `${intro}\n\nAccept the invitation until ${until}:\n${link}\n\nIf you do not know what this is about, ignore this message.\n`,
      html: `<p>${escapeHtml(intro)}</p>
<p><a href="${escapeHtml(link)}">Accept the invitation</a> (until ${until})</p>
<p>If you do not know what this is about, ignore this message.</p>
`,
    });
  } catch (cause) {
    if (!(cause instanceof MailUnavailable)) throw cause;
    throw new ApiError(
      'email_unavailable',
      'The invitation could not be sent, so it was not made. Try again in a moment.',
      { cause },
    );
  }
}

function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, 100);
}
