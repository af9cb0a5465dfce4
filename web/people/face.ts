import type { User } from '../../src/organization/workspaces/schema.ts';
import { hasPicture, initial, ownPicturePath } from '../elements/people/avatar.ts';
import { type Html, html } from '../html.ts';

/**
 * The picture of a user, or the first letter of their name, beside which their name is written. CSS draws the letter: it is no text that
 * a button is called by. `kind`: "small" or "large".
 */
export function face(user: Omit<User, 'user_id'>, kind = ''): Html {
  const { avatar_url } = user;
  if (!hasPicture(avatar_url))
    return html`<span class="face ${kind}" data-initial="${initial(user)}" aria-hidden="true"></span>`;
  // A picture of this service is read where the page is, however that is reached. The site of another one does not learn what is
  // read here.
  return html`<img class="face ${kind}" src="${ownPicturePath(avatar_url) ?? avatar_url}" alt="" referrerpolicy="no-referrer" loading="lazy" decoding="async">`;
}
