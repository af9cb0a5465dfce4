import { ask, Refused } from './ask.ts';

interface JobState {
  status: string;
  progress: number;
}

const LOOK_MS = 700;

/** A job that is at work: shows how far it is, and loads the page again when it has ended. */
class RunningJob extends HTMLElement {
  #timer: ReturnType<typeof setTimeout> | undefined;

  connectedCallback(): void {
    this.#timer = setTimeout(() => this.#look(), LOOK_MS);
  }

  disconnectedCallback(): void {
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    try {
      const { status, progress } = await ask<JobState>('GET', this.dataset.job ?? '');
      if (status !== 'queued' && status !== 'running') return location.reload();
      const bar = this.querySelector('progress');
      if (bar) bar.value = progress;
    } catch (cause) {
      // The page itself says what is the matter, where it is more than a moment without a network.
      if (!(cause instanceof Refused) || cause.status === 401 || cause.status === 404) return location.reload();
    }
    this.#timer = setTimeout(() => this.#look(), LOOK_MS);
  }
}

customElements.define('ibid-running-job', RunningJob);
