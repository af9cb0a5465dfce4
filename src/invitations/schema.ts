import { type Static, Type } from 'typebox';
import { Id, Record, Timestamp } from '../http/records.ts';

export const Invitation = Record({
  invitation_id: Id,
  email: Type.String(),
  role: Type.String(),
  created_at: Timestamp,
  expires_at: Timestamp,
  state: Type.String({ description: 'pending, accepted, revoked or expired.' }),
});
export type Invitation = Static<typeof Invitation>;

export const exampleInvitation: Invitation = {
  invitation_id: 'inv_01jd8w3v6xf3e8h2k9m4n5p6r2',
  email: 'grace@example.com',
  role: 'member',
  created_at: '2026-11-21T05:29:32.104Z',
  expires_at: '2026-11-28T05:29:32.104Z',
  state: 'pending',
};
