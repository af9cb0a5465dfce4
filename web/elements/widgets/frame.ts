// The token is in the fragment of the address. It is given to the widget and removed from the browser's history.
const widget = document.querySelector('ibid-profile, ibid-enterprise, ibid-developers');
const token = new URLSearchParams(location.hash.slice(1)).get('token');
if (widget && token !== null) {
  widget.setAttribute('token', token);
  history.replaceState(null, '', location.pathname);
}
