import type { Widget } from './widget.ts';

// The token is in the fragment of the address. It is given to the widget and removed from the browser's history.
const widget = document.querySelector<Widget<unknown>>('ibid-profile, ibid-enterprise, ibid-developers');
const token = new URLSearchParams(location.hash.slice(1)).get('token');
if (widget && token !== null) {
  widget.setAttribute('token', token);
  history.replaceState(null, '', location.pathname);
}

// The page around the frame makes it as high as what is in it. Only a site that the workspace allows is around it.
if (parent !== window) {
  new ResizeObserver(() => {
    parent.postMessage({ type: 'ibid:height', height: document.documentElement.offsetHeight }, '*');
  }).observe(document.documentElement);
}
