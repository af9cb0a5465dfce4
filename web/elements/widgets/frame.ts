// The token stands behind the "#" of the address; from there it goes to the widget, and out of the browser's history.
const widget = document.querySelector('ibid-profile, ibid-enterprise, ibid-developers');
const token = new URLSearchParams(location.hash.slice(1)).get('token');
if (widget && token !== null) {
  widget.setAttribute('token', token);
  history.replaceState(null, '', location.pathname);
}
