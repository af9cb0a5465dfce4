import type { Widget } from './widget.ts';

// The token is in the fragment of the address. It is passed to the widget and removed from the browser's history.
const widget = document.querySelector<Widget<unknown>>('ibid-profile, ibid-enterprise, ibid-developers');
const token = new URLSearchParams(location.hash.slice(1)).get('token');
if (widget && token !== null) {
  widget.setAttribute('token', token);
  history.replaceState(null, '', location.pathname);
}

// The embedding page sets the frame's height to the height of its content. Only sites that the workspace allows can
// embed the frame.
if (parent !== window) {
  new ResizeObserver(() => {
    parent.postMessage({ type: 'ibid:height', height: document.documentElement.offsetHeight }, '*');
  }).observe(document.documentElement);
}
