-- Guesses from a user's own network, or from many networks while the user is in a new one, delayed the user as well.

alter table sessions add column device_hash bytea;
comment on column sessions.device_hash is 'Of the secret that a browser keeps beyond the session. It opens nothing: passwords that are entered with it are counted for the device instead of its network.';
comment on table password_guesses is 'Guesses in a row at the password of one e-mail address, counted before they are judged: from one network (or one device that its user signed in with), and under the address * from all networks together that its user has no session from.';
