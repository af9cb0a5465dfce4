/** Returns the fields of a submitted form and prevents the browser's own submission. */
export function fieldsOf(event: SubmitEvent): FormData {
  event.preventDefault();
  return new FormData(event.currentTarget as HTMLFormElement);
}
