import { WidgetError } from './api.ts';

/** Requests a token from the page's own server. Throws WidgetError if the server does not return one. */
export async function askForToken(address: URL, widget: string): Promise<string> {
  const body = JSON.stringify({ widget, origin: location.origin });
  try {
    const response = await fetch(address, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const { token } = await response.json();
    if (response.ok && typeof token === 'string') return token;
    throw new WidgetError(response.status, '', '', '');
  } catch (error) {
    if (error instanceof WidgetError) throw error;
    throw new WidgetError(0, '', '', '');
  }
}
