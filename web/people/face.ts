import type { User } from '../../src/organization/workspaces/schema.ts';
import { hasPicture, initial, ownPicturePath } from '../elements/people/avatar.ts';
import { type Html, html } from '../html.ts';

/**
 * Renders the picture of a user, or the first letter of their name, to be followed by the name. CSS draws the letter,
 * so that it does not become part of a button's accessible name. `kind`: "small" or "large".
 */
export function face(user: Omit<User, 'user_id'>, kind = ''): Html {
  const { avatar_url } = user;
  if (!hasPicture(avatar_url))
    return html`<span class="face ${kind}" data-initial="${initial(user)}" aria-hidden="true"></span>`;
  // Load pictures of this service by path, from whatever address the page has. Send no referrer to other sites, so that
  // they do not learn which page is read.
  return html`<img class="face ${kind}" src="${ownPicturePath(avatar_url) ?? avatar_url}" alt="" referrerpolicy="no-referrer" loading="lazy" decoding="async">`;
}
