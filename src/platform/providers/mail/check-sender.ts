import addressparser from 'nodemailer/lib/addressparser';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import SMTPTransport from 'nodemailer/lib/smtp-transport';
import { smtpOptions } from './smtp-mail.ts';

/**
 * Sends the sender address to the mail server, as for a message, and then disconnects. Returns the server's reply if it
 * refuses the sender. Throws errors of the connection and of authentication.
 */
export async function refusalOfSender(
  url: string,
  from: string,
  name: string | undefined,
): Promise<string | undefined> {
  const transport = new SMTPTransport(smtpOptions(url, name));
  const sender = addressparser(from, { flatten: true })[0]?.address ?? '';
  let reply = '';
  const connection = new SMTPConnection({
    ...transport.options,
    // Only an authentication handler can send custom commands.
    customAuth: {
      SENDER: async ({ sendCommand }) => {
        reply = (await sendCommand(`MAIL FROM:<${sender.replace(/[\r\n<>]/g, '')}>`)).response;
      },
    },
  });
  const failed = new Promise<never>((_, reject) => {
    connection.once('error', reject);
    connection.once('end', () => reject(new Error('the mail server closed the connection')));
  });
  failed.catch(() => undefined);
  const step = (begin: (done: (error?: Error | null) => void) => void) =>
    Promise.race([
      failed,
      new Promise<void>((resolve, reject) => begin((error) => (error ? reject(error) : resolve()))),
    ]);
  try {
    await step((done) => connection.connect(done));
    const auth = transport.getAuth();
    if (auth && connection.allowsAuth) await step((done) => connection.login(auth, done));
    await step((done) => connection.login({ method: 'SENDER' }, done));
    return reply.startsWith('2') ? undefined : reply;
  } finally {
    connection.close();
  }
}
