/** The path of an uploaded picture in an address of this service. */
const OWN = /(?<=^https?:\/\/[^/]+)\/v1\/avatars\/[\w-]{22}$/;

/**
 * Returns the path of a picture stored by this service; undefined for no picture or a picture elsewhere, such as an
 * identity provider's.
 */
export function ownPicturePath(avatar_url: string): string | undefined {
  return OWN.exec(avatar_url)?.[0];
}

/** Returns whether the user has a picture that can be shown: the address is http or https. */
export function hasPicture(avatar_url: string): boolean {
  return /^https?:\/\//.test(avatar_url);
}

/** Returns the first letter of the name, shown instead of a picture. */
export function initial({ display_name, email }: { display_name: string; email: string }): string {
  return [...(display_name || email).trim()][0]?.toLocaleUpperCase() ?? '?';
}
