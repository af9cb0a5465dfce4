import { inspect } from 'node:util';
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import { currentSpan } from '../../platform/core/tracing.ts';
import type { Config } from '../config.ts';

/** Opens the log of a process, on stdout by default. Each line contains the trace id, if there is one. */
export function openLog(
  { LOG_LEVEL: level, LOG_FORMAT: format }: Pick<Config, 'LOG_LEVEL' | 'LOG_FORMAT'>,
  to: DestinationStream & { isTTY?: boolean } = process.stdout,
): Logger {
  const options = {
    level,
    base: undefined,
    timestamp: stdTimeFunctions.isoTime,
    mixin: () => {
      const span = currentSpan();
      return span ? { trace_id: span.trace_id } : {};
    },
  };
  if (format === 'text' || (format === 'auto' && to.isTTY)) return pino(options, textStream(to));
  // pino writes faster to its own stream.
  return to === process.stdout ? pino(options) : pino(options, to);
}

/** Formats pino's lines for people: time, level, message and other fields. */
function textStream(to: DestinationStream): DestinationStream {
  return {
    write(line) {
      const { level, time, msg = '', err, ...rest } = JSON.parse(line);
      const name = pino.levels.labels[level] ?? String(level);
      const fields = Object.entries(rest).map(([key, value]) => ` ${key}=${textOf(value)}`);
      const stack = err?.stack ? `\n  ${plain(err.stack).replaceAll('\n', '\n  ')}` : '';
      to.write(
        `${String(time).slice(11, 23)} ${name.toUpperCase().padEnd(5)} ${plain(msg)}${fields.join('')}${stack}\n`,
      );
    },
  };
}

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : inspect(value, { breakLength: Number.POSITIVE_INFINITY });
  return /^[\w./:@-]+$/.test(text) ? text : JSON.stringify(text);
}

/** Replaces control characters except line breaks, so that text from clients cannot control the terminal. */
function plain(text: string): string {
  return text.replace(/[^\P{Cc}\n]/gu, '\uFFFD');
}
