/** The fields of a form that was submitted; the browser's own submission is stopped. */
export function fieldsOf(event: SubmitEvent): FormData {
  event.preventDefault();
  return new FormData(event.currentTarget as HTMLFormElement);
}
