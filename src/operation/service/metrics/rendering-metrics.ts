import { Counter, Gauge, type Registry } from 'prom-client';
import { RENDERING_KINDS, type RenderingStats } from '../../../platform/sandbox/rendering/stats.ts';

/** Registers the queue and cost of rendering for saves, previews and uploads, read at each scrape. */
export function registerRenderingMetrics(registry: Registry, { spending }: RenderingStats): void {
  const options = { labelNames: ['kind'] as const, registers: [registry] };
  new Gauge({
    ...options,
    name: 'ibid_rendering_pending',
    help: 'Texts being rendered or waiting to be rendered.',
    collect() {
      for (const kind of RENDERING_KINDS) this.set({ kind }, spending[kind].pending);
    },
  });
  counter('ibid_rendering_texts_total', 'Rendered texts.', 'rendered');
  counter('ibid_rendering_wait_seconds_total', 'Time that texts waited for a process.', 'waitSeconds');
  counter('ibid_rendering_cpu_seconds_total', 'CPU time of the rendering processes.', 'cpuSeconds');

  function counter(name: string, help: string, field: 'rendered' | 'waitSeconds' | 'cpuSeconds'): void {
    new Counter({
      ...options,
      name,
      help,
      collect() {
        this.reset();
        for (const kind of RENDERING_KINDS) this.inc({ kind }, spending[kind][field]);
      },
    });
  }
}
