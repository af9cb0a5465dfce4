import { html, type TemplateResult } from 'lit';
import { hasPicture, initial, ownPicturePath } from '../people/avatar.ts';

interface Person {
  display_name: string;
  email: string;
  avatar_url: string;
}

/**
 * Renders the picture of a user, or the first letter of their name. Pictures stored by the service load from the
 * widget's service address, which the page's policy already allows.
 */
export function renderFace(person: Person, service: string): TemplateResult {
  const { avatar_url } = person;
  if (!hasPicture(avatar_url))
    return html`<span class="face" part="avatar" aria-hidden="true">${initial(person)}</span>`;
  const own = ownPicturePath(avatar_url);
  return html`<img class="face" part="avatar" src=${own === undefined ? avatar_url : service + own} alt="" referrerpolicy="no-referrer">`;
}
