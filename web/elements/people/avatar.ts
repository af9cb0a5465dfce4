/** The path of a picture that a user has set, behind the address of the service. */
const OWN = /(?<=^https?:\/\/[^/]+)\/v1\/avatars\/[\w-]{22}$/;

/** The path of a picture at this service; undefined of one elsewhere, as identity providers name it, and of none. */
export function ownPicturePath(avatar_url: string): string | undefined {
  return OWN.exec(avatar_url)?.[0];
}

/** Whether there is a picture: an empty address, and one of another scheme, is none. */
export function hasPicture(avatar_url: string): boolean {
  return /^https?:\/\//.test(avatar_url);
}

/** What stands in place of a picture: the first letter of the name. */
export function initial({ display_name, email }: { display_name: string; email: string }): string {
  return [...(display_name || email).trim()][0]?.toLocaleUpperCase() ?? '?';
}
