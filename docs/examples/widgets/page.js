const last = document.getElementById('last');

addEventListener('ibid:changed', ({ detail }) => {
  last.textContent = `Changed: ${detail.widget} ${detail.method} ${detail.path}`;
});
addEventListener('ibid:error', ({ detail }) => {
  last.textContent = `Failed: ${detail.message} (${detail.request_id})`;
});
