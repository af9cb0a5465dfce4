import type { Host } from './host.ts';
import { Widget } from './widget.ts';

/** A widget whose sections load and act on their own. */
export abstract class SectionedWidget<Answer> extends Widget<Answer> {
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
