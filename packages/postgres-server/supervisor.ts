import { copyFileSync, statSync, truncateSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { clearStalePid, endLeftovers, removeSocketFolder, stopBy } from './processes.ts';
import { launch, type Server, type Setup, untilReady } from './server.ts';
import { StartError } from './start-error.ts';

const PAUSES_MS = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
/** The end of a server that ran this long does not count as a consecutive failure. */
const STEADY_MS = 10_000;
/** Milliseconds that a first start waits for the processes of a killed server. */
const LEFTOVERS_MS = 30_000;
/** Errors of a start while processes of a killed server live. They need a moment to notice its end. */
const LEFTOVERS = /pre-existing shared memory block|lock file .* already exists/;
const LONGEST_LOG_BYTES = 4 * 2 ** 20;

/** Keeps one server running on a cluster: restarts it whenever it ends, until stop() is called. */
export class Supervisor {
  readonly #setup: Setup;
  readonly #halt = new AbortController();
  #server: Server | undefined;
  #failures = 0;
  #stopping: Promise<void> | undefined;
  #watching: Promise<void> | undefined;
  #logTimer: NodeJS.Timeout | undefined;

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  get pid(): number | undefined {
    return this.#server?.isOver() === false ? this.#server.child.pid : undefined;
  }

  /** Resolves when the server accepts connections. */
  async start(): Promise<void> {
    process.on('exit', this.#onExit);
    this.#shortenLog();
    this.#logTimer = setInterval(() => this.#shortenLog(), 60_000).unref();
    try {
      await this.#startFirst();
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#watching = this.#watch();
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#halt.abort();
    clearInterval(this.#logTimer);
    await this.#end();
    await this.#watching;
    process.off('exit', this.#onExit);
    const { connection, place } = this.#setup;
    if (connection.host !== place.cluster) removeSocketFolder(connection.host);
  }

  /** Signals the server when this process exits without stop(). After kill -9, the next start does this. */
  readonly #onExit = (): void => {
    this.#server?.child.kill('SIGINT');
  };

  /** Makes one attempt. Returns undefined once the server accepts connections, otherwise the reason why it ended. */
  async #attempt(): Promise<string | undefined> {
    clearStalePid(this.#setup.place);
    this.#server = launch(this.#setup);
    try {
      return await untilReady(this.#server, this.#setup);
    } catch (error) {
      await this.#end();
      throw error;
    }
  }

  async #startFirst(): Promise<void> {
    const deadline = performance.now() + LEFTOVERS_MS;
    for (let round = 0; ; round++) {
      const failure = await this.#attempt();
      if (failure === undefined) return;
      if (!LEFTOVERS.test(failure) || performance.now() > deadline) {
        throw new StartError(`PostgreSQL does not start on ${this.#setup.place.cluster}: ${failure}`);
      }
      await this.#awaitLeftovers(round);
    }
  }

  async #watch(): Promise<void> {
    const { log } = this.#setup;
    while (this.#server && !this.#halt.signal.aborted) {
      const began = performance.now();
      this.#server.child.unref();
      const reason = await this.#server.ended;
      if (this.#halt.signal.aborted) return;

      log('error', 'PostgreSQL ended unexpectedly; restarting it', { reason });
      if (performance.now() - began > STEADY_MS) this.#failures = 0;
      else await this.#pause(this.#failures++);
      await this.#startAgain();
    }
  }

  async #startAgain(): Promise<void> {
    const { log } = this.#setup;
    for (let round = 0; !this.#halt.signal.aborted; round++) {
      const failure = await this.#attempt().catch((error: Error) => error.message);
      if (this.#halt.signal.aborted) return;
      if (failure === undefined) return log('info', 'PostgreSQL is running again', { pid: this.pid });
      if (LEFTOVERS.test(failure)) {
        await this.#awaitLeftovers(round);
      } else {
        log('error', 'PostgreSQL could not be restarted', { reason: failure });
        await this.#pause(this.#failures++);
      }
    }
  }

  async #awaitLeftovers(round: number): Promise<void> {
    if (round > 2) endLeftovers(this.#setup.place.cluster);
    await this.#pause(Math.min(round, 5));
  }

  async #pause(step: number): Promise<void> {
    const milliseconds = PAUSES_MS[Math.min(step, PAUSES_MS.length - 1)];
    // Only stop() ends the pause early, and the caller checks for that next.
    await delay(milliseconds, undefined, { signal: this.#halt.signal }).catch(() => undefined);
  }

  async #end(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    server.child.ref();
    const ended = await stopBy((signal) => server.child.kill(signal), server.isOver);
    if (!ended) this.#setup.log('error', 'PostgreSQL does not stop', { pid: server.child.pid });
  }

  /** Copies and empties the log. The server continues writing to the same file. */
  #shortenLog(): void {
    const { log, logFile } = this.#setup;
    const size = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
    if (size < LONGEST_LOG_BYTES) return;
    try {
      copyFileSync(logFile, `${logFile}.old`);
    } catch (error) {
      log('warn', `truncating ${logFile} without a copy`, { error });
    }
    truncateSync(logFile);
  }
}
