import type { Host } from './host.ts';
import { Widget } from './widget.ts';

/** A widget with sections that read and act by themselves. */
export abstract class SectionedWidget<Answer> extends Widget<Answer> {
  /** What the sections get of it. */
  protected readonly host: Host = {
    t: this.t,
    translation: () => this.translation,
    service: () => this.service,
    call: this.call.bind(this) as Host['call'],
    send: this.send.bind(this) as Host['send'],
    act: this.act.bind(this),
    ask: this.ask.bind(this),
    fail: this.fail.bind(this),
    update: () => this.requestUpdate(),
  };
}
