import { WidgetType } from '@codemirror/view';
import type { Embed } from '../../../embeds/services.ts';
import { type ToolIcon, toolIcon } from '../../tool-icons.ts';

const ICONS: Record<Embed['kind'], ToolIcon> = {
  video: 'play',
  slides: 'play',
  document: 'page',
  canvas: 'shapes',
  code: 'code',
};

/**
 * Content of another service, as the card that the page shows. It has no button, because the editor's policy forbids
 * frames of other services.
 */
export class EmbedWidget extends WidgetType {
  readonly embed: Embed;
  readonly address: string;
  readonly title: string;
  constructor(embed: Embed, address: string, title: string) {
    super();
    this.embed = embed;
    this.address = address;
    this.title = title;
  }
  override eq(other: EmbedWidget): boolean {
    return other.address === this.address && other.title === this.title;
  }
  toDOM(): HTMLElement {
    const { name, kind } = this.embed;
    const icon = document.createElement('span');
    icon.className = 'embed-icon';
    icon.append(toolIcon(ICONS[kind]));
    const words = document.createElement('strong');
    words.dir = 'auto';
    words.textContent = this.title || name;
    const from = document.createElement('span');
    from.className = 'embed-from';
    const address = document.createElement('bdi');
    address.textContent = this.address.replace(/^https?:\/\/(?:www\.)?/, '');
    from.append(this.title ? `${name} · ` : '', address);
    const both = document.createElement('span');
    both.className = 'embed-words';
    both.append(words, from);
    const bar = document.createElement('span');
    bar.className = 'embed-bar';
    bar.append(icon, both);
    const card = document.createElement('span');
    card.className = 'embed';
    card.append(bar);
    const place = document.createElement('span');
    place.className = 'rich-embed prose';
    place.append(card);
    return place;
  }
  override ignoreEvent(): boolean {
    return false;
  }
}
