import { ApiError } from '../../core/errors.ts';

/** The operator decides whether there are passwords. */
export function passwordsAreOff(): ApiError {
  return new ApiError(
    'forbidden',
    'Passwords are off here: sign in in another way, or have PASSWORD_SIGN_IN set to on.',
  );
}
