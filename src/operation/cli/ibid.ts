import { runCommand } from './commands.ts';

/** The reader of the output, such as `head`, may exit first: the command finishes without it. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

const args = process.argv.slice(2);
let isSound = false;
try {
  isSound = await runCommand(process.env, args, (line) => void process.stdout.write(`${line}\n`));
} catch (error) {
  process.stderr.write(`ibid: ${error instanceof Error ? error.message : String(error)}\n`);
}
process.exitCode = isSound ? 0 : 1;
// A hanging check of the doctor would keep the process alive. Exit after the output has been flushed to the pipe.
if (args[0] === 'doctor') process.stdout.write('', () => process.exit());
