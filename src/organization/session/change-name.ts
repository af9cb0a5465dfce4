import { Type } from 'typebox';
import { signedIn } from '../../platform/access/access-rule.ts';
import { OWN_ISSUER } from '../../platform/access/user-ctes.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { InputText } from '../../platform/core/records.ts';
import { readName } from '../../platform/core/titles.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleUser, User, userColumns } from '../workspaces/schema.ts';

/** Users with an issuer cannot change their name: the issuer's claim would overwrite it at the next sign-in. */
export const changeName = endpoint({
  method: 'PATCH',
  path: '/v1/me',
  summary: "Change the caller's name",
  access: signedIn({ unrestricted: true }),
  event: 'user.updated',
  body: Type.Object({ display_name: InputText({ minLength: 1 }) }),
  reply: User,
  errors: ['invalid_name', 'forbidden'],
  example: { body: { display_name: 'Ada Lovelace' }, reply: exampleUser },
  run: async ({ body, many, refuse, services }) => {
    const name = readName(body.display_name);
    if (name instanceof ApiError) return refuse(name);
    const [changed] = await many<User>({
      before: sql`
        select ${userColumns(services)} from users u join access a on a.user_id = u.user_id
        where not exists (select from identities i where i.user_id = u.user_id and i.issuer <> ${OWN_ISSUER})
        for update of u`,
      result: sql`
        update users u set display_name = ${name} from before where u.user_id = before.user_id
        returning ${userColumns(services)}`,
    });
    if (!changed) throw new ApiError('forbidden', 'You sign in at another service: change your name there.');
    return changed;
  },
});
