import { ApiError, callApi } from '../call-api.ts';

interface JobState {
  status: string;
  attempt: number;
  progress: number;
  finished_at?: string;
}

const RETRY_MS = 5_000;

/** Shows the progress of a running job by server-sent events, and reloads the page when it has ended. */
class RunningJob extends HTMLElement {
  #events: EventSource | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  connectedCallback(): void {
    this.#follow();
  }

  disconnectedCallback(): void {
    this.#events?.close();
    clearTimeout(this.#timer);
  }

  #follow(): void {
    const events = new EventSource(`${this.dataset.job}/events`);
    this.#events = events;
    events.addEventListener('job', (event) => {
      const job: JobState = JSON.parse(event.data);
      this.#show(job);
      if (job.finished_at === undefined) return;
      events.close();
      location.reload();
    });
    events.onerror = () => {
      // An EventSource reconnects by itself unless it is closed.
      if (events.readyState === EventSource.CLOSED) this.#timer = setTimeout(() => void this.#retry(), RETRY_MS);
    };
  }

  /** Retries after the stream was refused. Without access, reloads the page, which says so. */
  async #retry(): Promise<void> {
    try {
      await callApi('GET', this.dataset.job ?? '');
      this.#follow();
    } catch (error) {
      if (error instanceof ApiError && (error.status === 401 || error.status === 404)) return location.reload();
      this.#timer = setTimeout(() => void this.#retry(), RETRY_MS);
    }
  }

  #show({ status, attempt, progress }: JobState): void {
    for (const step of this.querySelectorAll<HTMLElement>('[data-step]')) {
      if (step.dataset.step === status) step.setAttribute('aria-current', 'step');
      else step.removeAttribute('aria-current');
    }
    const bar = this.querySelector('progress');
    if (bar) bar.value = progress;
    const text = this.querySelector('.job-said');
    if (text) text.textContent = `${progress} %${attempt > 1 ? `, attempt ${attempt}` : ''}`;
  }
}

customElements.define('ibid-job', RunningJob);
