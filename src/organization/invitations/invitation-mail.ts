import { escapeHtml } from '../../platform/core/escape-html.ts';
import type { Message } from '../../platform/providers/mail/mail.ts';
import { plainName } from '../../platform/providers/mail/plain-name.ts';

export interface InvitationLetter {
  email: string;
  role: string;
  workspace_name: string;
  inviter_name: string;
  expires_at: string;
  secret: string;
}

/**
 * Writes the email with the link. The link's host is PUBLIC_URL's, and names chosen by users are stripped of other
 * links.
 */
export function invitationMail(publicUrl: string, letter: InvitationLetter): Message {
  const link = `${publicUrl}/invitations/accept?token=${letter.secret}`;
  const workspace = plainName(letter.workspace_name, 'a workspace');
  const inviter = plainName(letter.inviter_name, 'A member');
  const until = letter.expires_at.slice(0, 10);
  const intro = `"${inviter}" invited you to join the workspace "${workspace}". Your role: ${letter.role}.`;
  return {
    to: letter.email,
    subject: `Invitation to "${workspace}"`,
    text: `${intro}\n\nAccept the invitation by ${until}:\n${link}\n\nIf you did not expect this, you can ignore this message.\n`,
    html: `<p>${escapeHtml(intro)}</p>
<p><a href="${escapeHtml(link)}">Accept the invitation</a> (by ${until})</p>
<p>If you did not expect this, you can ignore this message.</p>
`,
  };
}
