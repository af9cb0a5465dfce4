import { useState } from 'react';
import type { IbidChangedEvent, IbidErrorEvent, IbidWidgetAttributes, IbidWidgetName } from './ibid-widgets.d.ts';

interface WidgetProps extends IbidWidgetAttributes {
  getToken?: () => Promise<string>;
  'onibid:changed'?: (event: IbidChangedEvent) => void;
  'onibid:error'?: (event: IbidErrorEvent) => void;
}

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'ibid-profile': WidgetProps;
      'ibid-enterprise': WidgetProps;
      'ibid-developers': WidgetProps;
    }
  }
}

async function getToken(widget: IbidWidgetName): Promise<string> {
  const answer = await fetch('/ibid-token', { method: 'POST', body: JSON.stringify({ widget }) });
  if (!answer.ok) throw new Error(`no token for the widget ${widget}: ${answer.status}`);
  return (await answer.json()).token;
}

const profileToken = () => getToken('profile');

/** React 19 or later. The page loads https://wiki.example.com/widgets/profile.js. */
export function ProfileSettings() {
  const [last, setLast] = useState('');
  return (
    <section>
      <ibid-profile
        getToken={profileToken}
        onibid:changed={({ detail }) => setLast(`Changed: ${detail.widget}`)}
        onibid:error={({ detail }) => setLast(`Failed: ${detail.message}`)}
      />
      <p role="status">{last}</p>
    </section>
  );
}
