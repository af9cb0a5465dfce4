import addressparser from 'nodemailer/lib/addressparser';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import SMTPTransport from 'nodemailer/lib/smtp-transport';
import { smtpOptions } from './smtp-mail.ts';

/**
 * Names the sender to the mail server as a message would, and ends the conversation there. Returns the reply of a server
 * that refuses the sender. Errors: those of the connection and of signing in.
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
    // Only a handler of authentication can send a command of its own.
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
