import { Type } from 'typebox';
import { anyone } from '../../platform/access/access-rule.ts';
import { Flag, Record } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';

export const listMethods = endpoint({
  method: 'GET',
  path: '/v1/auth/methods',
  summary: 'List ways to sign in',
  access: anyone(),
  limit: 'files',
  reply: Record(
    {
      methods: Type.Array(Type.String(), { description: 'The enabled methods: email, password, openid.' }),
      has_users: Flag,
    },
    { title: 'SignInMethods' },
  ),
  example: { reply: { methods: ['email', 'password'], has_users: true } },
  run: async ({ services: { signIn }, one }) => {
    const methods = ['email'];
    if (signIn.passwords) methods.push('password');
    if (signIn.openid) methods.push('openid');
    return { methods, ...(await one<{ has_users: boolean }>(sql`select has_users()`)) };
  },
});
